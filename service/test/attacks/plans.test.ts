import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  dripVaultAbi,
  dripVaultBytecode,
  marketVaultAbi,
  marketVaultBytecode,
  oddMaxVaultAbi,
  oddMaxVaultBytecode,
  testTokenAbi,
  testTokenBytecode,
} from '@openearn/contracts'
import { type Abi, type Address, createWalletClient, erc20Abi, erc4626Abi, type Hex, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../contracts/test/until.js'
import { type Json, openClient } from '../e2e/client.js'
import { type Dev, makeFolder, runOpenEarn, startDevnet } from '../e2e/process.js'

const usd = 1_000_000n
/** A ten-thousandth a second: interest shows between two blocks. */
const ratePerSecondWad = 10n ** 14n

let dataDir: string
let devnet: Awaited<ReturnType<typeof startDevnet>>
let dev: Dev
let client: ReturnType<typeof openClient>
let token: Address
const vaults: Record<string, Address> = {}

beforeAll(async () => {
  dataDir = await makeFolder('openearn-attack-plans-')
  devnet = await startDevnet(dataDir)
  dev = devnet.dev
  client = openClient(dev)
  token = await deploy(testTokenAbi, testTokenBytecode, ['Attack Dollar', 'AUSD', 6])
  const args = [token, 12, ratePerSecondWad]
  vaults['market'] = await deploy(marketVaultAbi, marketVaultBytecode, args)
  vaults['zero'] = await deploy(oddMaxVaultAbi, oddMaxVaultBytecode, args)
  vaults['drip'] = await deploy(dripVaultAbi, dripVaultBytecode, [...args, 10n])
  for (const vault of Object.values(vaults)) await write(token, testTokenAbi, 'setMinter', [vault, true])
  await write(token, testTokenAbi, 'mint', [user().address, 1_000_000n * usd])
  await importVaults()
  await client.join(dev.accounts[0]!.privateKey, dev.distributorIds[0])
}, 240_000)

afterAll(async () => {
  await devnet?.stop()
  await rm(dataDir, { recursive: true, force: true })
}, 60_000)

const user = () => privateKeyToAccount(dev.accounts[0]!.privateKey)
const owner = () =>
  createWalletClient({
    chain: foundry,
    transport: http(dev.rpcUrl),
    account: privateKeyToAccount(dev.accounts[1]!.privateKey),
  })

async function deploy(abi: Abi, bytecode: Hex, args: readonly unknown[]): Promise<Address> {
  const hash = await owner().deployContract({ abi, bytecode, args })
  return (await mined(hash)).contractAddress!
}

const mined = (hash: Hex) =>
  until(`the transaction ${hash}`, () => client.chain.getTransactionReceipt({ hash }).catch(() => undefined))

async function write(address: Address, abi: Abi, functionName: string, args: readonly unknown[]): Promise<void> {
  const receipt = await mined(await owner().writeContract({ address, abi, functionName, args, gas: 3_000_000n }))
  expect(receipt.status).toBe('success')
}

async function importVaults(): Promise<void> {
  const { chainId } = dev
  const file = join(dataDir, 'attack.json')
  const listed = Object.entries(vaults).map(([slug, address]) => ({
    ...{ slug: `attack-${slug}`, name: `Attack ${slug}`, type: 'vault' },
    vault: { chainId, address, kind: 'erc4626', asset: token },
  }))
  const tokens = [
    { chainId, address: token, decimals: 6, symbol: 'AUSD', name: 'Attack Dollar', pegUsd: 1 },
    ...Object.values(vaults).map((address) => ({ chainId, address, decimals: 18, symbol: 'aAUSD', name: 'Shares' })),
  ]
  await writeFile(file, JSON.stringify({ tokens, opportunities: listed }))
  await runOpenEarn(['catalogue', 'import', file], { OPENEARN_DATA_DIR: dataDir })
}

const findListed = async (name: string): Promise<Json> =>
  until(`the opportunity ${name}`, async () => {
    const { data } = await client.call('GET', `/v2/opportunities/?search=${encodeURIComponent(`Attack ${name}`)}`)
    return data[0]
  })

const common = () => ({ userAddress: user().address, distributorId: dev.distributorIds[0] })
const deposit = async (name: string, amount: bigint) => {
  const { id } = await findListed(name)
  return client.fetchAnswer('POST', `/v2/actions/deposit/${id}`, {
    ...{ ...common(), tokenIn: token, amount: String(amount) },
  })
}
const withdraw = async (name: string, shares: bigint) => {
  const { id } = await findListed(name)
  return client.fetchAnswer('POST', `/v2/actions/withdraw/${id}`, { ...common(), amount: String(shares) })
}
const held = (name: string) =>
  client.chain.readContract({
    address: vaults[name]!,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [user().address],
  })

/** Sends a plan as it stands, and fails where a transaction does. */
async function send({ status, body }: Awaited<ReturnType<typeof deposit>>): Promise<void> {
  expect(status, JSON.stringify(body)).toBe(200)
  for (const { transaction } of body.transactions) {
    const receipt = await client.send(user(), transaction)
    expect(receipt.status, `${receipt.gasUsed} of ${transaction.gasLimit} gas`).toBe('success')
  }
}

/** Shares that came in without us, as of a wallet that was there before. */
async function enterElsewhere(name: string): Promise<bigint> {
  const wallet = createWalletClient({ chain: foundry, transport: http(dev.rpcUrl), account: user() })
  const address = vaults[name]!
  for (const call of [
    { address: token, abi: erc20Abi, functionName: 'approve', args: [address, 411_522_627n] } as const,
    { address, abi: erc4626Abi, functionName: 'deposit', args: [411_522_627n, user().address] } as const,
  ]) {
    await mined(await wallet.writeContract({ ...(call as Json), gas: 2_000_000n }))
  }
  return held(name)
}

/** Waits until the next block is of a later second than the newest. */
async function waitForNextSecond(): Promise<void> {
  const latest = await client.chain.getBlock()
  await until('the next second', async () => {
    const { timestamp } = await client.chain.getBlock({ blockTag: 'pending' })
    return timestamp > latest.timestamp ? true : undefined
  })
}

describe('plans for vaults as real ones are', () => {
  it('[cannot-leave] a wallet takes everything out of a vault that rounds maxRedeem down', async () => {
    await enterElsewhere('market')
    await waitForNextSecond()
    await write(vaults['market']!, marketVaultAbi, 'accrue', [])
    const shares = await held('market')
    const most = await client.chain.readContract({
      address: vaults['market']!,
      abi: erc4626Abi,
      functionName: 'maxRedeem',
      args: [user().address],
    })
    expect(most).toBeLessThan(shares)
    await send(await withdraw('market', shares))
    expect(await held('market')).toBe(0n)
  })

  it('[max-zero] a vault that answers 0 to every max* is entered, stays open, and is left whole', async () => {
    const plan = await deposit('zero', 100n * usd)
    await send(plan)
    const shown = await until('the capability of the vault', async () => {
      const one = await findListed('zero')
      return one.freshness.capabilityAt === null ? undefined : one
    })
    expect(shown.meta).toMatchObject({ depositEnabled: true, withdrawEnabled: true })
    await send(await withdraw('zero', await held('zero')))
    expect(await held('zero')).toBe(0n)
  })

  it('[out-of-gas] plans made right after a vault has booked its interest are mined with their gas limits', async () => {
    await enterElsewhere('drip')
    await write(vaults['drip']!, dripVaultAbi, 'accrue', [])
    const entry = await deposit('drip', 100n * usd)
    await waitForNextSecond()
    await send(entry)
    await write(vaults['drip']!, dripVaultAbi, 'accrue', [])
    const exit = await withdraw('drip', await held('drip'))
    await waitForNextSecond()
    await send(exit)
    expect(await held('drip')).toBe(0n)
  })
})
