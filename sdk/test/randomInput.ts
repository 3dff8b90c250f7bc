import { batchOf } from './batches.js'
import { attacker } from './mutations.js'
import type { Plan } from './plans.js'
import { below, pick, type Random } from './random.js'

/** What `verifyPlan` and `verifyBatch` are given; each part may be anything JSON can say. */
export type Input = {
  request: unknown
  transactions: unknown
  context: unknown
  batch: unknown
  /** The transactions the batch is compared with. */
  planned: unknown
  user: unknown
}

/** A plan and its batch as they came, in JSON; of the vault only what is looked at. */
export type Source = { plan: Plan; asked: string; sent: string }

export const toSource = (plan: Plan): Source => {
  const { request, transactions, context } = plan
  const { address, kind, asset } = context.vault
  return {
    plan,
    asked: JSON.stringify({ request, transactions, context: { ...context, vault: { address, kind, asset } } }),
    sent: JSON.stringify({ batch: batchOf(plan), user: request.userAddress }),
  }
}

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

const names = [
  ...['type', 'transaction', 'to', 'data', 'value', 'chainId', 'gasLimit', 'description', 'metadata', 'userAddress'],
  ...['tokenIn', 'tokenOut', 'amount', 'distributorId', 'referralCode', 'requestId', 'vault', 'address', 'kind'],
  ...['asset', 'receiptToken', 'signers', 'actionId', 'allowance', 'approvalReset', 'wrappedNative', 'minimumOut'],
  ...['requestAmount', 'gasCap', 'names', 'version', 'from', 'atomicRequired', 'calls', 'capabilities', 'length'],
  ...['__proto__', 'constructor', 'prototype', 'toString', 'valueOf', 'toJSON', 'then', 'hasOwnProperty', '', '0'],
]

const words: readonly Json[] = [
  ...['deposit', 'withdraw', 'claimDeposit', 'cancelDeposit', 'approve', 'swap', 'native', 'acme', 'ACME', 'friend-1'],
  ...['erc4626', 'erc5115', 'erc7540', 'erc7540-deposit', 'erc7540-redeem', 'lagoon', 'constructor', '__proto__'],
  ...['', '0', '1', '-1', '007', '1e9', ' 1', '0x', '0x0', '0x1', '0X1', '0x7a69', '21000', '30000000', '30000001'],
  ...[
    String(2n ** 256n - 1n),
    String(2n ** 256n),
    '9'.repeat(78),
    '9'.repeat(79),
    '\u0000',
    '\ud800',
    '٣',
    '２１０００',
  ],
  ...[attacker, attacker.toUpperCase(), `0x${'0'.repeat(40)}`, `0x${'e'.repeat(40)}`, `0x${'é'.repeat(40)}`],
  ...[0, -0, 1, -1, 0.1, 31337, 31337.5, 1e21, 2 ** 53, -(2 ** 53), 1e308, 5e-324, true, false, null],
]

const letters = '0123456789abcdefABCDEFxX -_.,{}[]"\\/\u0000\u202eé𝟙'

function randomText(random: Random): string {
  const length = random() < 0.02 ? below(random, 2_000) : below(random, 12)
  let text = random() < 0.3 ? '0x' : ''
  for (let i = 0; i < length; i++) text += letters[below(random, letters.length)]
  return text
}

/** Any JSON value, mostly small. */
export function randomJson(random: Random, depth = 0): Json {
  const kind = random()
  if (kind < 0.5 || depth > 4) return pick(random, words)
  if (kind < 0.65) return randomText(random)
  if (kind < 0.75) return (random() - 0.5) * 10 ** below(random, 20)
  const count = below(random, 5)
  if (kind < 0.85) return Array.from({ length: count }, () => randomJson(random, depth + 1))
  const value: { [name: string]: Json } = {}
  for (let i = 0; i < count; i++) put(value, randomName(random), randomJson(random, depth + 1))
  return value
}

const randomName = (random: Random): string => (random() < 0.9 ? pick(random, names) : randomText(random))

/** As JSON.parse does: `__proto__` becomes a member like any other. */
function put(at: object, name: string, value: unknown): void {
  Object.defineProperty(at, name, { value, enumerable: true, configurable: true, writable: true })
}

type Place = { at: Record<string, unknown>; name: string }

/** A place somewhere in an input, deeper ones as likely as others. */
function findPlace(input: object, random: Random): Place {
  let at = input as Record<string, unknown>
  for (;;) {
    const name = pick(random, Object.keys(at))
    const value = at[name]
    const hasMembers = typeof value === 'object' && value !== null && Object.keys(value).length > 0
    if (!hasMembers || random() < 0.15) return { at, name }
    at = value as Record<string, unknown>
  }
}

/** Changes one place of an input. */
function edit(input: object, other: () => object, random: Random): void {
  const { at, name } = findPlace(input, random)
  const value = at[name]
  const drawn = below(random, 8)
  // A member more changes something only where nothing may stand beside what is there; else it costs a signature.
  const isStrict = Array.isArray(at) || ['transaction', 'to', 'calls'].some((member) => member in at)
  const way = drawn === 1 && !isStrict && random() < 0.9 ? 6 : drawn
  if (way === 0 && Array.isArray(at)) at.splice(Number(name), 1)
  else if (way === 0) delete at[name]
  else if (way === 1) put(at, Array.isArray(at) ? String(at.length) : randomName(random), randomJson(random))
  else {
    const another = randomOther(way, { input, other, name, value }, random)
    put(at, name, another === value ? randomJson(random) : another)
  }
}

type Given = { input: object; other: () => object; name: string; value: unknown }

/** What may stand in place of a value: one of another plan's or its own, itself inside something, a letter changed, anything. */
function randomOther(way: number, { input, other, name, value }: Given, random: Random): unknown {
  if (way === 2 || way === 3) {
    const from = findPlace(way === 2 ? other() : input, random)
    return structuredClone(from.at[from.name])
  }
  if (way === 4) return random() < 0.5 ? [value] : { [name]: value }
  if (way > 5 || typeof value !== 'string' || value === '') return randomJson(random)
  const at = below(random, value.length)
  return value.slice(0, at) + pick(random, [...letters]) + value.slice(at + below(random, 2))
}

/** A part of an input that is nothing but random, or that of a plan changed in one place or a few. */
function randomPart<T extends object>(
  part: 'asked' | 'sent',
  random: Random,
  source: Source,
  all: readonly Source[],
): T {
  const input = JSON.parse(source[part])
  if (random() < 0.2) return Object.fromEntries(Object.keys(input).map((name) => [name, randomJson(random)])) as T
  const edits = random() < 0.5 ? 1 : 2 + below(random, 4)
  for (let i = 0; i < edits && Object.keys(input).length > 0; i++)
    edit(input, () => JSON.parse(pick(random, all)[part]), random)
  return input
}

/** What the verifiers are given; a batch is compared with the transactions as they are changed, or as they came. */
export function randomInput(random: Random, source: Source, all: readonly Source[]): Input {
  const asked = randomPart<Pick<Input, 'request' | 'transactions' | 'context'>>('asked', random, source, all)
  const sent = randomPart<Pick<Input, 'batch' | 'user'>>('sent', random, source, all)
  const { transactions } = random() < 0.8 ? JSON.parse(source.asked) : asked
  return { ...asked, ...sent, planned: transactions }
}
