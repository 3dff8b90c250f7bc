import { type Abi, type Address, erc20Abi, erc4626Abi, type Hex, zeroAddress } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { patient } from '../../../../contracts/test/patience.js'
import { openWorld, type World, type WorldVault } from '../../../test/actionWorld.js'
import { openTelling } from '../../../test/tellingDatabase.js'
import { systemClock } from '../../kernel/clock.js'
import type { PreparedBody } from '../../kernel/operation.js'
import { OutboundError } from '../../kernel/outbound.js'
import { findPrices as realFindPrices, recordPeg } from '../../prices/index.js'
import type { Chain } from '../../rpc/chains.js'
import type { Read } from '../../rpc/multicall.js'
import type { Adapter, AdapterAnswer } from './adapter.js'
import { serveWalletPortfolio } from './getWalletPortfolio.js'
import { getWalletPortfolio, listAdapters, openPortfolio, type Portfolio, type PortfolioBody } from './index.js'

const unit = 10n ** 6n
const alice = account(1)
let world: World
let dollar: Address
let poison: Address
/** Listed, without a price. */
let bare: Address
let sound: Hex
let vault: WorldVault

beforeAll(async () => {
  world = await openWorld()
  dollar = await world.token({ pegUsd: '1' })
  poison = await world.token({ pegUsd: '1' })
  bare = await world.token()
  vault = await world.vault(dollar)
  await world.mint(dollar, alice.address, 1_000n * unit)
  await world.mint(poison, alice.address, 5n * unit)
  await world.write(dollar, erc20Abi, 'approve', [vault.address, 2n ** 255n], alice)
  await world.write(vault.address, erc4626Abi as Abi, 'deposit', [100n * unit, alice.address], alice)
  sound = (await world.anvil.client.getCode({ address: poison })) ?? '0x'
})
afterAll(() => world?.close())
beforeEach(async () => {
  await world.anvil.client.setCode({ address: poison, bytecode: sound })
  world.earn.ctx.catalogue.answers.forget()
})

const real = (): Chain => world.earn.service.holdingsChains.get(world.chainId)!
type Rpc = Chain['rpc']

/** A chain beside the real one whose node does this, whatever it is asked. */
function chainOf(chainId: number, name: string, answer: () => Promise<never>): Chain {
  const rpc: Rpc = { ...real().rpc, request: answer, batch: answer, as: () => rpc, secondary: () => undefined }
  return { ...real(), chainId, name, rpc }
}

/** The real chain, each call to its node counted, and changed on its way if told. */
function countedChain(before: (method: string) => Promise<void> = async () => undefined) {
  const seen = { requests: 0, batches: 0, calls: 0 }
  const rpc: Rpc = {
    ...real().rpc,
    request: async (asked) => {
      seen.requests += 1
      await before(asked.method)
      return real().rpc.request(asked)
    },
    batch: async (asked) => {
      seen.batches += 1
      seen.calls += asked.length
      await before('batch')
      return real().rpc.batch(asked)
    },
  }
  return { seen, chain: { ...real(), rpc } satisfies Chain }
}

function context(chains: readonly Chain[], options: Parameters<typeof openPortfolio>[0] = {}) {
  return {
    ...world.earn.ctx,
    chains: new Map(chains.map((chain) => [chain.chainId, chain])),
    portfolio: openPortfolio(options),
  }
}

async function read(ctx: ReturnType<typeof context>, address: string = alice.address) {
  const { holdings } = (await getWalletPortfolio(ctx, { address })).portfolio
  const [wallet] = holdings.wallets
  if (!wallet) throw new Error('there is one wallet')
  const errors = wallet.errors.filter(({ source }) => source !== 'price' && source !== 'earnings')
  return { ...wallet, errors }
}

const broken: Adapter = {
  name: 'broken',
  ask: async () => {
    throw new Error('planted')
  },
}

