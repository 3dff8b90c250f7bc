import { type Address, toEventSelector } from 'viem'
import type { DeriveConfig } from '../../src/derive/config.js'
import type { RawBlock, RawLog, RawTransaction } from '../../src/rpc/raw.js'
import { call, chainId, codes, router, vault, who, zero } from '../handChain.js'
import type { Random } from '../simulation/random.js'
import { topics } from '../topics.js'
import type { Fact, Rules } from './recount.js'

/** Random histories of a vault whose shares lie in holders of all three kinds, some of which lie. */

export const [stake, gauge, market] = ['57a4e', '9a49e', '3a4ce7'].map(who) as [Address, Address, Address]
const marketId = `0x${'4d'.repeat(32)}`
export const wallets = ['a1', 'b2', 'c3', 'd4', 'e5'].map(who) as [Address, Address, Address, Address, Address]
const names = ['alpha', 'beta'] as const
const topicOf = {
  staked: toEventSelector('Staked(address,uint256)'),
  withdrawn: toEventSelector('Withdrawn(address,uint256)'),
  supplied: toEventSelector('SupplyCollateral(bytes32,address,address,uint256)'),
  taken: toEventSelector('WithdrawCollateral(bytes32,address,address,address,uint256)'),
  liquidated: toEventSelector('Liquidate(bytes32,address,address,uint256,uint256,uint256,uint256,uint256)'),
  upgraded: toEventSelector('Upgraded(address)'),
}
const pad = (value: string | bigint) =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0')

export type Transaction = {
  from: Address
  to: Address
  input: string
  logs: Pick<RawLog, 'address' | 'topics' | 'data'>[]
  facts: Fact[]
}

/** A history: its configuration, and per block its instant and transactions. */
export type History = {
  config: DeriveConfig
  rules: Rules
  blocks: { block: RawBlock; transactions: Transaction[] }[]
}

const declarations = { [stake]: 'staking', [gauge]: 'gauge', [market]: 'collateral' } as const
type HolderAddress = typeof stake

export function createHistory(random: Random, { length, lies }: { length: number; lies: boolean }): History {
  const late = random.pick([stake, gauge, market])
  const declared = new Map<string, number[]>(
    [stake, gauge, market].map((holder) => [
      holder,
      [holder === late && random.chance(0.5) ? 10 * random.int(2, length) : 0],
    ]),
  )
  const again = random.pick([stake, gauge, market])
  declared.get(again)?.push(10 * random.int(length, 2 * length))
  const holders = [...declared].flatMap(([address, dates]) =>
    dates.map((from) => ({
      ...{ address, kind: declarations[address as HolderAddress] ?? '', from },
      ...(address === market ? { markets: [marketId] } : {}),
    })),
  )
  // Instants at which the view of a holder was found to contradict its events, at a block or between two.
  const doubts = [stake, gauge, market].flatMap((holder) =>
    lies && random.chance(0.3) ? [{ holder, at: 5 * random.int(0, 4 * length) }] : [],
  )
  const config: DeriveConfig = {
    chainId,
    vaults: [
      {
        ...{ id: 1, address: vault, kind: 'erc4626', receiptToken: vault, asset: zero, assetDecimals: 6, escrow: null },
        ...{ startBlock: 1, activeFrom: 0, holders, doubts },
      },
    ],
    distributors: new Map(names.map((name) => [name, 0])),
    signedOnly: new Map(),
    signers: new Set(),
    entryPoints: [],
  }
  const world = createWorld(random, lies)
  const blocks = Array.from({ length: 2 * length }, (_, index) => {
    const transactions = Array.from({ length: random.int(1, 3) }, world.act).filter(({ logs }) => logs.length > 0)
    return { block: toBlock(index + 1, transactions), transactions }
  })
  return { config, rules: { vault, zero, declared, doubts }, blocks }
}

