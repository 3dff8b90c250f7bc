import type { Database } from '../../src/postgres/pool.js'
import { changeCatalogue, observePrice, prepareChain, type Shared } from './catalogue.js'
import { Crash, createDeaths, isRejected } from './deaths.js'
import type { ModelBlock } from './model.js'
import { type Course, createModelChain, type Forks } from './modelChain.js'
import { createModelNode } from './modelNode.js'
import type { Random } from './random.js'
import type { Rules } from './recountCredits.js'
import { openSink, rebuild, rewind, type Watcher, watch } from './underTest.js'

/** Connections of the watchers of a process. */
export const connections = 4

/** What chains played side by side have in common. */
export type Stage = {
  db: Database
  /** The watchers' own connections to the same database: they die with them. */
  watching: Database
  shared: Shared
  /** How often something came in between: processes killed, steps that failed, steps another process came into. */
  counts: { kills: number; failures: number; interruptions: number }
  /** Tells that distributors changed: ledgers of all chains lose entries without a retraction. */
  onDistributors: () => void
  /** Whether some chain is derived again: there is one rebuild of a database at a time, so another one would wait for it. */
  isRebuilding: boolean
}

export type Outcome = {
  chainId: number
  confirmations: number
  blocks: ModelBlock[]
  rules: Rules
  forks: Forks
  /** How many blocks each reorganisation the watcher followed took back. */
  reorgs: number[]
  /** Ledger entries that were ever committed; undefined when the catalogue changed, which takes entries away too. */
  committed: ReadonlySet<string> | undefined
}

export type PlayedChain = Awaited<ReturnType<typeof openChain>>

export type ChainInput = {
  chainId: number
  random: Random
  confirmations: number
  /** How likely a chain begins with a hundred blocks. */
  longShare: number
  /** How many times the chain changes before it comes to rest. */
  turns: readonly [number, number]
  /** Whether there are prices; they come and go with the chain's own chances. */
  isPriced: boolean
  /** What happens on other chains between the reading and the writing of a step, and before a transaction ends. */
  meanwhile: () => Promise<void>
} & Course

/**
 * A chain that grows and forks, a node that lies, a watcher that is killed, a catalogue that changes. It is played in
 * pieces: between any two of them another chain may go on.
 */