describe('of a dead chain, a hanging node, a poisoned token and a throwing adapter', () => {
  const faults = ['dead', 'hanging', 'poisoned', 'throwing'] as const
  const combinations = Array.from({ length: 16 }, (_, bits) => faults.filter((_fault, at) => bits & (1 << at)))

  it.each(combinations.map((own) => [own.join(', ') || 'none', own] as const))(
    'with %s each is named, and the rest is right',
    async (_title, own) => {
      const has = (fault: (typeof faults)[number]) => own.includes(fault)
      const chains = [
        real(),
        ...(has('dead') ? [chainOf(1, 'Dead', () => Promise.reject(new OutboundError('network', 'gone')))] : []),
        ...(has('hanging') ? [chainOf(2, 'Hanging', () => new Promise<never>(() => undefined))] : []),
      ]
      if (has('poisoned')) await world.anvil.client.setCode({ address: poison, bytecode: '0x60006000fd' })
      const adapters = [...(has('throwing') ? [broken] : []), ...listAdapters()]
      const fromMs = systemClock.monotonicMs()
      // Where something hangs, by the deadline of the service; else what is right may take as long as a busy machine does.
      const wallet = await read(
        context(chains, { adapters, deadlineMs: has('hanging') ? patient(2_800) : patient(20_000) }),
      )
      if (has('hanging')) expect(systemClock.monotonicMs() - fromMs).toBeLessThan(patient(3_000))
      expect(wallet.errors.map(({ chainId, source }) => [chainId, source])).toEqual([
        ...(has('throwing') ? [[world.chainId, 'adapter:broken']] : []),
        ...(has('poisoned') ? [[world.chainId, 'rpc']] : []),
        ...(has('dead') ? [[1, 'rpc']] : []),
        ...(has('hanging') ? [[2, 'rpc']] : []),
      ])
      const said = wallet.errors.map(({ error }) => error).join()
      expect(said.includes(poison.toLowerCase())).toBe(has('poisoned'))
      expect(wallet.asOf.map(({ chainId }) => chainId)).toEqual([world.chainId])
      expect(wallet.totalUsd).toBe(has('poisoned') ? '1000' : '1005')
      expect(wallet.protocols).toHaveLength(1)
    },
  )
})

it('an adapter that always wants to know more is asked three times and named, and the rest is told', async () => {
  let asked = 0
  const answer = (): { items: []; more: Read<AdapterAnswer> } => {
    asked += 1
    return { items: [], more: { reads: [], answer } }
  }
  const endless: Adapter = { name: 'endless', ask: async () => ({ reads: [], answer }) }
  const wallet = await read(context([real()], { adapters: [endless, ...listAdapters()] }))
  expect(asked).toBe(3)
  expect(wallet.totalUsd).toBe('1005')
  expect(wallet.errors).toEqual([
    { chainId: world.chainId, source: 'adapter:endless', error: expect.stringContaining('left out') },
  ])
})

describe('a token that', () => {
  const most = `0x7f${'f'.repeat(64)}60005260206000f3` as const
  const codes: [string, Hex][] = [
    ['reverts', '0x60006000fd'],
    ['burns all gas', '0x5b600056'],
    ['answers nothing', '0x00'],
    ['answers one byte', '0x60016000f3'],
    ['answers a megabyte', '0x621000006000f3'],
    ['is no contract', '0x'],
  ]
  it.each(codes)('%s spoils its own row alone', async (_name, bytecode) => {
    await world.anvil.client.setCode({ address: poison, bytecode })
    const wallet = await read(context([real()]))
    expect(wallet.errors).toMatchObject([{ chainId: world.chainId, source: 'rpc' }])
    expect(wallet.errors[0]?.error).toContain(poison.toLowerCase())
    expect(wallet.totalUsd).toBe('1000')
  })

  it('says it holds 2^256 - 1, at 0 and at 36 decimals, is told to the unit', async () => {
    await world.anvil.client.setCode({ address: poison, bytecode: most })
    for (const decimals of [0, 36]) {
      await world.earn.db`update tokens set decimals = ${decimals} where address = ${poison.toLowerCase()}`
      await world.refresh()
      const row = (await read(context([real()]))).tokens.find(({ address }) => address === poison)
      const digits = String(2n ** 256n - 1n)
      const amount = decimals === 0 ? digits : `${digits.slice(0, -36)}.${digits.slice(-36)}`
      expect(row).toMatchObject({ amountRaw: digits, amount, decimals })
    }
    await world.earn.db`update tokens set decimals = 6 where address = ${poison.toLowerCase()}`
    await world.refresh()
  })
})

