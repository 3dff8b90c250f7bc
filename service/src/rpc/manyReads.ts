import { askerBytecode, readerBytecode } from '@openearn/contracts'
import { EarnError } from '../kernel/errors.js'
import { OutboundError } from '../kernel/outbound.js'
import type { Chain } from './chains.js'
import { type At, combineAll, multicall, multicallOver, type Read } from './multicall.js'
import { RpcError } from './rpc.js'

/** Nodes accept so much creation code: the reader and the reads of this many. */
const perCreationMax = 20

/** An answer in bounds of time and size, but not what was asked: less at once may be answered. */
const tooMuch: ReadonlySet<OutboundError['kind']> = new Set(['client', 'server', 'timeout', 'too-large', 'malformed'])

/** A call that was refused itself: none of its reads was answered. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof EarnError)) return false
  const { cause } = error
  return cause instanceof RpcError || (cause instanceof OutboundError && tooMuch.has(cause.kind))
}

export type ManyAnswers<T> = {
  /** In the order asked; undefined where a call with this read alone was refused. */
  answers: ({ answer: T } | undefined)[]
  /** Calls that went out, and how many of them were refused and asked again by halves. */
  calls: number
  halvings: number
}

/**
 * Runs reads of one kind at one block, `perCall` in each call. The code of the reader is set by a state override, which has no
 * size limit like that of creation code. If a node refuses a call, the call is split in halves; if it takes no overrides,
 * the reader runs as creation code. Throws a 503 if a node refuses even single reads.
 */
export async function multicallMany<T>(
  chain: Pick<Chain, 'name' | 'rpc'>,
  reads: readonly Read<T>[],
  at: At,
  perCall = 100,
  /** Whether the contracts change state during the read, as contracts that quote a swap do. */
  isWriting = false,
): Promise<ManyAnswers<T>> {
  const answers: ({ answer: T } | undefined)[] = []
  const done = { calls: 0, halvings: 0 }
  let size = perCall
  let takesOverrides = true
  let isPreviousRefused = false
  const ask = async (batch: Read<T[]>): Promise<T[]> => {
    done.calls += 1
    const bytecode = isWriting ? askerBytecode : readerBytecode
    return (await (takesOverrides ? multicallOver : multicall)(chain, batch, at, bytecode)).answer
  }
  const tryAsk = async (count: number, batch: Read<T[]>): Promise<T[] | { refused: unknown }> => {
    try {
      return await ask(batch)
    } catch (error) {
      if (!isRefusal(error)) throw error
      if (!takesOverrides || count > perCreationMax) return { refused: error }
    }
    takesOverrides = false
    try {
      const answered = await ask(batch)
      size = perCreationMax
      return answered
    } catch (error) {
      if (!isRefusal(error)) throw error
      takesOverrides = true
      return { refused: error }
    }
  }
  while (answers.length < reads.length) {
    const count = Math.min(takesOverrides ? size : Math.min(size, perCreationMax), reads.length - answers.length)
    const answered = await tryAsk(count, combineAll(reads.slice(answers.length, answers.length + count)))
    if (Array.isArray(answered)) {
      answers.push(...answered.map((answer) => ({ answer })))
      if (isPreviousRefused) size = perCall
      isPreviousRefused = false
      continue
    }
    if (count > 1) {
      size = Math.ceil(count / 2)
      done.halvings += 1
      continue
    }
    // One that is refused alone may be the fault of what is read; two in a row are the node's.
    if (isPreviousRefused || reads.length === 1) throw answered.refused
    isPreviousRefused = true
    answers.push(undefined)
  }
  return { answers, ...done }
}
