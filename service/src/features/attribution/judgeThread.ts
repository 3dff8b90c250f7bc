import { Worker } from 'node:worker_threads'
import { systemClock } from '../../kernel/clock.js'
import type { Log } from '../../kernel/log.js'
import type { Judgement, Subject } from './judgement.js'

/** The result for a subject: judged, given up because it took too long, or not begun because too many wait. */
export type Verdict = { status: 'judged'; judgement: Judgement } | { status: 'complex' } | { status: 'busy' }

/** A verdict with the milliseconds of computing it took. */
export type Judged = { verdict: Verdict; workMs: number }

export type JudgeThread = {
  judge(subject: Subject): Promise<Judged>
  /** Ends the thread; whatever waits is told that nobody will look at it. */
  stop(): Promise<void>
}

export type ThreadOptions = {
  /** The most one subject may take. */
  deadlineMs?: number
  /** The most a subject may wait for its turn while the thread is there, and how many may wait. */
  waitMs?: number
  waitingMax?: number
  /** Milliseconds after which an idle thread ends and frees its memory. */
  idleMs?: number
  /** How many times longer than usual, where no time is given. */
  patience?: number
  /** The file the thread runs. */
  entry?: URL
}

type Job = {
  subject: Subject
  settle(verdict: Verdict): void
  fail(error: Error): void
  /** Runs while it waits for a thread that is there. */
  timer?: NodeJS.Timeout
  /** When the thread took it up. */
  startMs?: number
}
type Message = { ready: true } | { judgement: Judgement } | { failure: string }

/** The worker file in this folder: TypeScript in the source, JavaScript in a build. */
const ownEntry = new URL(`judgeWorker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)
const startMs = 20_000

/**
 * One thread that judges subjects one after the other, away from the event loop. It is started by the first subject and
 * ended when one takes longer than its deadline or more memory than it has; the next subject starts another.
 */
export function openJudgeThread(log: Log, options: ThreadOptions = {}): JudgeThread {
  const { patience = 1, waitingMax = 64, idleMs = 60_000, entry = ownEntry } = options
  const { deadlineMs = 2_000 * patience, waitMs = 5_000 * patience } = options
  const waiting: Job[] = []
  let thread: { worker: Worker; ready: boolean; job: Job | undefined; timer: NodeJS.Timeout } | undefined
  let stopped = false

  const start = () => {
    const worker = new Worker(entry, { resourceLimits: { maxOldGenerationSizeMb: 192 } })
    // A caller that waits for a verdict keeps the process alive; the thread by itself does not.
    worker.unref()
    const own = { worker, ready: false, job: undefined as Job | undefined, timer: watchdog(startMs * patience) }
    thread = own
    worker.on('message', (message: Message) => {
      if (thread !== own) return
      clearTimeout(own.timer)
      const { job } = own
      own.job = undefined
      if (!own.ready) for (const one of waiting) arm(one)
      own.ready = true
      if (job && 'judgement' in message) job.settle({ status: 'judged', judgement: message.judgement })
      else if (job && 'failure' in message) job.fail(new Error(message.failure))
      next()
    })
    worker.on('error', (error) => {
      if (thread === own) giveUp(error)
    })
  }

  /** Ends the thread. The subject it was at was too much for it. */
  const giveUp = (reason: unknown) => {
    if (!thread) return
    const { worker, job, ready, timer } = thread
    thread = undefined
    clearTimeout(timer)
    void worker.terminate()
    log.warn({ err: reason }, 'the thread that judges transactions was ended')
    if (job) job.settle({ status: 'complex' })
    // One that never began is not begun again by itself.
    if (ready) next()
    else for (const one of waiting.splice(0)) drop(one)
  }

  const watchdog = (ms: number) => setTimeout(() => giveUp(new Error(`it took longer than ${ms} ms`)), ms)

  const next = () => {
    if (waiting.length > 0 && !thread) start()
    if (!thread?.ready || thread.job) return
    const job = waiting.shift()
    if (!job) {
      thread.timer = setTimeout(end, idleMs).unref()
      return
    }
    clearTimeout(job.timer)
    clearTimeout(thread.timer)
    job.startMs = systemClock.monotonicMs()
    thread.job = job
    thread.timer = watchdog(deadlineMs)
    thread.worker.postMessage(job.subject)
  }

  const arm = (job: Job) => {
    job.timer = setTimeout(() => {
      waiting.splice(waiting.indexOf(job), 1)
      job.settle({ status: 'busy' })
    }, waitMs)
  }

  const end = async () => {
    if (!thread) return
    const { worker, timer } = thread
    thread = undefined
    clearTimeout(timer)
    await worker.terminate()
  }

  const drop = (job: Job) => {
    clearTimeout(job.timer)
    job.settle({ status: 'busy' })
  }

  return {
    judge: (subject) =>
      new Promise((resolve, reject) => {
        if (stopped || waiting.length >= waitingMax) return resolve({ verdict: { status: 'busy' }, workMs: 0 })
        const job: Job = {
          subject,
          settle: (verdict) => {
            const workMs = job.startMs === undefined ? 0 : systemClock.monotonicMs() - job.startMs
            resolve({ verdict, workMs })
          },
          fail: reject,
        }
        waiting.push(job)
        if (thread?.ready) arm(job)
        next()
      }),
    stop: async () => {
      stopped = true
      const running = thread?.job
      for (const job of waiting.splice(0)) drop(job)
      await end()
      running?.settle({ status: 'busy' })
    },
  }
}