describe('what a node is asked', () => {
  it('is the newest block and one batch, with a call for 250 reads, and nothing more at the same block', async () => {
    const { seen, chain } = countedChain()
    const ctx = context([chain])
    // What is kept is forgotten when the catalogue is read anew: a reading that was under way is over then.
    await ctx.catalogue.refresh()
    const first = await read(ctx)
    expect(seen).toEqual({ requests: 1, batches: 1, calls: 1 })
    expect(await read(ctx)).toEqual(first)
    world.earn.clock.advance(5_000)
    expect(await read(ctx)).toEqual(first)
    expect(seen).toEqual({ requests: 2, batches: 1, calls: 1 })
  })

  it('is asked once for 100 calls at the same time', async () => {
    const { seen, chain } = countedChain()
    const ctx = context([chain])
    const answers = await Promise.all(Array.from({ length: 100 }, () => read(ctx)))
    expect(seen).toEqual({ requests: 1, batches: 1, calls: 1 })
    expect(new Set(answers.map((each) => JSON.stringify(each))).size).toBe(1)
  })

  it('is asked again once an entry of the wallet is derived', async () => {
    const { seen, chain } = countedChain()
    const ctx = context([chain])
    await world.sync()
    const before = await read(ctx)
    await world.write(vault.address, erc4626Abi as Abi, 'deposit', [unit, alice.address], alice)
    expect(await read(ctx)).toEqual(before)
    await world.sync()
    const after = await read(ctx)
    expect(after.asOf[0]?.blockNumber).toBeGreaterThan(before.asOf[0]?.blockNumber ?? 0)
    // Shares earn meanwhile.
    expect(Number(after.totalUsd)).toBeCloseTo(Number(before.totalUsd), 2)
    expect(seen.batches).toBe(2)
  })
})

