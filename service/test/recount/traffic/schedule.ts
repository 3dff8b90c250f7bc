import type { DeriveVault } from '../../../src/derive/config.js'
import type { ReadBlock as RawBlock, RequestReading } from '../../../src/derive/settled.js'
import type { RawLog, RawTransaction } from '../../../src/rpc/raw.js'
import { wordOf } from '../bytes.js'
import { isPlain } from '../recount.js'
import { startRandom } from './random.js'
import { type Call, logsOf, pathsOf } from './tree.js'
import { priceOf } from './waiting.js'
import { config, contracts, openWorld, queued, rounding, type World } from './world.js'
import { chooseRun, operationEnded } from './wraps.js'

const keyOf = ({ vault, kind, controller, requestId }: RequestReading): string =>
  `${vault}:${kind}:${controller}:${requestId}`

/** What is left of every request id, as a vault answers: pending and claimable together; one tells it rounded. */
function readWaiting({ waiting, byHand }: World): Map<string, RequestReading> {
  const readings = new Map<string, RequestReading>()
  const sides = new Map<string, DeriveVault>()
  for (const { vault, kind, controller, id, left: asked } of waiting) {
    // A queue adds to each what it has processed for the wallet.
    const left = vault === queued ? asked + (byHand.get(controller) ?? 0n) : asked
    const reading = { vault: vault.address, kind, controller, requestId: id, before: 0n, after: left }
    const known = readings.get(keyOf(reading))
    readings.set(keyOf(reading), known ? { ...known, after: (known.after as bigint) + left } : reading)
    sides.set(keyOf(reading), vault)
  }
  for (const [key, reading] of readings)
    if (sides.get(key) === rounding && reading.kind === 'deposit') {
      const { shares, assets } = priceOf(rounding)
      readings.set(key, { ...reading, after: ((((reading.after as bigint) * shares) / assets) * assets) / shares })
    }
  return readings
}

/**
 * Whether an account has two operations in it. Without logs in the trace the service leaves the later one unattributed where
 * the calls would tell; that is not compared.
 */
function isTwiceOf(root: Call): boolean {
  const senders = logsOf(root).flatMap(({ topics }) => (topics[0] === operationEnded ? [topics[2]] : []))
  return new Set(senders).size < senders.length
}

/** A few blocks of random traffic, now and then so many that what was asked for is claimed and sold, the same for the same seed, with both evidences. */
export function writeSchedule(seed: number, onRun: (root: Call) => void = () => undefined): RawBlock[] {
  const random = startRandom(seed)
  const world = openWorld(random, startRandom(seed + 1_000_000), startRandom(seed + 2_000_000))
  const blocks: RawBlock[] = []
  const few = random.chance(0.1) ? 30 : 3 + random.below(6)
  // An order is asked for when its deposit is no longer locked, and paid after that.
  const count = world.isSelling ? few + 12 : few
  let before = new Map<string, RequestReading>()
  for (let number = 1; number <= count; number += 1) {
    const logs: RawLog[] = []
    const transactions: RawTransaction[] = []
    world.time = 1_000 + number
    const size = 1 + random.below(3)
    for (let transactionIndex = 0; transactionIndex < size; transactionIndex += 1) {
      const { root } = chooseRun(world)
      onRun(root)
      const hash = `0x${wordOf(BigInt(seed * 10_000 + number * 100 + transactionIndex))}`
      const place = { blockNumber: number, transactionIndex }
      const firstLog = logs.length
      for (const said of logsOf(root)) logs.push({ ...place, ...said, logIndex: logs.length, transactionHash: hash })
      const transaction: RawTransaction = {
        ...place,
        hash,
        from: root.caller,
        to: root.target,
        input: `0x${root.data}`,
        contracts,
      } as RawTransaction
      const block = { number, hash: '', parentHash: '', timestamp: 1_000 + number, logs, transactions: [transaction] }
      const kind = random.below(10)
      const hasLogs = random.chance(0.75) || isTwiceOf(root)
      if (!isPlain(block, transaction, config) || random.chance(0.2))
        transaction.evidence = kind < 6 ? pathsOf(root, firstLog, hasLogs, random.chance(0.5)) : 'no trace'
      transactions.push(transaction)
    }
    const after = readWaiting(world)
    const requestReadings = [...after.values()].flatMap((reading): RequestReading[] => {
      const known = before.get(keyOf(reading))?.after ?? 0n
      if (random.chance(0.1)) return []
      return [{ ...reading, before: random.chance(0.05) ? 'unknown' : known }]
    })
    before = after
    blocks.push({
      ...(random.chance(0.7) ? { requestReadings } : {}),
      number,
      hash: `0x${wordOf(BigInt(seed * 10_000 + number))}`,
      parentHash: '0x',
      timestamp: 1_000 + number,
      logs,
      transactions,
    })
  }
  return blocks
}
