import { cancellableAsyncVaultAbi } from '@openearn/contracts'
import { type Address, encodeFunctionData, getContractAddress, type Hex, parseAbi } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { deploySafeWorld } from '../safe.js'
import { type Call, encode, entryPoint, scriptCode } from './creditWorld.js'
import type { World } from './evidences.js'

/** Who acts: smart accounts whose operations others relay, one that sends its own batches, plain wallets, a thief. */
export function castOf({ users }: World) {
  const [victim, owner, user, thief, saver, rival] = [1, 2, 3, 4, 5, 6].map((index) => users[index]!) as Cast
  return { victim, owner, user, thief, saver, rival }
}
type Cast = [
  PrivateKeyAccount,
  PrivateKeyAccount,
  PrivateKeyAccount,
  PrivateKeyAccount,
  PrivateKeyAccount,
  PrivateKeyAccount,
]

/**
 * One way credit may go wrong: what is sent, and the rows that have to come of it where the node tells how transactions ran
 * and where it does not, as lines of event, distributor, how it is attributed, wallet and amount. `before` says once what
 * the service made of it at commit 87d0f0b.
 */
export type Case = {
  title: string
  before: string
  play(world: World, vault: Address): Promise<Hex[]>
  traced: string[]
  untraced?: string[]
}

const usdc = 10n ** 6n
const permitAbi = parseAbi(['function permit(address, address, uint256, uint256, uint8, bytes32, bytes32)'])
const tagged = (world: World, data: Hex, code: string) => `${data}${world.tag(code)}` as Hex
const steadyOf = (world: World) => world.vaults[0]!
const growthOf = (world: World) => world.vaults[1]!
const toVault = (world: World, data: Hex): Call => ({ to: steadyOf(world).vaultAddress, data })
const approveSteady = (world: World): Call => ({
  to: steadyOf(world).asset.address,
  data: encode.approve(steadyOf(world).vaultAddress),
})

/** A contract whose one deed needs its own address to be known before. */
async function deployScript(world: World, calls: (self: Address) => Call[]): Promise<Address> {
  const from = world.users[0]!.address
  const nonce = await world.client.chain.getTransactionCount({ address: from })
  return world.deploy(scriptCode(calls(getContractAddress({ from, nonce: BigInt(nonce) }))))
}

/** Takes assets of a wallet, deposits them for it, and may have a tag of its own; whatever it is called with. */
const deployRouter = (world: World, wallet: Address, amount: bigint, tag = ''): Promise<Address> =>
  deployScript(world, (router) => [
    { to: steadyOf(world).asset.address, data: encode.transferFrom(wallet, router, amount) },
    { to: steadyOf(world).asset.address, data: encode.approve(steadyOf(world).vaultAddress) },
    toVault(world, `${encode.deposit(amount, wallet)}${tag}` as Hex),
  ])

const planOf = (world: World, wallet: PrivateKeyAccount, amount: bigint, code: string) =>
  world.planDeposit(wallet.address, steadyOf(world), amount, code)

/** The user operation by which a smart account makes these calls of its own. */
const operationOf = (world: World, account: PrivateKeyAccount, calls: Call[]) =>
  world.operation(account, world.executeBatch(calls))

const sendBundle = async (world: World, operations: Awaited<ReturnType<typeof operationOf>>[]) => [
  await world.send(castOf(world).thief, entryPoint, world.bundle(...operations)),
]
const sendBatch = async (world: World, calls: Call[]) => {
  const { owner } = castOf(world)
  return [await world.send(owner, owner.address, world.executeBatch([approveSteady(world), ...calls]))]
}

/** A contract of the thief's that ignores what it is called with and makes this call. */
async function sendForged(world: World, run: Call, claimed: Hex): Promise<Hex[]> {
  const forger = await world.deploy(scriptCode([run]))
  return [await world.send(castOf(world).thief, forger, claimed)]
}

