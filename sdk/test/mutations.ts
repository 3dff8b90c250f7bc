import { encodeFunctionData, erc20Abi, maxUint256, parseAbi } from 'viem'
import type { PlannedTransaction } from '../src/verify/index.js'
import type { Plan } from './plans.js'
import { below, pick, type Random } from './random.js'

/** Changes a plan in place; `all` are the plans there are. */
export type Mutation = (plan: Plan, random: Random, all: readonly Plan[]) => void

export const attacker = '0xbadbadbadbadbadbadbadbadbadbadbadbadbad0'

const anyStep = (plan: Plan, random: Random) => pick(random, plan.transactions).transaction
const lastStep = (plan: Plan) => plan.transactions[plan.transactions.length - 1]!.transaction
const hexByte = (random: Random) => below(random, 256).toString(16).padStart(2, '0')

function flipBit(hex: string, random: Random, from = 2): string {
  const at = from + below(random, hex.length - from)
  const digit = Number.parseInt(hex[at]!, 16) ^ (1 << below(random, 4))
  return hex.slice(0, at) + digit.toString(16) + hex.slice(at + 1)
}

const bytesAt = (hex: string, random: Random) => 2 + 2 * below(random, (hex.length - 2) / 2 + 1)

/** Where the words of a call's arguments begin, in hex digits; `data` may carry a suffix, whose words count too. */
const wordsOf = (data: string) => Array.from({ length: Math.floor((data.length - 10) / 64) }, (_, i) => 10 + 64 * i)

const setWord = (data: string, at: number, word: string) => data.slice(0, at) + word + data.slice(at + 64)
export const toWord = (value: bigint) => BigInt.asUintN(256, value).toString(16).padStart(64, '0')
export const addressWord = (address: string) => address.slice(2).toLowerCase().padStart(64, '0')

function insert(plan: Plan, random: Random, ...steps: PlannedTransaction[]): void {
  plan.transactions.splice(below(random, plan.transactions.length + 1), 0, ...steps)
}

const thiefAbi = parseAbi(['function setOperator(address operator, bool approved)'])

/** What a thief would have a wallet sign beside what it asked for. */
function extraCalls({ context }: Plan): { to: string; data: string }[] {
  const { vault } = context
  return [vault.asset, vault.receiptToken ?? vault.address, context.wrappedNative ?? vault.asset].flatMap((to) => [
    { to, data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [attacker, maxUint256] }) },
    { to, data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [attacker, 1n] }) },
    { to: vault.address, data: encodeFunctionData({ abi: thiefAbi, args: [attacker, true] }) },
    { to: attacker, data: '0x' },
  ])
}

