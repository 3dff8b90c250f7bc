import { batchAccountAbi, batchAccountBytecode, testTokenAbi, yieldVaultAbi } from '@openearn/contracts'
import {
  type Abi,
  type Address,
  encodeAbiParameters,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  numberToHex,
  pad,
} from 'viem'
import { account } from '../../../contracts/test/anvil.js'
import { openWorld } from '../actionWorld.js'
import { type Call, encode, scriptCode } from '../attacks/creditWorld.js'
import { readPublished } from '../published.js'
import { deploySafeWorld } from '../safe.js'
import type { Random } from './random.js'

/** Wallets of every kind on one chain: each has assets that two vaults may take, and shares that nobody brought. */

export type ProofWallets = Awaited<ReturnType<typeof openProofWallets>>
type World = Awaited<ReturnType<typeof openWorld>>

export const entryPoint: Address = '0x0000000071727De22E5E9d8BAf0edAc6f37da032'
export const gas = 3_000_000n
/** Accounts by their index: plain ones, some that delegate to code, and who sends for contracts. */
export const plainOnes = [1, 2, 3]
export const delegated = [4, 5]
export const [contractOwner, relayer, bundler] = [6, 7, 8] as const
/** Shares of one unit of the asset: the vaults accrue nothing. */
export const unit = 10n ** 12n

const rich = 10n ** 15n
const entryPointCode = readPublished('entry-point-07/artifacts/EntryPoint.json')
const simpleAccount = readPublished('entry-point-07/artifacts/SimpleAccount.json')

export async function openProofWallets(random: Random) {
  const world = await openWorld({ verifyPlans: false })
  await world.earn.distributor('bolt')
  const token = await world.token({ pegUsd: '1' })
  const vaults = [await world.vault(token), await world.vault(token)].map(({ address }) => address)
  for (const vault of vaults) await world.write(vault, yieldVaultAbi as Abi, 'setAnnualRate', [0n])
  const code = { abi: batchAccountAbi as Abi, bytecode: batchAccountBytecode, args: [] }
  const batchAccount = await world.anvil.deploy(code)
  const safes = await openSafes(world)
  const accounts = await openAccounts(world)
  const routers = await openRouters(world, { random, token, vaults })
  const contracts = [...safes.map(({ safe }) => safe.address), ...accounts.map(({ sender }) => sender)]
  await fund(world, { token, vaults, contracts, batchAccount })
  return { world, vaults, batchAccount, safes, accounts, routers }
}

async function openSafes({ anvil }: World) {
  const contracts = await deploySafeWorld(anvil.deploy)
  const safes = [1n, 2n].map((salt) => contracts.plan(account(contractOwner), salt))
  for (const { creation } of safes) await anvil.done(anvil.client.sendTransaction(creation))
  return safes.map((safe) => ({ safe, nonce: 0n }))
}

/** Accounts of ERC-4337, with the EntryPoint where it lies on every chain. */
async function openAccounts({ anvil: { client, deploy, done } }: World) {
  const bytecode = await client.getCode({ address: await deploy({ ...entryPointCode, args: [] }) })
  if (!bytecode) throw new Error('the EntryPoint was not deployed')
  await client.setCode({ address: entryPoint, bytecode })
  const { abi, ...factory } = readPublished('entry-point-07/artifacts/SimpleAccountFactory.json')
  const address = await deploy({ abi, ...factory, args: [entryPoint] })
  const accounts: { sender: Address; nonce: bigint }[] = []
  for (const salt of [1n, 2n, 3n]) {
    const args = [account(contractOwner).address, salt]
    const sender = await client.readContract({ address, abi, functionName: 'getAddress', args })
    await done(client.writeContract({ address, abi, functionName: 'createAccount', args }))
    accounts.push({ sender: sender as Address, nonce: 0n })
  }
  return accounts
}