export const cases: Case[] = [
  {
    title: 'a forged frame around an operation at EntryPoint 0.7 that a contract had stored',
    before: 'the rival had the whole deposit, signed, also when it was set to signed only',
    play: async (world) => {
      const { victim } = castOf(world)
      const data = await planOf(world, victim, 51n * usdc, world.aurora)
      const operation = await operationOf(world, victim, [approveSteady(world), toVault(world, data)])
      const stolen = toVault(world, await planOf(world, victim, 51n * usdc, world.borealis))
      const claimed = world.execute({ to: victim.address, data: world.execute(stolen) })
      return sendForged(world, { to: entryPoint, data: world.bundle(operation) }, claimed)
    },
    traced: ['deposit own signed victim 51000000'],
    untraced: [],
  },
  {
    title: 'a forged frame before the same operation, which stands in the calldata',
    before: 'the rival had the whole deposit, signed',
    play: async (world) => {
      const { victim, thief } = castOf(world)
      const data = await planOf(world, victim, 52n * usdc, world.aurora)
      const bundle = world.bundle(await operationOf(world, victim, [toVault(world, data)]))
      const forger = await world.deploy(scriptCode([{ to: entryPoint, data: bundle }]))
      const stolen = toVault(world, await planOf(world, victim, 52n * usdc, world.borealis))
      const claimed = world.execute({ to: victim.address, data: world.execute(stolen) })
      return [await world.send(thief, forger, `${claimed}${bundle.slice(2)}` as Hex)]
    },
    traced: ['deposit own signed victim 52000000'],
  },
  {
    title: 'a forged frame around the signed transaction of a plain account, a Safe',
    before: 'the rival had the whole deposit, signed',
    play: async (world) => {
      const { saver } = castOf(world)
      const safes = await deploySafeWorld(({ abi, bytecode, args }) => world.deploy(bytecode, abi, [...args]))
      const safe = safes.plan(saver, 7n)
      await world.send(saver, safe.creation.to, safe.creation.data)
      await world.send(saver, steadyOf(world).asset.address, encode.transfer(safe.address, 53n * usdc))
      await joinSafe(world, safe)
      const approval = await safe.execute(approveSteady(world), 0n)
      await world.send(saver, approval.to, approval.data)
      const plan = (code: string) => world.planDeposit(safe.address, steadyOf(world), 53n * usdc, code)
      const own = await safe.execute(toVault(world, await plan(world.aurora)), 1n)
      const stolen = toVault(world, await plan(world.borealis))
      return sendForged(world, own, world.execute({ to: safe.address, data: world.execute(stolen) }))
    },
    traced: ['deposit own signed safe 53000000'],
    untraced: [],
  },
  {
    title: 'a bundle that a contract hands on',
    before: 'no entry, the lot unattributed',
    play: async (world) => {
      const { victim, thief } = castOf(world)
      const data = await planOf(world, victim, 54n * usdc, world.aurora)
      const helper = await world.deploy(scriptCode({ passOn: entryPoint }))
      const operation = await operationOf(world, victim, [toVault(world, data)])
      return [await world.send(thief, helper, world.bundle(operation))]
    },
    traced: ['deposit own signed victim 54000000'],
  },
  {
    title: 'a relayer that keeps one unit of what a router delivers',
    before: 'the relayer’s distributor had the whole deposit',
    play: async (world) => {
      const { user, thief } = castOf(world)
      const shares = await world.sharesOf(steadyOf(world), 55n * usdc)
      const { vaultAddress } = steadyOf(world)
      const router = await deployScript(world, (self) => [
        { to: steadyOf(world).asset.address, data: encode.transferFrom(user.address, self, 55n * usdc) },
        approveSteady(world),
        toVault(world, encode.deposit(55n * usdc, self)),
        { to: vaultAddress, data: encode.transfer(user.address, (shares * 99n) / 100n) },
        { to: vaultAddress, data: encode.transfer(thief.address, 1n) },
      ])
      await world.send(user, steadyOf(world).asset.address, encode.approve(router))
      return [await world.send(thief, router, tagged(world, '0x5eed0001', world.borealis))]
    },
    traced: ['deposit rival unsigned thief 1'],
  },
  {
    title: 'a deposit that mints nothing before a victim’s in one bundle',
    before: 'the entry was the victim’s distributor’s and the lot the rival’s',
    play: async (world) => {
      const { victim, rival } = castOf(world)
      const nothing = toVault(world, tagged(world, encode.deposit(0n, rival.address), world.borealis))
      const own = toVault(world, await planOf(world, victim, 56n * usdc, world.aurora))
      return sendBundle(world, [await operationOf(world, rival, [nothing]), await operationOf(world, victim, [own])])
    },
    traced: ['deposit own signed victim 56000000'],
  },
  {
    title: 'a coded transfer of nothing before the deposit of a batch',
    before: 'entry and lot were the rival’s',
    play: async (world) => {
      const { owner } = castOf(world)
      const silent = toVault(world, tagged(world, encode.transfer(owner.address, 0n), world.borealis))
      return sendBatch(world, [silent, toVault(world, await planOf(world, owner, 57n * usdc, world.aurora))])
    },
    traced: ['deposit own signed owner 57000000'],
  },
  {
    title: 'a coded permit before the deposit, in a vault whose helper appends codes by delegatecall',
    before: 'entry and lot were the rival’s, by the permit; what a helper appended was not read',
    play: async (world, vault) => {
      const { owner, thief } = castOf(world)
      const none: Hex = `0x${'00'.repeat(32)}`
      const permit = encodeFunctionData({
        abi: permitAbi,
        functionName: 'permit',
        args: [owner.address, thief.address, 0n, 0n, 27, none, none],
      })
      return sendBatch(world, [
        { to: steadyOf(world).asset.address, data: encode.approve(vault) },
        { to: vault, data: tagged(world, permit, world.borealis) },
        { to: vault, data: tagged(world, encode.deposit(58n * usdc, owner.address), world.aurora) },
      ])
    },
    traced: ['deposit own unsigned owner 58000000'],
  },
  {
    title: 'a deposit without a code in that vault',
    before: 'nobody’s, as now: what a helper appended was not read',
    play: (world, vault) => {
      const { owner } = castOf(world)
      return sendBatch(world, [{ to: vault, data: encode.deposit(59n * usdc, owner.address) }])
    },
    traced: [],
  },
  {
    title: 'a coded setOperator before the request of a batch',
    before: 'the request was the rival’s',
    play: (world) => {
      const { owner, thief } = castOf(world)
      const { vaultAddress, asset } = world.dev.opportunities.find(({ kind }) => kind === 'erc7540')!
      const abi = cancellableAsyncVaultAbi
      const operator = encodeFunctionData({ abi, functionName: 'setOperator', args: [thief.address, true] })
      const args = [60n * usdc, owner.address, owner.address] as const
      const request = encodeFunctionData({ abi, functionName: 'requestDeposit', args })
      return sendBatch(world, [
        { to: asset.address, data: encode.approve(vaultAddress) },
        { to: vaultAddress, data: tagged(world, operator, world.borealis) },
        { to: vaultAddress, data: tagged(world, request, world.aurora) },
      ])
    },
    traced: ['request deposit own'],
  },
  {
    title: 'two calls of a router in a batch, the code behind the second',
    before: 'both entries were the rival’s',
    play: async (world) => {
      const { owner } = castOf(world)
      const to = await deployRouter(world, owner.address, 61n * usdc)
      return sendBatch(world, [
        { to: steadyOf(world).asset.address, data: encode.approve(to) },
        { to, data: '0x5eed0001' },
        { to, data: tagged(world, '0x5eed0001', world.borealis) },
      ])
    },
    traced: ['deposit rival unsigned owner 61000000'],
  },
  {
    title: 'a coded call of an unrelated address before a router’s in a batch',
    before: 'the entry was the rival’s',
    play: async (world) => {
      const { owner } = castOf(world)
      const to = await deployRouter(world, owner.address, 62n * usdc)
      return sendBatch(world, [
        { to: steadyOf(world).asset.address, data: encode.approve(to) },
        {
          to: steadyOf(world).asset.address,
          data: tagged(world, encode.transfer(owner.address, 0n), world.borealis),
        },
        { to, data: tagged(world, '0x5eed0001', world.aurora) },
      ])
    },
    traced: ['deposit own unsigned owner 62000000'],
  },
  {
    title: 'a router’s own tag, alone and below a wallet’s plan',
    before: 'nobody’s and the wallet’s: what a router wrote was not read',
    play: async (world) => {
      const { user } = castOf(world)
      const router = await deployRouter(world, user.address, 63n * usdc, world.tag(world.borealis))
      await world.send(user, steadyOf(world).asset.address, encode.approve(router))
      return [
        await world.send(user, router, '0x5eed0001'),
        await world.send(user, router, tagged(world, '0x5eed0001', world.aurora)),
      ]
    },
    traced: ['deposit rival unsigned user 63000000', 'deposit own unsigned user 63000000'],
    untraced: ['deposit own unsigned user 63000000'],
  },
  {
    title: 'a signature over deposit(1) beside deposit(1000)',
    before: 'both were signed',
    play: async (world) => {
      const { owner } = castOf(world)
      const small = await planOf(world, owner, usdc, world.borealis)
      const suffix = small.slice(encode.deposit(usdc, owner.address).length)
      const large = `${encode.deposit(1_000n * usdc, owner.address)}${suffix}` as Hex
      return sendBatch(world, [toVault(world, small), toVault(world, large)])
    },
    traced: ['deposit rival signed owner 1000000', 'deposit rival unsigned owner 1000000000'],
  },
  {
    title: 'a copied suffix in a deposit of one unit before the real one',
    before: 'both were signed',
    play: async (world) => {
      const { owner } = castOf(world)
      const { vaultAddress: to, asset } = growthOf(world)
      const real = await world.planDeposit(owner.address, growthOf(world), 64n * usdc, world.aurora)
      const suffix = real.slice(encode.deposit(64n * usdc, owner.address).length)
      return sendBatch(world, [
        { to: asset.address, data: encode.approve(to) },
        { to, data: `${encode.deposit(1n, owner.address)}${suffix}` as Hex },
        { to, data: real },
      ])
    },
    traced: ['deposit own unsigned owner 1', 'deposit own signed owner 64000000'],
  },
  {
    title: 'a plan that is sent twice',
    before: 'each time signed',
    play: async (world) => {
      const { user } = castOf(world)
      const { vaultAddress, asset } = steadyOf(world)
      const data = await planOf(world, user, 65n * usdc, world.aurora)
      await world.send(user, asset.address, encode.approve(vaultAddress))
      return [await world.send(user, vaultAddress, data), await world.send(user, vaultAddress, data)]
    },
    traced: ['deposit own signed user 65000000', 'deposit own unsigned user 65000000'],
  },
  {
    title: 'a rival’s code on withdrawals, signed and unsigned',
    before: 'the entries were the rival’s, and its lot was emptied first',
    play: async (world) => {
      const { saver } = castOf(world)
      const { vaultAddress, asset, id } = steadyOf(world)
      await world.send(saver, asset.address, encode.approve(vaultAddress))
      const deposit = tagged(world, encode.deposit(66n * usdc, saver.address), world.aurora)
      const body = { userAddress: saver.address, amount: '1000000', distributorId: world.borealis, simulate: false }
      const first = await world.send(saver, vaultAddress, deposit)
      const plan = await world.client.call('POST', `/v2/actions/withdraw/${id}`, body)
      const { to, data } = plan.transactions.at(-1).transaction
      const bare = tagged(world, encode.redeem(usdc, saver.address, saver.address), world.borealis)
      return [first, await world.send(saver, to, data), await world.send(saver, vaultAddress, bare)]
    },
    traced: ['deposit own unsigned saver 66000000', 'withdraw rival signed saver', 'withdraw rival unsigned saver'],
  },
  {
    title: 'a deposit taken back at once beside a victim’s in one bundle',
    before: 'the rival had an entry of all that went in and out',
    play: async (world) => {
      const { victim, rival } = castOf(world)
      const shares = 900n * usdc
      const calls = [
        approveSteady(world),
        toVault(world, tagged(world, encode.mint(shares, rival.address), world.borealis)),
        toVault(world, encode.redeem(shares, rival.address, rival.address)),
      ]
      const own = toVault(world, await planOf(world, victim, 67n * usdc, world.aurora))
      return sendBundle(world, [await operationOf(world, rival, calls), await operationOf(world, victim, [own])])
    },
    traced: ['deposit own signed victim 67000000'],
  },
  {
    title: '100 loops of a deposit and its redemption in one transaction',
    before: '100 entries of the rival, and no withdrawal',
    play: async (world) => {
      const { rival, thief } = castOf(world)
      const [shares, vault] = [900n * usdc, steadyOf(world).vaultAddress]
      const wash = await deployScript(world, (self) => [
        approveSteady(world),
        ...Array.from({ length: 100 }, () => [
          { to: vault, data: encode.mint(shares, rival.address) },
          { to: vault, data: encode.transferFrom(rival.address, self, shares) },
          { to: vault, data: encode.redeem(shares, self, self) },
        ]).flat(),
      ])
      await world.send(thief, steadyOf(world).asset.address, encode.transfer(wash, 1_000n * usdc))
      const allow = world.executeBatch([{ to: vault, data: encode.approve(wash) }])
      await world.send(rival, rival.address, allow)
      const claimed = tagged(world, '0x5eed0001', world.borealis)
      return [await world.send(rival, rival.address, world.executeBatch([{ to: wash, data: claimed }]))]
    },
    traced: [],
  },
]

async function joinSafe({ client }: World, safe: { address: Address; signText(text: string): Promise<Hex> }) {
  const who = { address: safe.address, walletEcosystem: 'evm' }
  const asked = { ...who, url: 'https://app.example.com/earn', chainId: '31337' }
  const { message, nonce } = await client.call('POST', '/v2/membership/agreement', asked)
  await client.call('POST', '/v2/membership/', { ...who, nonce, signature: await safe.signText(message) })
}
