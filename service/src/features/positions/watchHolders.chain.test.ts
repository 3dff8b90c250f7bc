import { type Abi, type Address, encodeFunctionData, erc20Abi, erc4626Abi, type Hex } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { openWorld, type World, type WorldVault } from '../../../test/actionWorld.js'
import { holderAddress, placeHolder, silent, staked, tellHolder } from '../../../test/chain/scriptedHolder.js'
import { rebuildChain } from '../../../test/pipeline.js'
import { examine } from '../../cli/doctor.js'
import { OutboundError } from '../../kernel/outbound.js'
import { inTransaction } from '../../postgres/pool.js'
import type { Chain } from '../../rpc/chains.js'
import type { Rpc } from '../../rpc/rpc.js'
import { computeStateHash } from '../../server/stateHash.js'
import { findCursor } from '../../sync/storeCursors.js'
import { doubtObservations } from './storeDoubts.js'
import { watchHolders } from './watchHolders.js'

const unit = 10n ** 6n
const shares = (assets: bigint) => assets * unit * 10n ** 12n
const [alice, bob] = [account(1), account(2)]
const holder = holderAddress.toLowerCase()
const lower = ({ address }: { address: string }) => address.toLowerCase()
let world: World
let vault: WorldVault
let honest: Chain
const said = new Map<Address, bigint>()

beforeAll(async () => {
  world = await openWorld()
  const dollar = await world.token({ pegUsd: '1' })
  vault = await world.vault(dollar, { old: true })
  await placeHolder(world.anvil)
  await declare('1970-01-01T00:00:00Z')
  honest = world.earn.ctx.chains.get(world.chainId) ?? expect.fail()
  for (const who of [alice, bob]) {
    await world.mint(dollar, who.address, 10n * unit)
    await world.write(dollar, erc20Abi, 'approve', [vault.address, 2n ** 255n], who)
    await world.write(vault.address, erc4626Abi as Abi, 'deposit', [10n * unit, who.address], who)
    await world.write(vault.address, erc20Abi, 'approve', [holderAddress, 2n ** 255n], who)
  }
  await stake(alice, 4n)
  await stake(bob, 6n)
  await deepen()
}, 120_000)
afterAll(() => world?.close())

let declared: { address: string; kind: string; activeFrom: string }[] = []
async function declare(activeFrom: string): Promise<void> {
  declared = [...declared, { address: holder, kind: 'staking', activeFrom }]
  await world.earn.db`
    update vaults set holders = ${JSON.stringify(declared)}::text::jsonb where address = ${vault.address.toLowerCase()}`
  await world.refresh()
}

type Wallet = typeof alice
const tell = (as: Wallet, told: { of: Address; amount: bigint; says: bigint; topic: Hex; call?: Hex }) =>
  tellHolder(world.anvil, as, { target: vault.address, ...told })

async function stake(as: Wallet, assets: bigint): Promise<void> {
  const says = (said.get(as.address) ?? 0n) + shares(assets)
  said.set(as.address, says)
  const args = [as.address, holderAddress, shares(assets)] as const
  const call = encodeFunctionData({ abi: erc20Abi, functionName: 'transferFrom', args })
  await tell(as, { of: as.address, amount: shares(assets), says, topic: staked, call })
  await world.sync()
}

/** From now on the holder tells so many shares for a wallet, and no event says why. */
async function say(of: Wallet, says: bigint): Promise<void> {
  await tell(of, { of: of.address, amount: 0n, says, topic: silent })
  await world.sync()
}

/** Everything so far becomes final and is looked at a second time. */
async function deepen(): Promise<void> {
  const number = Number(await world.anvil.client.getBlockNumber())
  await world.anvil.client.mine({ blocks: 80, interval: 1 })
  // The first pass records what is final, the next looks at it again.
  await world.sync()
  await world.sync()
  expect((await findCursor(world.earn.db, world.chainId))?.checkedTo).toBeGreaterThanOrEqual(number)
}

/** A block of the same second as the last one may have been derived before: what is believed counts after that second. */
async function passSecond(): Promise<void> {
  const { timestamp } = await world.anvil.client.getBlock()
  await world.passBy(new Date((Number(timestamp) + 1) * 1_000))
}

/** The job, with a node for each url; the first is asked for samples. */
async function watch(...nodes: Chain[]): Promise<void> {
  const [first = honest] = nodes
  const named = new Map(nodes.map((node, index) => [`node ${index}`, node]))
  await watchHolders(
    { ...world.earn.ctx, chains: new Map([[world.chainId, first]]) },
    { nodesOf: () => (named.size > 0 ? named : new Map([['node', honest]])) },
  )
}