/** Contracts that deposit what they take from a user: for the user, for themselves and pass all on, or only a part. */
async function openRouters(
  { anvil, write }: World,
  { random, token, vaults }: { random: Random; token: Address; vaults: readonly Address[] },
) {
  const routers: { user: number; address: Address; kind: string }[] = []
  const kinds = ['straight', 'router', 'router that splits'] as const
  for (const user of plainOnes)
    for (const kind of kinds) {
      const [vault, own] = [random.pick(vaults), BigInt(random.int(1_000, 1_000_000))]
      const creator = account(0).address
      const nonce = await anvil.client.getTransactionCount({ address: creator })
      // The code names its own address.
      const address = getContractAddress({ from: creator, nonce: BigInt(nonce) })
      const { address: to } = account(user)
      const calls: Call[] = [
        { to: token, data: encode.transferFrom(to, address, own) },
        { to: token, data: encode.approve(vault) },
        { to: vault, data: encode.deposit(own, kind === 'straight' ? to : address) },
      ]
      const passed = kind === 'router' ? own * unit : (own * unit) / 3n
      if (kind !== 'straight') calls.push({ to: vault, data: encode.transfer(to, passed) })
      await anvil.deploy({ abi: [], bytecode: scriptCode(calls), args: [] })
      await write(token, testTokenAbi as Abi, 'approve', [address, 2n ** 255n], account(user))
      routers.push({ user, address, kind: kind === 'straight' ? 'router' : kind })
    }
  return routers
}

type Funded = { token: Address; vaults: readonly Address[]; contracts: readonly Address[]; batchAccount: Address }

async function fund({ anvil, ...world }: World, { token, vaults, contracts, batchAccount }: Funded): Promise<void> {
  const { client, done } = anvil
  const approve = (vault: Address, as = account(0)) =>
    world.write(token, testTokenAbi as Abi, 'approve', [vault, 2n ** 255n], as)
  const people = [...plainOnes, ...delegated].map((index) => account(index))
  await world.mint(token, account(0).address, rich * 100n)
  for (const vault of vaults) {
    await approve(vault)
    for (const wallet of [...contracts, ...people.map(({ address }) => address)])
      await world.write(vault, yieldVaultAbi as Abi, 'deposit', [rich, wallet])
    for (const person of people) await approve(vault, person)
  }
  for (const wallet of [...contracts, ...people.map(({ address }) => address)]) await world.mint(token, wallet, rich)
  for (const address of contracts) {
    await client.impersonateAccount({ address })
    await client.setBalance({ address, value: 10n ** 20n })
    for (const vault of vaults)
      await done(client.sendTransaction({ account: address, to: token, data: encode.approve(vault), gas }))
    await client.stopImpersonatingAccount({ address })
  }
  for (const person of delegated.map((index) => account(index))) {
    const nonce = (await client.getTransactionCount({ address: person.address })) + 1
    const delegation = await person.signAuthorization({ address: batchAccount, chainId: world.chainId, nonce })
    const call = { account: person, to: person.address, gas, authorizationList: [delegation] }
    await done(client.sendTransaction(call))
  }
}

/** Calls of a delegated account, in one. */
export function batch(calls: readonly Call[]): Hex {
  const type = [{ type: 'tuple[]', components: [{ type: 'address' }, { type: 'uint256' }, { type: 'bytes' }] }] as const
  const packed = encodeAbiParameters(type, [calls.map(({ to, data }) => [to, 0n, data] as const)] as never)
  const args = [pad('0x01', { dir: 'right' }), packed]
  return encodeFunctionData({ abi: batchAccountAbi as Abi, functionName: 'execute', args })
}

/** A bundle of one operation of each of these accounts, which makes that call. */
export async function bundle(
  { anvil: { client } }: World,
  operations: readonly { of: { sender: Address; nonce: bigint }; call: Call }[],
): Promise<Hex> {
  const { abi } = entryPointCode
  const signed: object[] = []
  for (const { of, call } of operations) {
    const args = [call.to, 0n, call.data]
    const operation = {
      ...{ sender: of.sender, nonce: of.nonce++, initCode: '0x', preVerificationGas: 0n, paymasterAndData: '0x' },
      accountGasLimits: numberToHex((500_000n << 128n) | 500_000n, { size: 32 }),
      gasFees: numberToHex(0, { size: 32 }),
      callData: encodeFunctionData({ abi: simpleAccount.abi, functionName: 'execute', args }),
      signature: '0x',
    }
    const asked = { address: entryPoint, abi, functionName: 'getUserOpHash', args: [operation] } as const
    const raw = (await client.readContract(asked)) as Hex
    signed.push({ ...operation, signature: await account(contractOwner).signMessage({ message: { raw } }) })
  }
  return encodeFunctionData({ abi, functionName: 'handleOps', args: [signed, account(bundler).address] })
}