function toBlock(number: number, transactions: readonly Transaction[]): RawBlock {
  const logs: RawLog[] = []
  const inputs: RawTransaction[] = transactions.map(({ from, to, input, logs: own }, transactionIndex) => {
    const hash = `0x${pad(BigInt(number) * 256n + BigInt(transactionIndex) + 1n)}`
    const place = { blockNumber: number, transactionIndex, transactionHash: hash }
    for (const each of own) logs.push({ ...place, ...each, logIndex: logs.length })
    return { ...{ blockNumber: number, transactionIndex, hash, from, to, input } }
  })
  return {
    ...{ number, hash: hashOf(number), parentHash: hashOf(number - 1), timestamp: number * 10 },
    ...{ logs, transactions: inputs },
  }
}

export const hashOf = (number: number): string => `0x${pad(BigInt(number) + (1n << 200n))}`

/** What a transaction tells, as logs and as facts of the same order. */
function createTelling() {
  const logs: Transaction['logs'] = []
  const facts: Fact[] = []
  const tell = (address: string, first: string, indexed: (string | bigint)[], data: (string | bigint)[]) =>
    logs.push({
      ...{ address, topics: [first, ...indexed.map((value) => `0x${pad(value)}`)] },
      data: `0x${data.map(pad).join('')}`,
    })
  const at = () => logs.length - 1
  const move = (from: string, to: string, amount: bigint) => {
    tell(vault, topics.transfer, [from, to], [amount])
    facts.push({ at: at(), kind: 'transfer', from, to, amount })
  }
  const enter = (holder: string, account: string, shares: bigint) => {
    if (holder === stake) tell(stake, topicOf.staked, [account], [shares])
    else if (holder === gauge) tell(gauge, topics.transfer, [zero, account], [shares])
    else tell(market, topicOf.supplied, [marketId, account, account], [shares])
    facts.push({ at: at(), kind: 'in', holder, account, shares, emitsFirst: holder === market })
  }
  const leave = (holder: string, account: string, shares: bigint, isLiquidation = false) => {
    if (holder === stake) tell(stake, topicOf.withdrawn, [account], [shares])
    else if (holder === gauge) tell(gauge, topics.transfer, [account, zero], [shares])
    else if (isLiquidation) tell(market, topicOf.liquidated, [marketId, account, account], [1n, 1n, shares, 0n, 0n])
    else tell(market, topicOf.taken, [marketId, account, account], [account, shares])
    facts.push({ at: at(), kind: 'out', holder, account, shares, emitsFirst: holder === market && !isLiquidation })
  }
  return {
    ...{ logs, facts, move },
    deposit: (sender: string, owner: string, shares: bigint, code: string | null) => {
      move(zero, owner, shares)
      tell(vault, topics.deposit, [sender, owner], [shares, shares])
      facts.push({ at: at(), kind: 'deposit', owner, shares, code })
    },
    withdraw: (sender: string, owner: string, shares: bigint, code: string | null) => {
      move(owner, zero, shares)
      tell(vault, topics.withdraw, [sender, owner, owner], [shares, shares])
      facts.push({ at: at(), kind: 'withdraw', owner, shares, code })
    },
    enter,
    leave,
    /** Shares of `from` into a holder for an account, as its kind tells it; `says` is what it claims. */
    put: (holder: string, from: string, account: string, amount: bigint, says = amount) => {
      if (holder === market) enter(holder, account, says)
      move(from, holder, amount)
      if (holder !== market) enter(holder, account, says)
    },
    take: (holder: string, account: string, to: string, amount: bigint, says = amount) => {
      if (holder === market) leave(holder, account, says)
      move(holder, to, amount)
      if (holder !== market) leave(holder, account, says)
    },
    receipt: (from: string, to: string, shares: bigint) => {
      tell(gauge, topics.transfer, [from, to], [shares])
      facts.push({ at: at(), kind: 'move', holder: gauge, account: from, to, shares })
    },
    upgrade: (holder: string) => {
      tell(holder, topicOf.upgraded, [who('c0de')], [])
      facts.push({ at: at(), kind: 'upgrade', holder })
    },
    liquidate: (account: string, to: string, shares: bigint) => {
      move(market, to, shares)
      leave(market, account, shares, true)
    },
    /** An event alone. */
    forge: (holder: string, kind: 'in' | 'out', account: string, shares: bigint) =>
      (kind === 'in' ? enter : leave)(holder, account, shares),
  }
}

