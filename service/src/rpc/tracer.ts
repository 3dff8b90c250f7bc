import { within } from '../kernel/async/within.js'
import type { Clock } from '../kernel/clock.js'
import type { Log } from '../kernel/log.js'
import { OutboundError } from '../kernel/outbound.js'
import type { CallPaths } from './callPaths.js'
import { checkTrace, clearWord, isSamePaths, restsOnWord } from './checkTrace.js'
import { inTurn } from './inTurn.js'
import type { RawLog, RawTransaction } from './raw.js'
import { type Rpc, RpcError, type RpcRequest } from './rpc.js'
import { doubtTransaction, type RecoverSigner } from './signedTransaction.js'
import { readDebugTree, readParityTree, type TraceTree } from './traceTree.js'
import { answers, malformed, toLogs } from './wire.js'

/** A transaction whose calls are asked for, with the logs kept of it and, where they are known, all logs of its receipt. */
export type WantedTrace = {
  transaction: RawTransaction
  blockHash: string
  logs: readonly RawLog[]
  /** Whether the way to another log of the receipt is kept too. */
  isOurs?: (log: RawLog) => boolean
  receipt?: readonly RawLog[]
}

/** Asks nodes how transactions ran, and checks what they say. */
export type Tracer = {
  /** Tries what urls can do that is not known yet. */
  open(): Promise<void>
  /** The kind of evidence of a chain; undefined until a url was tested. */
  evidence(): 'trace' | 'calldata' | undefined
  /** Whether a second url can be asked. */
  hasSecond(): boolean
  /**
   * The call paths that nodes returned, by hash. `hurry`: urls that failed a moment ago are skipped. `deadlineMs`: traces that
   * arrive later are left out.
   */
  trace(
    wanted: readonly WantedTrace[],
    options?: { hurry?: boolean; deadlineMs?: number },
  ): Promise<Map<string, CallPaths>>
}

/** The method of a url: call trees with logs, per transaction or per block, or only calls. */
type Form = { kind: 'debug'; byBlock: boolean } | { kind: 'parity' } | { kind: 'none' }
type Url = { rpc: Rpc; form: Form | undefined; leftUntilMs: number }

type TracerOptions = {
  recover: RecoverSigner
  clock: Pick<Clock, 'monotonicMs' | 'sleep'>
  log: Pick<Log, 'warn'>
  trusts?: boolean
}

/** The means to ask a url; `busy` are the urls that are being asked. */
type Asking = Pick<TracerOptions, 'recover' | 'clock' | 'log'> & { busy: Set<Url> }

/** From as many of one block on its trace is asked for as a whole. */
const wholeBlockFrom = 8
/** Transactions of one HTTP call, and such calls at a time. */
const batchMax = 16
const batchesInFlight = 4
/** Time after a failure during which a url is skipped for urgent traces. */
const leftMs = 15_000

const callTracer = { tracer: 'callTracer', tracerConfig: { withLog: true } }
const none = () => false
const nobody = `0x${'00'.repeat(32)}`

/** Opens the urls of a chain, best first. No call is made. */
export function createTracer(rpcs: readonly Rpc[], options: TracerOptions): Tracer {
  const { recover, clock, log, trusts = false } = options
  const urls: Url[] = rpcs.map((rpc) => ({ rpc, form: undefined, leftUntilMs: 0 }))
  /** Those that are being asked. */
  const busy = new Set<Url>()
  const asking = { recover, clock, log, busy }
  const able = () => urls.filter(({ form }) => form && form.kind !== 'none')

  const open = async (): Promise<void> => {
    await Promise.all(
      urls.map(async (url) => {
        if (!url.form) url.form = await tryForms(url.rpc)
      }),
    )
  }

  return {
    open,
    evidence: () => {
      if (able().length > 0) return 'trace'
      return urls.every(({ form }) => form) ? 'calldata' : undefined
    },
    hasSecond: () => able().length > 1,
    trace: async (wanted, { hurry = false, deadlineMs } = {}) => {
      const found = new Map<string, CallPaths>()
      const work = askAll(wanted, hurry, found)
      if (deadlineMs === undefined) return await work.then(() => found)
      await within(work, { clock, ms: deadlineMs }, () => {
        for (const url of busy) url.leftUntilMs = clock.monotonicMs() + leftMs
      })
      // A trace that arrives later is of no use to the caller.
      return new Map(found)
    },
  }

  async function askAll(wanted: readonly WantedTrace[], hurry: boolean, found: Map<string, CallPaths>): Promise<void> {
    if (urls.some(({ form }) => !form) && !hurry) await open()
    const now = clock.monotonicMs()
    const asked = able()
      .filter(({ leftUntilMs }) => !hurry || leftUntilMs <= now)
      .sort((a, b) => Math.max(a.leftUntilMs, now) - Math.max(b.leftUntilMs, now))
    const toldBy = new Map<string, Url>()
    for (const url of asked) {
      const left = wanted.filter(({ transaction }) => !found.has(transaction.hash))
      if (left.length === 0) break
      for (const [hash, paths] of await askUrl(url, left, asking)) {
        found.set(hash, paths)
        toldBy.set(hash, url)
      }
    }
    if (trusts) return
    for (const url of asked) {
      const words = wanted.filter(({ transaction: { hash } }) => {
        const paths = found.get(hash)
        return paths && toldBy.get(hash) !== url && restsOnWord(paths)
      })
      if (words.length === 0) continue
      for (const [hash, paths] of await askUrl(url, words, asking)) {
        const first = found.get(hash)
        if (first && isSamePaths(first, paths)) found.set(hash, clearWord(first))
      }
    }
  }
}