describe('an answer that was sent', () => {
  const serve = (ctx: ReturnType<typeof context>, input: Parameters<typeof serveWalletPortfolio>[1]) =>
    serveWalletPortfolio(ctx, input)
  const own = { address: alice.address }
  const parse = (body: PreparedBody) => JSON.parse(String(body.parts[0])) as PortfolioBody
  /** Time for the newest block to be asked again. */
  const poll = () => world.earn.clock.advance(5_000)

  it('is sent again, the same bytes, for one statement and no call while nothing changes', async () => {
    const { seen, chain } = countedChain()
    const { telling, asked } = openTelling(() => world.earn.db)
    const ctx = { ...context([chain]), db: telling as unknown as typeof world.earn.db }
    const first = await serve(ctx, own)
    asked.length = 0
    const again = await serve(ctx, { address: alice.address.toLowerCase() })
    expect(again).toBe(first)
    expect(asked).toHaveLength(1)
    expect(seen).toEqual({ requests: 1, batches: 1, calls: 1 })
    expect(parse(first)).toEqual(await getWalletPortfolio(ctx, own))
  })

  it('is not sent for another wallet, nor where receipt tokens are asked for', async () => {
    const ctx = context([real()])
    const first = await serve(ctx, own)
    const all = await serve(ctx, { ...own, includeProtocolTokens: true })
    const other = await serve(ctx, { address: account(2).address })
    expect(new Set([first, all, other].map((body) => String(body.parts[0]))).size).toBe(3)
    expect(await serve(ctx, own)).toBe(first)
    expect(await serve(ctx, { ...own, includeProtocolTokens: true })).toBe(all)
  })

  it('is old at the next block, and at another block of the same height', async () => {
    const ctx = context([real()])
    await world.anvil.client.mine({ blocks: 2 })
    poll()
    const bodies = [await serve(ctx, own)]
    await world.anvil.client.mine({ blocks: 1 })
    poll()
    bodies.push(await serve(ctx, own))
    await world.anvil.client.request({ method: 'anvil_reorg', params: [1, []] } as never)
    poll()
    bodies.push(await serve(ctx, own))
    const blocks = bodies.map((body) => parse(body).portfolio.holdings.wallets[0]?.asOf[0])
    expect(blocks[1]?.blockNumber).toBe((blocks[0]?.blockNumber ?? 0) + 1)
    expect(blocks[2]?.blockNumber).toBe(blocks[1]?.blockNumber)
    expect(new Set(blocks.map((block) => block?.blockHash)).size).toBe(3)
    for (const block of blocks.slice(2)) {
      const canonical = await world.anvil.client.getBlock()
      expect(block?.blockHash).toBe(canonical.hash)
    }
  })

  it('is old once an entry of the wallet is derived', async () => {
    const ctx = context([real()])
    await world.sync()
    poll()
    const before = await serve(ctx, own)
    await world.write(vault.address, erc4626Abi as Abi, 'deposit', [unit, alice.address], alice)
    expect(await serve(ctx, own)).toBe(before)
    await world.sync()
    const after = await serve(ctx, own)
    const idle = (body: PreparedBody) =>
      parse(body).portfolio.holdings.wallets[0]?.tokens.find(({ address }) => address === dollar)?.amountRaw
    expect(BigInt(idle(after) ?? 0)).toBe(BigInt(idle(before) ?? 0) - unit)
  })

  it('is old once a flow of the wallet is confirmed, changed or taken back, at the same block', async () => {
    const ctx = context([real()])
    const { db } = world.earn
    const earnedIn = (body: PreparedBody) =>
      parse(body).portfolio.productsEarnings.map(({ deposited }) => deposited.native)
    const wallet = account(3).address
    const [{ id } = { id: 0 }] = await db<{ id: number }[]>`
      select id from vaults where address = ${vault.address.toLowerCase()}`
    await db`
      insert into vault_snapshots (block_number, block_timestamp, vault_id, price_exponent, total_assets, total_supply,
        price_numerator, block_hash)
      values (1, ${new Date(0)}, ${id}, 18, 1, 1, 1000000, decode(${'ab'.repeat(32)}, 'hex'))`
    const none = await serve(ctx, { address: wallet })
    expect(earnedIn(none)).toEqual([])
    await db`
      insert into flows (chain_id, block_number, block_timestamp, vault_id, transaction_index, wallet, kind, shares, assets)
      values (${world.chainId}, 1, ${new Date(0)}, ${id}, 0, hex_bytes(${wallet.toLowerCase()}), 'deposit', 5, 7000000)`
    const confirmed = await serve(ctx, { address: wallet })
    expect(earnedIn(confirmed)).toEqual(['7'])
    expect(await serve(ctx, { address: wallet })).toBe(confirmed)
    await db`update flows set assets = 8000000 where wallet = hex_bytes(${wallet.toLowerCase()})`
    expect(earnedIn(await serve(ctx, { address: wallet }))).toEqual(['8'])
    await db`delete from flows where wallet = hex_bytes(${wallet.toLowerCase()})`
    expect(earnedIn(await serve(ctx, { address: wallet }))).toEqual([])
    await db`delete from vault_snapshots where vault_id = ${id} and block_number = 1`
  })

  it('is old once the catalogue changes', async () => {
    const ctx = context([real()])
    const before = await serve(ctx, own)
    await world.earn.db`update tokens set name = 'Renamed' where address = ${poison.toLowerCase()}`
    await world.refresh()
    const after = await serve(ctx, own)
    expect(String(before.parts[0])).not.toContain('Renamed')
    expect(String(after.parts[0])).toContain('Renamed')
  })

  it('is old after half a minute, so that a price that comes late is seen', async () => {
    const ctx = context([real()])
    const late = { address: account(4).address }
    await world.mint(bare, late.address, unit)
    poll()
    const before = parse(await serve(ctx, late)).portfolio.holdings
    await recordPeg(world.earn.ctx, { chainId: world.chainId, address: bare.toLowerCase() }, '3')
    const read = performance.now.bind(performance)
    const now = vi.spyOn(performance, 'now').mockImplementation(() => read() + 31_000)
    try {
      const after = parse(await serve(ctx, late)).portfolio.holdings
      expect(Number(after.totalUsd) - Number(before.totalUsd)).toBeCloseTo(3, 6)
    } finally {
      now.mockRestore()
    }
  })

  it.each(['adapter:flaky', 'price'])('with something that failed is not sent again: %s', async (failing) => {
    const { chain } = countedChain()
    let isDown = true
    const failAs = (source: string) => {
      if (isDown && failing === source) throw new Error('planted')
    }
    const flaky: Adapter = {
      name: 'flaky',
      ask: async () => {
        failAs('adapter:flaky')
        return { reads: [], answer: () => ({ items: [] }) }
      },
    }
    const findPrices: Portfolio['findPrices'] = async (...asked) => {
      failAs('price')
      return realFindPrices(...asked)
    }
    const ctx = context([chain], { adapters: [flaky, ...listAdapters()], findPrices })
    const failures = (body: PreparedBody) =>
      parse(body).portfolio.holdings.wallets[0]?.errors.filter(
        ({ source, error }) => source === 'adapter:flaky' || error.includes('right now'),
      )
    expect(failures(await serve(ctx, own))).toMatchObject([{ source: failing }])
    isDown = false
    expect(failures(await serve(ctx, own))).toEqual([])
  })
})

