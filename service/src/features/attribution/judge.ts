import { mayCarryAttribution } from '@openearn/attribution'
import { createAnswerCache, type Shelf } from '../../kernel/answerCache.js'
import { inFlight } from '../../kernel/async/inFlight.js'
import { systemClock } from '../../kernel/clock.js'
import type { Log } from '../../kernel/log.js'
import { loadNativeCurve } from '../../wallets/nativeCurve.js'
import { judge, type Subject } from './judgement.js'
import { type Judged, openJudgeThread, type ThreadOptions, type Verdict } from './judgeThread.js'

export type Judge = {
  judge(subject: Subject): Promise<Judged>
  /** Looks at something once, however many ask for it by its name at the same time. */
  once<T>(name: string, look: () => Promise<T>): Promise<T>
  /** Verdicts on transactions that are final, by name. */
  kept: Kept
  stop(): Promise<void>
}

export type Kept = {
  find(name: string): KeptVerdict | undefined
  keep(name: string, kept: KeptVerdict): void
}

/** `mark` is what the transaction was held against. */
export type KeptVerdict = { mark: string; verdict: Verdict; transaction: KeptTransaction }

/** The members of a transaction that a response shows, calldata apart. */
export type KeptTransaction = {
  chainId: number
  hash: string
  mined: { blockNumber: number; blockHash: string; transactionIndex: number; success: boolean } | undefined
}

/** `shelf` is where verdicts are kept. */
export type JudgeOptions = ThreadOptions & { shelf?: Shelf<KeptVerdict> }

/** Characters of hex and logs that cost at most a few milliseconds on the event loop: native code checks signatures. */
const inputMax = 2 + 2 * 2_048
const logsMax = 32
/** How long a verdict on a final transaction is believed: only an operator's rewind changes what is final. */
const keptMs = 600_000

const hasNativeCurve = loadNativeCurve() !== undefined

/**
 * Judges transactions of strangers. Short calldata, or calldata without a marker, is judged at once; everything else in a
 * separate thread, so that it never blocks the event loop.
 */
export function openJudge(ctx: { log: Log }, options: JudgeOptions = {}): Judge {
  const thread = openJudgeThread(ctx.log, options)
  const looks = inFlight<unknown>()
  const shelf = options.shelf ?? createAnswerCache().shelf<KeptVerdict>('verdict')
  return {
    judge: async (subject) => {
      if (!isCheap(subject)) return thread.judge(subject)
      const startMs = systemClock.monotonicMs()
      const judgement = judge(subject)
      return { verdict: { status: 'judged', judgement }, workMs: systemClock.monotonicMs() - startMs }
    },
    // A name is always looked for by the same caller, who gives one type.
    once: <T>(name: string, look: () => Promise<T>) => looks(name, look) as Promise<T>,
    kept: {
      find: shelf.find,
      keep: (name, value) => shelf.keep(name, value, 2 * JSON.stringify(value).length, keptMs),
    },
    stop: thread.stop,
  }
}

function isCheap({ input, logs }: Subject): boolean {
  if (logs.length > logsMax) return false
  return !mayCarryAttribution(input) || (hasNativeCurve && input.length <= inputMax)
}