/** Call paths of transactions from one url; transactions without a correct trace are missing. */
async function askUrl(
  url: Url,
  wanted: readonly WantedTrace[],
  { recover, clock, log, busy }: Asking,
): Promise<Map<string, CallPaths>> {
  const found = new Map<string, CallPaths>()
  const take = (each: WantedTrace, tree: () => TraceTree, receipt: unknown, told: unknown): void => {
    const paths = judge(each, tree, receipt, told)
    if (typeof paths === 'string') log.warn({ hash: each.transaction.hash, doubt: paths }, 'a trace is not believed')
    else found.set(each.transaction.hash, paths)
  }
  const judge = (each: WantedTrace, tree: () => TraceTree, receipt: unknown, told: unknown): CallPaths | string => {
    try {
      const doubt = doubtTransaction(asFields(told), each.transaction, recover)
      if (doubt !== undefined) return doubt
      const logs = each.receipt ?? readReceipt(receipt, each)
      const ours = new Set([...each.logs, ...logs.filter(each.isOurs ?? none)].map(({ logIndex }) => logIndex))
      const paths = checkTrace({ tree: tree(), transaction: each.transaction, receipt: logs, ours })
      return 'doubt' in paths ? paths.doubt : paths
    } catch (error) {
      if (error instanceof OutboundError) return error.message
      throw error
    }
  }
  const requestsOf = ({ transaction: { hash }, receipt }: WantedTrace): RpcRequest[] => [
    { method: 'eth_getTransactionByHash', params: [hash] },
    ...(receipt ? [] : [{ method: 'eth_getTransactionReceipt', params: [hash] }]),
  ]
  const isParity = url.form?.kind === 'parity'
  const traceOf = ({ transaction: { hash } }: WantedTrace): RpcRequest =>
    isParity
      ? { method: 'trace_transaction', params: [hash] }
      : { method: 'debug_traceTransaction', params: [hash, callTracer] }
  const askSome = async (some: readonly WantedTrace[]): Promise<void> => {
    try {
      const values = await url.rpc.batch(some.flatMap((each) => [traceOf(each), ...requestsOf(each)]))
      for (let at = 0, i = 0; i < some.length; i++) {
        const each = some[i] as WantedTrace
        const [trace, told, receipt] = [values[at], values[at + 1], each.receipt ? undefined : values[at + 2]]
        at += each.receipt ? 2 : 3
        take(
          each,
          () => (isParity ? readParityTree(trace, each.transaction.hash) : readDebugTree(trace)),
          receipt,
          told,
        )
      }
    } catch (error) {
      if (!(error instanceof RpcError) && !isTooMuch(error)) throw error
      // One refused transaction must not lose the traces of the others.
      if (some.length > 1) for (const each of some) await askSome([each])
      else log.warn({ hash: some[0]?.transaction.hash, err: error }, 'a node gave no trace')
    }
  }
  const askBlock = async (blockHash: string, some: readonly WantedTrace[]): Promise<void> => {
    let traces: readonly unknown[]
    try {
      const value = await url.rpc.request({ method: 'debug_traceBlockByHash', params: [blockHash, callTracer] })
      if (!Array.isArray(value)) throw malformed('a node gave no traces of a block')
      traces = value
    } catch (error) {
      if (!(error instanceof RpcError) && !isTooMuch(error)) throw error
      await inTurn(chunk(some, batchMax), batchesInFlight, askSome)
      return
    }
    const byHash = new Map(traces.map((trace, at) => [hashOf(trace) ?? `${at}`, trace]))
    const values = await url.rpc.batch(some.flatMap(requestsOf))
    for (let at = 0, i = 0; i < some.length; i++) {
      const each = some[i] as WantedTrace
      const { hash, transactionIndex } = each.transaction
      const [told, receipt] = [values[at], each.receipt ? undefined : values[at + 1]]
      at += each.receipt ? 1 : 2
      const trace = asFields(byHash.get(hash) ?? byHash.get(`${transactionIndex}`) ?? {})
      take(each, () => readDebugTree(trace.result), receipt, told)
    }
  }
  const groups = new Map<string, WantedTrace[]>()
  for (const each of wanted) {
    const own = groups.get(each.blockHash)
    if (own) own.push(each)
    else groups.set(each.blockHash, [each])
  }
  const whole = url.form?.kind === 'debug' && url.form.byBlock
  const isWhole = (own: readonly WantedTrace[]) => whole && own.length >= wholeBlockFrom
  const single = [...groups.values()].filter((own) => !isWhole(own)).flat()
  const blocks = [...groups].filter(([, own]) => isWhole(own))
  busy.add(url)
  try {
    await inTurn(chunk(single, batchMax), batchesInFlight, askSome)
    await inTurn(blocks, batchesInFlight, ([blockHash, own]) => askBlock(blockHash, own))
  } catch (error) {
    if (!(error instanceof OutboundError) && !(error instanceof RpcError)) throw error
    url.leftUntilMs = clock.monotonicMs() + leftMs
    log.warn({ err: error }, 'a node gave no traces')
  } finally {
    busy.delete(url)
  }
  return found
}