export async function openChain(stage: Stage, input: ChainInput) {
  const { db, shared, counts } = stage
  const { chainId, random, confirmations, meanwhile } = input
  const isLong = random.chance(input.longShare)
  const world = createModelChain(random, chainId, isLong, input)
  const base = world.blocks[0]?.number ?? 0
  const rules = await prepareChain(db, shared, { chainId, base, confirmations })
  const chain = { rules, world }
  const watching = withPause(stage.watching, meanwhile)
  const place = { db: watching, chainId }
  const faults = { share: 0 }
  const node = createModelNode({
    chainId,
    chain: () => world.blocks,
    stale: world.stale,
    finalized: () => (isLong ? Math.max(base, world.highest - 80) : null),
    random,
    faults,
    between: () => {
      if (!isOver && random.chance(0.01)) world.change()
    },
  })
  let isOver = false
  const committed = new Set<string>()
  let isCatalogueChanged = false
  let isInterrupted = false
  let isConnectionLost = false
  let lastError: unknown

  const change = async () => {
    const concerned = await changeCatalogue(db, random, shared, chain)
    isCatalogueChanged = true
    if (concerned === 'every') stage.onDistributors()
  }
  /** What another process does between the reading and the writing of a step: it watches, rewinds, rebuilds, changes. */
  const interrupt = async (): Promise<void> => {
    await meanwhile()
    if (isOver || isInterrupted || !random.chance(0.02)) return
    isInterrupted = true
    counts.interruptions += 1
    try {
      switch (random.int(0, 4)) {
        case 0:
          await rewind(place, (world.blocks.at(-1)?.number ?? 0) - random.int(0, 20))
          break
        case 1:
          await deriveAgain()
          break
        case 2:
          await change()
          break
        default:
          for (let steps = random.int(1, 4); steps > 0; steps--) await other.step()
      }
    } catch (error) {
      counts.failures += 1
      if (isRejected(error)) throw error
    } finally {
      isInterrupted = false
    }
  }
  const deriveAgain = async () => {
    if (stage.isRebuilding) return
    stage.isRebuilding = true
    try {
      await rebuild(place)
    } finally {
      stage.isRebuilding = false
    }
  }
  const open = (): Watcher => {
    const { inside, wrap } = createDeaths({
      random,
      isCrashing: () => !isOver,
      committed,
      interrupt,
      onLoss: () => {
        isConnectionLost = true
      },
    })
    return watch({ chainId, confirmations, node, sink: wrap(openSink(place, inside)), random: random.next })
  }
  let watcher = open()
  let other = open()
  const step = async (): Promise<'progress' | 'idle' | 'stalled'> => {
    try {
      return await watcher.step()
    } catch (error) {
      counts.failures += 1
      if (error instanceof Crash) {
        counts.kills += 1
        watcher = open()
      } else lastError = error
      // A key that is there already would be something derived twice.
      if (isRejected(error)) throw error
      return 'progress'
    } finally {
      if (isConnectionLost) await settle(stage.watching)
      isConnectionLost = false
    }
  }

  return {
    chainId,
    world,
    /** What happens while the chain changes, in pieces. */
    turns: async function* (): AsyncGenerator<void, void> {
      const turns = random.int(...input.turns)
      for (let turn = 0; turn < turns; turn++) {
        // Calm and stormy times, so that steps of many calls succeed now and then.
        faults.share = random.pick([0, 0.01, 0.03, 0.1])
        world.change()
        if (random.chance(0.12)) await change()
        if (input.isPriced && random.chance(0.3)) await observePrice(db, random, chain)
        if (random.chance(0.1)) {
          counts.kills += 1
          watcher = open()
        }
        // The lock passes to the other process; this one may wake up once more and not know.
        if (random.chance(0.2)) [watcher, other] = [other, watcher]
        // Most of the time the watcher is at the head before the chain moves again: only there forks concern it.
        const most = random.chance(0.7) ? 15 : random.int(0, 3)
        for (let steps = 0; steps < most; steps++) {
          if ((await step()) === 'idle') break
          yield
        }
        yield
      }
    },
    /** What an operator does of another chain's schedule: takes this one back, or derives it again. */
    disturb: async (by: Random): Promise<void> => {
      try {
        if (by.chance(0.5)) await rewind(place, (world.blocks.at(-1)?.number ?? 0) - by.int(0, 20))
        else await deriveAgain()
      } catch (error) {
        counts.failures += 1
        if (isRejected(error)) throw error
      }
    },
    /** Ends the watcher, which knows nothing of it; another one takes its place. */
    kill: () => {
      watcher = open()
    },
    markChanged: () => {
      isCatalogueChanged = true
    },
    /** The faults end, one more block comes, and everything must come to rest. */
    rest: async function* (): AsyncGenerator<void, void> {
      faults.share = 0
      isOver = true
      world.mine(1)
      for (let quiet = 0, steps = 0; quiet < 2; steps++) {
        if (steps > 400) throw new Error(`chain ${chainId}: the watcher never came to rest`, { cause: lastError })
        const result = await step()
        if (result === 'stalled') {
          const [cursor] = await db`select * from chain_cursors where chain_id = ${chainId}`
          throw new Error(`chain ${chainId}: stalled: ${JSON.stringify(cursor)} top ${world.blocks.at(-1)?.number}`)
        }
        quiet = result === 'idle' ? quiet + 1 : 0
        yield
      }
    },
    finish: async (): Promise<Outcome> => {
      const reorgs = await db<{ depth: number }[]>`
        select (old_number - ancestor_number)::int as depth from chain_reorgs where chain_id = ${chainId}`
      return {
        chainId,
        confirmations,
        rules,
        blocks: [...world.blocks],
        forks: world.forks,
        reorgs: reorgs.map(({ depth }) => depth),
        committed: isCatalogueChanged ? undefined : committed,
      }
    },
  }
}

/** The same connections; before a transaction ends, all it wrote and locked in place, something else happens. */
function withPause(db: Database, pause: () => Promise<void>): Database {
  const begin: Database['begin'] = (work) =>
    db.begin(async (tx) => {
      const result = await work(tx)
      await pause()
      return result
    })
  return new Proxy(db, { get: (target, name) => (name === 'begin' ? begin : Reflect.get(target, name)) })
}

/**
 * Lets the loss of a connection be noticed before anything else happens, whenever that is: else what fails next depends
 * on time, and a seed would not play the same schedule twice.
 */
async function settle(db: Database): Promise<void> {
  for (let round = 0; round < 2; round++)
    await Promise.all(Array.from({ length: connections }, () => db`select 1`.catch(() => undefined)))
}
