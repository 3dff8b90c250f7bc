import type { Address, Hex } from 'viem'
import {
  type Complain,
  getOwnMember,
  isRecord,
  listOthers,
  parseAddress,
  parseData,
  parseRaw,
  quote,
  readList,
} from './shape.js'

/** A transaction of a plan with its parts parsed. */
export type ParsedTransaction = {
  type: string
  to: Address
  data: Hex
  value: bigint
  chainId: number
  gasLimit: bigint | undefined
}

/** No plan has more: wrapping, a reset, an approval and the call itself are four. */
const transactionsMax = 16

/** The types of transactions in a plan. Of the other members, `description` and `metadata` are for people, may lie, and are not read. */
const types: readonly unknown[] = ['approve', 'swap', 'deposit', 'withdraw', 'claimDeposit', 'cancelDeposit']
const itemMembers = ['type', 'description', 'transaction', 'metadata']
const transactionMembers = ['to', 'data', 'value', 'gasLimit', 'chainId']

/** The transactions of an answer, each member read once; undefined, and a complaint, where it is not a plan. */
export function parseTransactions(
  value: unknown,
  complain: Complain,
  known: readonly unknown[] = types,
): ParsedTransaction[] | undefined {
  const items = readList(value, transactionsMax)
  if (!items || items.length === 0) {
    complain(items || !Array.isArray(value) ? 'the plan has no transaction' : 'the transactions are no list of a plan')
    return undefined
  }
  const parsed = items.map((item, at) =>
    parseItem(item, known, (problem) => complain(`transaction ${at + 1}: ${problem}`)),
  )
  const complete = parsed.filter((transaction) => transaction !== undefined)
  return complete.length === items.length ? complete : undefined
}

function parseItem(item: unknown, known: readonly unknown[], complain: Complain): ParsedTransaction | undefined {
  const type = isRecord(item) ? getOwnMember(item, 'type') : undefined
  const transaction = isRecord(item) ? getOwnMember(item, 'transaction') : undefined
  if (!isRecord(item) || typeof type !== 'string' || !isRecord(transaction)) {
    complain('has not the shape of one')
    return undefined
  }
  if (!known.includes(type)) complain(`is of a type no plan has: ${quote(type)}`)
  // Whatever else stands there (a fee, a nonce, an authorization, another target) a wallet might pass on.
  for (const others of [listOthers(item, itemMembers), listOthers(transaction, transactionMembers)])
    if (others !== undefined) complain(`says more than a plan does: ${others}`)
  return parseParts(type, transaction, complain)
}

function parseParts(type: string, transaction: object, complain: Complain): ParsedTransaction | undefined {
  const [to, data, value, gasLimit, chainId] = transactionMembers.map((name) => getOwnMember(transaction, name))
  const target = parseAddress(to)
  const calldata = parseData(data)
  const amount = parseRaw(value)
  const gas = gasLimit === undefined ? undefined : parseRaw(gasLimit)
  if (typeof chainId !== 'number' || !Number.isSafeInteger(chainId) || chainId < 1) complain('has no chain id')
  else if (target === undefined || String(to).startsWith('0X')) complain('calls no address')
  else if (calldata === undefined) complain('has data that is no hex')
  else if (amount === undefined) complain('has a value that is no amount')
  else if (gasLimit !== undefined && gas === undefined) complain('has a gas limit that is no amount')
  else return { type, to: target, data: calldata, value: amount, chainId, gasLimit: gas }
  return undefined
}