function nodeOf(answer: (result: unknown) => unknown): Chain {
  const rpc: Rpc = { ...honest.rpc, as: () => rpc, request: async (asked) => answer(await honest.rpc.request(asked)) }
  return { ...honest, rpc }
}

const word = (value: bigint) => value.toString(16).padStart(64, '0')
/** A node that tells another amount where it should tell one. */
const liar = (truth: bigint, lie: bigint) =>
  nodeOf((result) => (typeof result === 'string' ? result.replaceAll(word(truth), word(lie)) : result))
const silentNode = () =>
  nodeOf(() => {
    throw new OutboundError('network', 'gone')
  })

const listDoubts = () => world.earn.db<{ wallet: string; said: string; urls: number; believed: boolean }[]>`
  select hex_text(wallet) as wallet, said, urls, believed_from is not null as believed from holder_doubts order by block_number`

const listCounted = async () => {
  const rows = await world.earn.db<{ wallet: string; shares: string }[]>`
    select hex_text(wallet) as wallet, shares from balances where shares > 0`
  return Object.fromEntries(rows.map(({ wallet, shares }) => [wallet, BigInt(shares) / (unit * 10n ** 12n)]))
}

async function describeVault() {
  const { body } = await world.earn.call('GetIndexingStatus', { query: { vaultAddress: vault.address } })
  const found = (await examine(world.earn.ctx)).find(({ what }) => what === 'holders are believed')
  return { reason: String(body.vaults[0].reason), doctor: { well: found?.well, detail: found?.detail } }
}

const isBroken = `not looked through any more: ${holder} (its view differs); declare it anew`
const all = { [lower(alice)]: 10n, [lower(bob)]: 10n }

describe('a holder whose view agrees with its events', () => {
  beforeEach(async () => {
    await world.earn.db`delete from holder_doubts`
  })

  it('is left alone', async () => {
    await watch()
    await watch(honest, honest)
    expect(await listDoubts()).toEqual([])
  })

  it.each([
    ['lies', () => [liar(shares(4n), shares(3n)), honest]],
    ['lies, and the other cannot answer', () => [liar(shares(4n), shares(3n)), silentNode()]],
    ['lies against two', () => [liar(shares(4n), 0n), honest, honest]],
    ['lies against one, and the third cannot answer', () => [liar(shares(4n), 0n), silentNode(), honest]],
    ['lies, and another lies otherwise', () => [liar(shares(4n), 0n), liar(shares(4n), 1n)]],
    ['cannot answer', () => [honest, silentNode()]],
  ])('is not doubted as one node of several %s', async (_does, nodes) => {
    for (let run = 0; run < 3; run++) await watch(...nodes())
    await deepen()
    await watch(...nodes())
    expect(await listDoubts()).toEqual([])
    expect(await listCounted()).toEqual(all)
  })

  it('is believed again where the only node told something else once', async () => {
    await watch(liar(shares(4n), shares(3n)))
    expect(await listDoubts()).toMatchObject([{ wallet: lower(alice), urls: 1, believed: false }])
    expect((await describeVault()).reason).not.toContain('its view differs')
    await deepen()
    await watch(honest)
    expect(await listDoubts()).toEqual([])
    expect(await listCounted()).toEqual(all)
  })

  it('is doubted no more by one url once the chain has two', async () => {
    const lying = liar(shares(4n), shares(3n))
    await watch(lying)
    await deepen()
    await watch(lying, honest)
    expect(await listDoubts()).toEqual([])
  })

  it('is left alone where an event lacks its Transfer, and the view goes by the event, though the only node lied before', async () => {
    await watch(liar(shares(4n), shares(3n)))
    expect(await listDoubts()).toHaveLength(1)
    said.set(alice.address, shares(5n))
    await tell(alice, { of: alice.address, amount: shares(1n), says: shares(5n), topic: staked })
    await deepen()
    await watch(honest)
    await watch(honest, honest)
    expect(await listDoubts()).toEqual([])
    const { reason } = await describeVault()
    expect(reason).toContain('1 events of holders without a Transfer')
    expect(reason).not.toContain('its view differs')
  })
})