/** Mutations by name: what they change, then how. */
export const mutations: Readonly<Record<string, Mutation>> = {
  'data: a bit': (plan, random) => {
    const step = anyStep(plan, random)
    step.data = flipBit(step.data, random)
  },
  'data: a bit of the suffix': (plan, random) => {
    const step = lastStep(plan)
    const words = Math.max(0, step.data.indexOf('a261616461636d65'))
    step.data = flipBit(step.data, random, words > 0 ? words : 2)
  },
  'data: a byte put in': (plan, random) => {
    const step = anyStep(plan, random)
    const at = bytesAt(step.data, random)
    step.data = step.data.slice(0, at) + hexByte(random) + step.data.slice(at)
  },
  'data: bytes taken out': (plan, random) => {
    const step = anyStep(plan, random)
    const at = bytesAt(step.data, random)
    step.data = step.data.slice(0, at) + step.data.slice(at + 2 * (1 + below(random, 32)))
  },
  'data: a word overwritten': (plan, random) => {
    const step = anyStep(plan, random)
    const at = bytesAt(step.data, random)
    const word = Array.from({ length: 32 }, () => hexByte(random)).join('')
    step.data = step.data.slice(0, at) + word.slice(0, Math.max(0, step.data.length - at)) + step.data.slice(at + 64)
  },
  'data: an address swapped': (plan, random, all) => {
    const step = anyStep(plan, random)
    const { vault } = plan.context
    const tokens = [vault.asset, vault.receiptToken ?? vault.address]
    const known = [plan.request.userAddress, vault.address, ...tokens].map(addressWord)
    const at = wordsOf(step.data).filter((place) => known.includes(step.data.slice(place, place + 64).toLowerCase()))
    if (at.length === 0) return
    const other = pick(random, [attacker, vault.address, vault.asset, pick(random, all).context.vault.address])
    step.data = setWord(step.data, pick(random, at), addressWord(other))
  },
  'data: dirty upper bits': (plan, random) => {
    const step = anyStep(plan, random)
    const at = wordsOf(step.data).filter((place) => step.data.slice(place, place + 24) === '0'.repeat(24))
    if (at.length === 0) return
    const end = pick(random, at) + 24
    step.data = flipBit(step.data.slice(0, end), random, end - 24) + step.data.slice(end)
  },
  'data: a number nudged': (plan, random) => {
    const step = anyStep(plan, random)
    const at = wordsOf(step.data)
    if (at.length === 0) return
    const place = pick(random, at)
    const value = BigInt(`0x${step.data.slice(place, place + 64)}`)
    const values = [value + 1n, value - 1n, 0n, 1n, maxUint256, value * 2n, value * 10n ** 12n]
    step.data = setWord(step.data, place, toWord(pick(random, values)))
  },
  'data: zeros before the suffix': (plan, random) => {
    const step = lastStep(plan)
    const at = 10 + 64 * below(random, 1 + wordsOf(step.data).length)
    step.data = step.data.slice(0, at) + '00'.repeat(1 + below(random, 64)) + step.data.slice(at)
  },
  'data: of another plan': (plan, random, all) => {
    const other = pick(random, pick(random, all).transactions).transaction.data
    anyStep(plan, random).data = other
  },
  'data: the end of another plan': (plan, random, all) => {
    const step = anyStep(plan, random)
    const other = pick(random, pick(random, all).transactions).transaction.data
    const cut = bytesAt(step.data, random)
    step.data = step.data.slice(0, cut) + other.slice(bytesAt(other, random))
  },
  'data: a suffix on top': (plan, random) => {
    const step = anyStep(plan, random)
    step.data += pick(random, ['626173656170700700', 'a161616178000802', '00', '0000'])
    if (random() < 0.8) step.data += '80218021802180218021802180218021'
  },
  'data: the limitless approval': (plan) => {
    const approval = plan.transactions.find(({ type }) => type === 'approve')
    if (approval) approval.transaction.data = setWord(approval.transaction.data, 74, 'f'.repeat(64))
  },
  to: (plan, random, all) => {
    const step = anyStep(plan, random)
    const others = [
      plan.request.userAddress,
      plan.context.vault.asset,
      pick(random, all).context.vault.address,
      attacker,
    ]
    step.to = random() < 0.5 ? flipBit(step.to.toLowerCase(), random) : pick(random, others)
  },
  value: (plan, random) => {
    const step = anyStep(plan, random)
    const nudged = [BigInt(step.value) + 1n, BigInt(step.value) - 1n, 0n].filter((value) => value >= 0n)
    step.value = String(random() < 0.5 ? 1 + below(random, 2 ** 48) : pick(random, nudged))
  },
  chainId: (plan, random) => {
    anyStep(plan, random).chainId = pick(random, [1, 0, -31337, 31338, 31337.5, 10, below(random, 1e6)])
  },
  'more said than a plan does': (plan, random) => {
    const more = [{ authorizationList: [] }, { maxFeePerGas: '1' }, { nonce: 0 }, { from: attacker }, { gas: '1' }]
    Object.assign(anyStep(plan, random), pick(random, more))
  },
  'gas limit': (plan, random) => {
    anyStep(plan, random).gasLimit = pick(random, [
      '-1',
      '0x10',
      '1e9',
      '',
      '0',
      '20999',
      '30000001',
      '1'.padEnd(31, '0'),
    ])
  },
  'more said beside a transaction': (plan, random) => {
    const more = [{ to: attacker }, { data: '0x' }, { capabilities: {} }, { chainId: 1 }, { authorizationList: [] }]
    Object.assign(pick(random, plan.transactions), pick(random, more))
  },
  type: (plan, random) => {
    const step = pick(random, plan.transactions)
    step.type = pick(random, ['approve', 'swap', 'deposit', 'withdraw', 'claimDeposit', 'cancelDeposit', ''])
  },
  order: (plan, random) => {
    const [step] = plan.transactions.splice(below(random, plan.transactions.length), 1)
    plan.transactions.splice(below(random, plan.transactions.length + 1), 0, step!)
  },
  'number: one less': (plan, random) => {
    plan.transactions.splice(below(random, plan.transactions.length), 1)
  },
  'number: one twice': (plan, random) => {
    insert(plan, random, structuredClone(pick(random, plan.transactions)))
  },
  'number: one of another plan': (plan, random, all) => {
    insert(plan, random, structuredClone(pick(random, pick(random, all).transactions)))
  },
  'number: all twice': (plan) => {
    plan.transactions.push(...structuredClone(plan.transactions))
  },
  'number: a call of a thief': (plan, random) => {
    const { to, data } = pick(random, extraCalls(plan))
    const { chainId } = plan.context
    const type = pick(random, ['approve', 'swap', plan.request.type])
    insert(plan, random, { type, transaction: { to, data, value: pick(random, ['0', '1']), chainId } })
  },
}

/** What a plan makes a wallet do, in one text: two plans of one meaning may differ in the case of letters only. */
export const meaningOf = (plan: Plan): string =>
  JSON.stringify(
    plan.transactions.map(({ transaction, ...others }) => [
      Object.entries(others).sort(),
      Object.entries(transaction).sort(),
    ]),
  ).toLowerCase()