/** Tests the methods of a url, with a transaction that does not exist; undefined if the url does not respond. */
async function tryForms(rpc: Rpc): Promise<Form | undefined> {
  try {
    if (await canDo(rpc, 'debug_traceTransaction', [nobody, callTracer]))
      return { kind: 'debug', byBlock: await canDo(rpc, 'debug_traceBlockByHash', [nobody, callTracer]) }
    return { kind: (await canDo(rpc, 'trace_transaction', [nobody])) ? 'parity' : 'none' }
  } catch (error) {
    if (error instanceof OutboundError) return undefined
    throw error
  }
}

/** Refusals that mean a node has no such method. */
const missing = new Set([-32601, -32004])
const saysMissing =
  /method.*(not|un)[- ]?(found|exist|available|supported|allowed|enabled|whitelisted)|does not exist|unsupported/i

async function canDo(rpc: Rpc, method: string, params: readonly unknown[]): Promise<boolean> {
  try {
    await rpc.request({ method, params })
    return true
  } catch (error) {
    if (error instanceof RpcError) return !missing.has(error.code) && !saysMissing.test(error.message)
    // Some refuse a method by status alone.
    if (error instanceof OutboundError && error.kind === 'client') return false
    throw error
  }
}

const isTooMuch = (error: unknown): boolean => error instanceof OutboundError && error.kind === 'too-large'

function asFields(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) throw malformed('a node did not answer an object')
  return value as Record<string, unknown>
}

function hashOf(trace: unknown): string | undefined {
  const told = typeof trace === 'object' && trace !== null && 'txHash' in trace ? trace.txHash : undefined
  return typeof told === 'string' ? told.toLowerCase() : undefined
}

/** All logs of a transaction, which hold those that are kept of it as they are kept. */
function readReceipt(value: unknown, { blockHash, logs }: WantedTrace): RawLog[] {
  const all = toLogs(answers.receipt.parse(value).logs, blockHash)
  const byIndex = new Map(all.map((log) => [log.logIndex, log]))
  for (const log of logs) {
    const told = byIndex.get(log.logIndex)
    if (told?.address !== log.address || told.data !== log.data || told.topics.join() !== log.topics.join())
      throw malformed('a node gave a receipt without the logs we hold')
  }
  return all
}

function chunk<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size))
}