describe('a holder that tells less than its events, as after a move without one', () => {
  it('is doubted, and no more where the blocks of it are dropped', async () => {
    const snapshot = await world.anvil.client.snapshot()
    await say(alice, shares(2n))
    await watch(honest, honest)
    expect(await listDoubts()).toMatchObject([
      { wallet: lower(alice), said: String(shares(2n)), urls: 2, believed: false },
    ])
    await world.anvil.client.revert({ id: snapshot })
    await world.anvil.client.mine({ blocks: 3, interval: 2 })
    await world.sync()
    expect(await listDoubts()).toEqual([])
    await watch(honest, honest)
    expect(await listDoubts()).toEqual([])
  })

  it('is believed until the logs up to there are looked at twice, and then told as broken by status and doctor', async () => {
    await say(alice, shares(2n))
    await watch(honest, honest)
    await watch(honest, honest)
    expect(await listDoubts()).toMatchObject([{ urls: 2, believed: false }])
    expect((await describeVault()).doctor.well).toBe(true)
    await deepen()
    await watch(honest, honest)
    expect(await listDoubts()).toMatchObject([{ urls: 2, believed: true }])
    const { reason, doctor } = await describeVault()
    expect(reason).toContain(isBroken)
    expect(doctor).toEqual({ well: false, detail: expect.stringContaining(isBroken) })
  })

  it('counts for nobody from the next transaction on, which a rebuild derives alike', async () => {
    await passSecond()
    await world.sync()
    expect(await listCounted()).toEqual(all)
    await world.write(vault.address, erc20Abi, 'transfer', [bob.address, shares(1n)], alice)
    await world.sync()
    const broken = { [holder]: 10n, [lower(alice)]: 5n, [lower(bob)]: 5n }
    expect(await listCounted()).toEqual(broken)
    expect((await describeVault()).reason).toContain(isBroken)
    await watch(honest, honest)
    expect(await listDoubts()).toHaveLength(1)
    const hash = await computeStateHash(world.earn.db, world.chainId)
    const rebuilt = await rebuildChain(world.earn.ctx, { chainId: world.chainId })
    expect(rebuilt.hash).toBe(hash)
    expect(await listCounted()).toEqual(broken)
  })

  it('counts again once it is declared anew, and is not doubted where its view agrees again', async () => {
    await say(alice, said.get(alice.address) ?? 0n)
    const { timestamp } = await world.anvil.client.getBlock()
    const activeFrom = new Date(Number(timestamp + 10n) * 1_000).toISOString()
    await declare(activeFrom)
    await world.passBy(activeFrom)
    expect((await describeVault()).doctor.well).toBe(false)
    await world.write(vault.address, erc20Abi, 'transfer', [alice.address, shares(1n)], bob)
    await world.sync()
    expect(await listCounted()).toEqual({ [lower(alice)]: 10n, [lower(bob)]: 10n })
    expect((await describeVault()).reason).not.toContain('its view differs')
    await watch(honest, honest)
    expect(await listDoubts()).toHaveLength(1)
  })
})

it('a holder that tells more than its events is broken by the only node where a later block says so too', async () => {
  await say(bob, shares(7n))
  await watch(honest)
  expect((await listDoubts()).at(-1)).toMatchObject({ wallet: lower(bob), urls: 1, believed: false })
  await watch(honest)
  await deepen()
  expect((await listDoubts()).at(-1)).toMatchObject({ urls: 1, believed: false })
  await watch(silentNode())
  expect((await listDoubts()).at(-1)).toMatchObject({ urls: 1, believed: false })
  await watch(honest)
  expect((await listDoubts()).at(-1)).toMatchObject({ urls: 1, believed: true })
  expect((await describeVault()).reason).toContain(isBroken)
  await passSecond()
  await stake(bob, 1n)
  expect(await listCounted()).toEqual({ [holder]: 11n, [lower(alice)]: 6n, [lower(bob)]: 3n })
})

it('a holder counts again, from where it was broken, when the reading that broke it was of a dropped block', async () => {
  const [{ block } = expect.fail()] = await world.earn.db<{ block: number }[]>`
    select max(block_number)::int as block from holder_doubts`
  await inTransaction(world.earn.db, (tx) =>
    doubtObservations.rewind(tx, { chainId: world.chainId, number: block - 1, tip: block }),
  )
  await world.sync()
  expect(await listDoubts()).toHaveLength(1)
  expect(await listCounted()).toEqual({ [lower(alice)]: 10n, [lower(bob)]: 10n })
  expect((await describeVault()).reason).not.toContain('its view differs')
})