/** Wallets that act, with what the contracts keep for each: only what a contract could do is done, unless it lies. */
function createWorld(random: Random, lies: boolean) {
  const own = new Map<string, bigint>()
  const kept = new Map<string, bigint>()
  const has = (map: Map<string, bigint>, key: string) => map.get(key) ?? 0n
  const add = (map: Map<string, bigint>, key: string, n: bigint) => map.set(key, has(map, key) + n)
  const key = (holder: string, account: string) => `${holder} ${account}`
  const part = (all: bigint): bigint =>
    all === 0n ? 0n : random.chance(0.3) ? all : (all * BigInt(random.int(1, 99))) / 100n
  const amount = () => BigInt(random.chance(0.2) ? random.int(1, 9) : random.int(10, 1_000_000))
  const wallet = () => random.pick(wallets)
  const holder = () => random.pick([stake, gauge, market])
  const act = (): Transaction => {
    const telling = createTelling()
    const [me, you, at, beside] = [wallet(), wallet(), holder(), holder()]
    const code = random.chance(0.7) ? random.pick(names) : null
    const plain = (input = '0x'): Transaction => ({
      ...{ from: me, to: at, input },
      logs: telling.logs,
      facts: telling.facts,
    })
    /** The transaction, after what was told in it. */
    const after = (_told: unknown): Transaction => plain()
    const coded = (to: Address, input: string): Transaction => ({
      ...{ from: me, to, input: `${input}${code === null ? '' : codes(code)}` },
      ...{ logs: telling.logs, facts: telling.facts },
    })
    const put = (from: string, account: string, n: bigint, into: string = at) => {
      if (n === 0n) return
      add(own, from, -n)
      add(kept, key(into, account), n)
      telling.put(into, from, account, n)
    }
    const take = (account: string, to: string, n: bigint, out: string = at) => {
      if (n === 0n) return
      add(kept, key(out, account), -n)
      add(own, to, n)
      telling.take(out, account, to, n)
    }
    const acts: Record<string, () => Transaction> = {
      deposit: () => {
        const n = amount()
        add(own, me, n)
        telling.deposit(me, me, n, code)
        return coded(vault, call.deposit(n, me))
      },
      withdraw: () => {
        const n = part(has(own, me))
        if (n > 0n) telling.withdraw(me, me, n, code)
        add(own, me, -n)
        return coded(vault, call.redeem(n, me, me))
      },
      send: () => {
        const n = part(has(own, me))
        telling.move(me, you, n)
        add(own, me, -n)
        add(own, you, n)
        return plain()
      },
      stake: () => after(put(me, random.chance(0.8) ? me : you, part(has(own, me)))),
      unstake: () => after(take(me, random.chance(0.8) ? me : you, part(has(kept, key(at, me))))),
      receipt: () => {
        const n = part(has(kept, key(gauge, me)))
        telling.receipt(me, you, n)
        add(kept, key(gauge, me), -n)
        add(kept, key(gauge, you), n)
        return plain()
      },
      /** A router deposits for itself and stakes for the caller. */
      depositAndStake: () => {
        const n = amount()
        telling.deposit(router, router, n, code)
        add(own, router, n)
        put(router, me, random.chance(0.8) ? n : part(n))
        const rest = has(own, router)
        if (rest > 0n) telling.move(router, me, rest)
        add(own, router, -rest)
        add(own, me, rest)
        return coded(router, call.zap(n, me))
      },
      /** Straight on: what comes out of one holder goes into another, or the same again, for the same account. */
      migrate: () => {
        take(me, me, part(has(kept, key(at, me))))
        put(me, me, part(has(own, me)), beside)
        return plain()
      },
      /** Old shares are redeemed out of a holder, new ones deposited and staked. */
      redeemAndDeposit: () => {
        const n = part(has(kept, key(at, me)))
        if (n > 0n) {
          take(me, me, n)
          telling.withdraw(me, me, n, code)
          add(own, me, -n)
        }
        const fresh = amount()
        telling.deposit(router, router, fresh, code)
        add(own, router, fresh)
        put(router, me, fresh, beside)
        return coded(router, call.zap(fresh, me))
      },
      /** The holder redeems for the account. */
      exit: () => {
        const n = part(has(kept, key(at, me)))
        if (n === 0n) return plain()
        add(kept, key(at, me), -n)
        if (at === market) telling.leave(at, me, n)
        telling.withdraw(at, at, n, code)
        if (at !== market) telling.leave(at, me, n)
        return coded(at, call.zap(n, me))
      },
      bundle: () => {
        put(me, me, part(has(own, me)))
        put(you, you, part(has(own, you)), beside)
        return plain()
      },
      /** Both Transfers first, then both events. */
      mixedBundle: () => {
        const [mine, yours] = [part(has(own, me)), me === you ? 0n : part(has(own, you))]
        if (mine === 0n || yours === 0n || at === market) return plain()
        telling.move(me, at, mine)
        telling.move(you, at, yours)
        telling.enter(at, me, mine)
        telling.enter(at, you, yours)
        add(own, me, -mine)
        add(own, you, -yours)
        add(kept, key(at, me), mine)
        add(kept, key(at, you), yours)
        return plain()
      },
      liquidate: () => {
        const n = part(has(kept, key(market, you)))
        if (n > 0n) telling.liquidate(you, me, n)
        add(kept, key(market, you), -n)
        add(own, me, n)
        return plain()
      },
      /** One holder as an account of another: it is none. */
      nested: () => {
        const n = part(has(own, me))
        if (n === 0n || at === beside) return plain()
        put(me, at, n, beside)
        return plain()
      },
      across: () => {
        const n = part(has(kept, key(at, me)))
        if (n === 0n || at === beside || at === market || beside === market) return plain()
        telling.move(at, beside, n)
        telling.leave(at, me, n)
        telling.enter(beside, me, n)
        add(kept, key(at, me), -n)
        add(kept, key(beside, me), n)
        return plain()
      },
      dropped: () => {
        const n = part(has(own, me))
        telling.move(me, at, n)
        add(own, me, -n)
        return plain()
      },
    }
    const liesOf: Record<string, () => Transaction> = {
      forgedIn: () => after(telling.forge(at, 'in', you, amount())),
      forgedOut: () => after(telling.forge(at, 'out', you, amount())),
      zero: () => {
        telling.move(me, at, 0n)
        telling.forge(at, random.pick(['in', 'out'] as const), you, 0n)
        return plain()
      },
      doubled: () => {
        const n = part(has(own, me))
        if (n === 0n) return plain()
        put(me, me, n)
        telling.forge(at, 'in', you, n)
        return plain()
      },
      /** It says more than came, or than the account has. */
      says: () => {
        const n = part(has(own, me))
        if (n === 0n) return plain()
        telling.put(at, me, me, n, 3n * n)
        add(own, me, -n)
        add(kept, key(at, me), n)
        return plain()
      },
      others: () => {
        const n = part(has(kept, key(at, me)))
        if (n === 0n) return plain()
        telling.take(at, you, me, n)
        add(kept, key(at, me), -n)
        add(own, me, n)
        return plain()
      },
      silent: () => {
        const n = part(has(kept, key(at, me)))
        if (n === 0n) return plain()
        telling.move(at, me, n)
        add(kept, key(at, me), -n)
        add(own, me, n)
        return plain()
      },
      overdrawn: () => after(telling.receipt(me, you, amount())),
      upgraded: () => after(telling.upgrade(at)),
    }
    const isLie = lies && random.chance(0.06)
    const [name, run] = random.pick(Object.entries(isLie ? liesOf : acts))
    const done = run()
    counts.set(name, (counts.get(name) ?? 0) + (done.logs.length > 0 ? 1 : 0))
    return done
  }
  return { act }
}

/** How often each act was tried, so that a test sees that all were. */
export const counts = new Map<string, number>()
