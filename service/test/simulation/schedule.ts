import type { Database } from '../../src/postgres/pool.js'
import { prepareShared } from './catalogue.js'
import { type ChainInput, type Outcome, openChain, type PlayedChain, type Stage } from './playedChain.js'
import { createRandom, type Random } from './random.js'

export type Played = {
  /** The product all vaults of the schedule are in. */
  productId: string
  chains: Outcome[]
  /** Processes killed, steps that failed, and steps another process came in between of. */
  kills: number
  failures: number
  interruptions: number
  /** How often one chain went on while the other was being read or written, and transactions sent on both. */
  crossings: number
  replays: number
}

type Databases = { db: Database; watching: Database; organizationId: string }

const confirmationsOf = (seed: number) => 1 + (seed % 3) * 6

/** Plays one chain by itself. */
export async function playAlone(databases: Databases, seed: number): Promise<Played> {
  const stage = await openStage(databases)
  const chain = await openChain(stage, {
    chainId: 1_000_000 + seed,
    random: createRandom(seed),
    confirmations: confirmationsOf(seed),
    longShare: 0.1,
    turns: [4, 8],
    isPriced: false,
    meanwhile: async () => undefined,
  })
  for await (const _ of chain.turns());
  for await (const _ of chain.rest());
  const { productId } = stage.shared
  return { productId, chains: [await chain.finish()], ...stage.counts, crossings: 0, replays: 0 }
}

/**
 * Plays one chain until it comes to rest, then forks it and lets it come to rest again, so many times. Gives what there is
 * at every rest: before each reorganisation and after it.
 */
export async function* playForks(databases: Databases, seed: number, forks: number): AsyncGenerator<Outcome, void> {
  const chain = await openChain(await openStage(databases), {
    chainId: 30_000_000 + seed,
    random: createRandom(seed),
    confirmations: 1 + (seed % 3),
    longShare: 0,
    turns: [4, 8],
    deepShare: 0.8,
    isPriced: false,
    meanwhile: async () => undefined,
  })
  for await (const _ of chain.turns());
  for (let fork = 0; ; fork++) {
    for await (const _ of chain.rest());
    yield await chain.finish()
    if (fork === forks) return
    const { depths } = chain.world.forks
    for (const before = depths.length; depths.length === before; ) chain.world.change()
  }
}

/** Where chains begin. In most pairs these are far apart: all of one chain is above all of the other. */
const heights = [0, 21_000_000, 280_000_000]

/**
 * Plays two chains side by side, with the same wallets, vaults' addresses, distributors and key. One goes on between any
 * two steps of the other, between the reading and the writing of a step, and while a transaction of the other is about to
 * end. Transactions of one may be sent on the other too; some pairs have the same blocks up to a hard fork.
 */
export async function playPair(databases: Databases, seed: number): Promise<Played> {
  const stage = await openStage(databases)
  const tally = { crossings: 0, replays: 0 }
  const interplay = createRandom(-seed)
  const chains: PlayedChain[] = []
  stage.onDistributors = () => {
    for (const chain of chains) chain.markChanged()
  }
  const runs: { chain: PlayedChain; turns: AsyncGenerator<void, void>; isOver: boolean; isBusy: boolean }[] = []
  let failure: unknown
  let isCrossed = false
  const advance = async (run: (typeof runs)[number]) => {
    if (run.isOver || run.isBusy) return
    run.isBusy = true
    run.isOver = (await run.turns.next()).done === true
    run.isBusy = false
  }
  /** The other chain goes on, or an operator takes it up. */
  const meanwhile = async (side: number): Promise<void> => {
    const other = runs[1 - side]
    if (!other || isCrossed || runs.every((run) => run.isOver) || !interplay.chance(0.06)) return
    isCrossed = true
    tally.crossings += 1
    try {
      if (interplay.chance(0.2) && !other.isBusy) await other.chain.disturb(interplay)
      else for (let pieces = interplay.int(1, 3); pieces > 0; pieces--) await advance(other)
    } catch (error) {
      // Thrown into a step of the other chain, it might pass for a fault of that one.
      failure ??= error
      throw error
    } finally {
      isCrossed = false
    }
  }
  const isKin = interplay.chance(0.3)
  const first = interplay.pick(heights)
  const second = isKin || interplay.chance(0.3) ? first : interplay.pick(heights.filter((height) => height !== first))
  const period = interplay.pick([12, 12, 2, 0.25])
  const inputOf = (side: number): ChainInput => ({
    chainId: 10_000_000 + 2 * seed + side,
    random: side === 0 ? createRandom(seed) : createRandom(interplay.int(1, 2 ** 21)),
    confirmations: confirmationsOf(seed + side),
    longShare: 0.08,
    turns: [2, 3],
    forkShare: 0.55,
    deepShare: 0.5,
    isPriced: true,
    meanwhile: () => meanwhile(side),
  })
  const one = await openChain(stage, { ...inputOf(0), base: first, period })
  const history = isKin ? grow(one, interplay) : undefined
  const otherPeriod = isKin ? period : interplay.pick([12, 12, 2, 0.25])
  const course = { base: second, period: otherPeriod, ...(history && { history }) }
  chains.push(one, await openChain(stage, { ...inputOf(1), ...course }))
  for (const chain of chains) runs.push({ chain, turns: chain.turns(), isOver: false, isBusy: false })
  while (runs.some((run) => !run.isOver)) {
    const run = interplay.pick(runs.filter((each) => !each.isOver))
    if (interplay.chance(0.08)) tally.replays += replay(interplay, chains, runs.indexOf(run))
    // The watchers of all chains are of one process.
    if (interplay.chance(0.02)) {
      stage.counts.kills += 1
      for (const chain of chains) chain.kill()
    }
    await advance(run)
    if (failure !== undefined) throw failure
  }
  const rests = chains.map((chain) => chain.rest())
  for (let left = [...rests]; left.length > 0; ) {
    const rest = interplay.pick(left)
    if ((await rest.next()).done) left = left.filter((each) => each !== rest)
  }
  const outcomes: Outcome[] = []
  for (const chain of chains) outcomes.push(await chain.finish())
  return { productId: stage.shared.productId, chains: outcomes, ...stage.counts, ...tally }
}

async function openStage({ db, watching, organizationId }: Databases): Promise<Stage> {
  const shared = await prepareShared(db, organizationId)
  return {
    db,
    watching,
    shared,
    counts: { kills: 0, failures: 0, interruptions: 0 },
    onDistributors: () => undefined,
    isRebuilding: false,
  }
}

/** Some blocks of a chain that another one begins with. */
function grow({ world }: PlayedChain, random: Random) {
  world.mine(random.int(3, 12))
  return [...world.blocks]
}

/** Sends transactions of the other chain on one of them too. */
function replay(random: Random, chains: readonly PlayedChain[], side: number): number {
  const [to, from] = [chains[side], chains[1 - side]]
  if (!to || !from) return 0
  const recent = from.world.blocks.slice(-random.int(1, 6)).flatMap(({ transactions }) => transactions)
  to.world.replay(recent)
  return to.world.blocks.at(-1)?.transactions.length ?? 0
}