describe('a chain', () => {
  it('whose native token is called otherwise is told with the new name', async () => {
    const ctx = context([real()])
    const symbolOf = async () => (await read(ctx)).tokens.find(({ isNative }) => isNative)?.symbol
    const before = await symbolOf()
    const [{ native } = { native: '' }] = await world.earn.db<{ native: string }[]>`
      select native_symbol as native from chains where chain_id = ${world.chainId}`
    expect(before).toBe(native)
    await world.earn.db`update chains set native_symbol = 'NEW' where chain_id = ${world.chainId}`
    await world.refresh()
    try {
      expect(await symbolOf()).toBe('NEW')
    } finally {
      await world.earn.db`update chains set native_symbol = ${native} where chain_id = ${world.chainId}`
      await world.refresh()
    }
  })

  it('that reorganises while it is read is told of one block, the new one', async () => {
    let times = 0
    await world.anvil.client.mine({ blocks: 2 })
    const before = await world.anvil.client.getBlock()
    const { chain } = countedChain(async (method) => {
      if (method === 'batch' && times++ === 0)
        await world.anvil.client.request({ method: 'anvil_reorg', params: [1, []] } as never)
    })
    const wallet = await read(context([chain]))
    const head = await world.anvil.client.getBlock()
    expect([head.number, head.hash === before.hash]).toEqual([before.number, false])
    expect(wallet.asOf).toMatchObject([{ blockNumber: Number(head.number), blockHash: head.hash }])
    // The first batch was of the block that is gone.
    expect(times).toBeGreaterThan(1)
    expect(wallet.errors).toEqual([])
    expect(Number(wallet.totalUsd)).toBeCloseTo(1_005, 2)
  })

  it('whose node answers of another block than asked is named, and nothing of it is told', async () => {
    const { chain } = countedChain()
    const lying: Rpc = {
      ...chain.rpc,
      request: async (asked) => {
        const told = await chain.rpc.request(asked)
        const isHead = asked.method === 'eth_getBlockByNumber'
        return isHead ? { ...(told as object), timestamp: '0x1' } : told
      },
    }
    const wallet = await read(context([{ ...chain, rpc: { ...lying, batch: chain.rpc.batch } }]))
    expect(wallet).toMatchObject({ totalUsd: '0', tokens: [], protocols: [], asOf: [] })
    expect(wallet.errors).toMatchObject([{ chainId: world.chainId, source: 'rpc' }])
  })

  it('that is listed and not read by the installation is named, and is no error', async () => {
    expect(await read(context([]))).toMatchObject({ errors: [], unwatched: [world.chainId] })
  })
})

describe('a wallet', () => {
  it.each([
    ['that has nothing', () => '0x00000000000000000000000000000000000e0e0e', () => 0n],
    ['that is a contract', () => vault.address, () => world.balance(dollar, vault.address)],
    ['that is the zero address', () => zeroAddress, () => 0n],
    ['whose checksum is wrong', () => alice.address.replace('dc', 'DC'), () => world.balance(dollar, alice.address)],
  ])('%s is answered with what it has', async (_name, address, idle) => {
    const wallet = await read(context([real()]), address())
    expect(wallet.errors).toEqual([])
    expect(wallet.asOf).toHaveLength(1)
    const told = wallet.tokens.find((row) => row.address === dollar)?.amountRaw ?? '0'
    expect(told).toBe(String(await idle()))
  })
})
