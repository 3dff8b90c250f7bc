import type { Hex } from 'viem'
import { attribution, type PlannedBatch, type PlannedTransaction } from '../src/verify/index.js'
import type { Plan } from './plans.js'

/** A plan or batch with one thing changed, and what that is. */
export type Change<T> = { name: string; changed: T }

const stranger = '0xbadbadbadbadbadbadbadbadbadbadbadbadbad0'
const types = ['approve', 'swap', 'deposit', 'withdraw', 'claimDeposit', 'cancelDeposit']

/** Pins what a request may leave open, from the call itself: the units claimed, the request, the least that comes out. */
export function pinCall<T extends Pick<Plan, 'request' | 'transactions' | 'context'>>(plan: T): T {
  const main = plan.transactions.find(({ type }) => type === plan.request.type) ?? plan.transactions.at(-1)!
  const { data } = main.transaction
  const suffixes = attribution.decode(data as Hex)
  const call = data.slice(0, 2 + 2 * (suffixes.at(-1)?.start ?? data.length))
  const word = (at: number): string => String(BigInt(`0x${call.slice(10 + 64 * at, 74 + 64 * at) || '0'}`))
  const { request, context } = plan
  const { type } = request
  // What is taken back of a queue is named by its amount, other cancellations by the request.
  const isQueue = context.vault.kind === 'maple'
  return {
    ...plan,
    request: {
      ...request,
      ...(type === 'cancelDeposit' && call.length > 10 && !isQueue ? { requestId: word(0) } : {}),
      ...(type === 'withdraw' && context.vault.kind === 'veda' ? { slippageBps: Number(word(2)) } : {}),
    },
    context: {
      ...context,
      ...(type === 'claimDeposit' || (type === 'cancelDeposit' && isQueue) ? { requestAmount: word(0) } : {}),
      ...(context.vault.kind === 'erc5115' ? { minimumOut: word(3) } : {}),
      ...(type === 'deposit' && context.vault.kind === 'veda' ? { minimumOut: word(2) } : {}),
    },
  }
}

/** Every `step`-th byte of hex with one bit of it turned, and the hex a byte longer and shorter at either end. */
function listHexChanges(hex: string, step: number): string[] {
  const bytes = (hex.length - 2) / 2
  const turned = Array.from({ length: Math.ceil(bytes / step) }, (_, i) => {
    const at = 2 + 2 * i * step + 1
    const digit = Number.parseInt(hex[at] ?? '0', 16) ^ (1 << (i % 4))
    return hex.slice(0, at) + digit.toString(16) + hex.slice(at + 1)
  })
  return [...turned, `${hex}00`, `0x00${hex.slice(2)}`, hex.slice(0, -2), `0x${hex.slice(4)}`, '0x']
}

const without = (value: object, name: string): object =>
  Object.fromEntries(Object.entries(value).filter(([each]) => each !== name))

/** Every list with one item left out, twice there, or changed with its neighbour. */
function listOrders<T>(items: readonly T[]): Change<T[]>[] {
  return items.flatMap((item, at) => [
    { name: `${at + 1} left out`, changed: items.toSpliced(at, 1) },
    { name: `${at + 1} twice`, changed: items.toSpliced(at, 0, item) },
    ...(at > 0 ? [{ name: `${at + 1} before ${at}`, changed: items.toSpliced(at - 1, 2, item, items[at - 1]!) }] : []),
  ])
}

/** Every change of one field that alters what would be signed; of calldata every `step`-th byte. */
export function listPlanChanges(transactions: readonly PlannedTransaction[], step = 1): Change<PlannedTransaction[]>[] {
  const changes = transactions.flatMap((item, at) => {
    const { transaction } = item
    const { to, data, value, chainId } = transaction
    const inside: [string, unknown][] = [
      ['to', stranger],
      ['to', `${to.slice(0, -1)}${to.endsWith('0') ? '1' : '0'}`],
      ...listHexChanges(data, step).map((changed): [string, unknown] => ['data', changed]),
      ['value', String(BigInt(value) + 1n)],
      ['value', value === '0' ? '1000000000000000000' : '0'],
      ['chainId', chainId + 1],
      ['gasLimit', '20999'],
      ['gasLimit', '30000001'],
      ['gas', '100000'],
      ['authorizationList', []],
    ]
    const put = (name: string, changed: object): Change<PlannedTransaction[]> => ({
      name: `${name} of transaction ${at + 1}`,
      changed: transactions.with(at, changed as PlannedTransaction) as PlannedTransaction[],
    })
    return [
      ...inside.map(([name, changed]) => put(name, { ...item, transaction: { ...transaction, [name]: changed } })),
      ...['to', 'data', 'value', 'chainId'].map((name) =>
        put(`no ${name}`, { ...item, transaction: without(transaction, name) }),
      ),
      ...types.filter((type) => type !== item.type).map((type) => put(`type ${type}`, { ...item, type })),
      ...['to', 'data', 'capabilities'].map((name) => put(`${name} beside`, { ...item, [name]: stranger })),
    ]
  })
  return [...changes, ...listOrders(transactions)]
}

/** Every change of one field of a batch. */
export function listBatchChanges(batch: PlannedBatch, step = 1): Change<PlannedBatch>[] {
  const outside: [string, unknown][] = [
    ['version', '1.0'],
    ['chainId', `0x${(BigInt(batch.chainId) + 1n).toString(16)}`],
    ['from', stranger],
    ['atomicRequired', false],
    ['capabilities', {}],
    ['id', '0x1'],
  ]
  const calls = batch.calls.flatMap((call, at) => {
    const inside: [string, unknown][] = [
      ['to', stranger],
      ...listHexChanges(call.data, step).map((changed): [string, unknown] => ['data', changed]),
      ['value', `0x${(BigInt(call.value) + 1n).toString(16)}`],
      ['capabilities', {}],
    ]
    return inside.map(([name, changed]) => ({
      name: `${name} of call ${at + 1}`,
      changed: batch.calls.with(at, { ...call, [name]: changed }),
    }))
  })
  return [
    ...outside.map(([name, changed]) => ({ name, changed: { ...batch, [name]: changed } })),
    ...Object.keys(batch).map((name) => ({ name: `no ${name}`, changed: without(batch, name) as PlannedBatch })),
    ...[...calls, ...listOrders(batch.calls)].map(({ name, changed }) => ({
      name,
      changed: { ...batch, calls: changed },
    })),
  ]
}
