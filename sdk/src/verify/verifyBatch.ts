import { type Complain, getOwnMember, isRecord, listOthers, parseAddress, parseData, quote, readList } from './shape.js'
import { type ParsedTransaction, parseTransactions } from './transactions.js'
import type { PlannedTransaction, Verdict } from './types.js'

/** The ERC-5792 request of an answer, as it came. */
export type PlannedBatch = {
  version: string
  chainId: string
  from: string
  atomicRequired: boolean
  calls: readonly { to: string; data: string; value: string }[]
}

const members = ['version', 'chainId', 'from', 'atomicRequired', 'calls']
const callMembers = ['to', 'data', 'value']
const callsMax = 16

/**
 * Decides whether an ERC-5792 `wallet_sendCalls` request does exactly what the transactions do, all or nothing, in the
 * same order, for this wallet, and contains nothing else. Check the transactions themselves with `verifyPlan`. Returns a
 * verdict for every input.
 */
export function verifyBatch(
  batch: PlannedBatch,
  transactions: readonly PlannedTransaction[],
  userAddress: string,
): Verdict {
  const problems: string[] = []
  const complain: Complain = (problem) => {
    if (!problems.includes(problem)) problems.push(problem)
  }
  try {
    const steps = parseTransactions(transactions, complain)
    if (steps) checkBatch(batch, steps, userAddress, complain)
  } catch {
    // A getter or a proxy threw: no batch that came as JSON has one.
    complain('something of what was given cannot be read')
  }
  return { ok: problems.length === 0, problems }
}

function checkBatch(
  batch: unknown,
  steps: readonly ParsedTransaction[],
  userAddress: unknown,
  complain: Complain,
): void {
  const [version, chainId, from, atomicRequired, list] = members.map((name) =>
    isRecord(batch) ? getOwnMember(batch, name) : undefined,
  )
  if (!isRecord(batch) || [version, chainId, from].some((text) => typeof text !== 'string')) {
    complain('the batch has not the shape of one')
    return
  }
  const others = listOthers(batch, members)
  if (others !== undefined) complain(`the batch says more than a plan does: ${others}`)
  if (version !== '2.0.0') complain(`the batch is of version ${quote(version)}, not 2.0.0`)
  const user = parseAddress(userAddress)
  if (!user) complain(`userAddress: ${quote(userAddress)} is no address`)
  else if (parseAddress(from) !== user) complain('the batch is for another wallet')
  if (atomicRequired !== true) complain('the batch may be carried out in part')
  const calls = readList(list, callsMax) ?? []
  if (calls.length !== steps.length)
    complain(`the batch has ${calls.length} calls, the plan ${steps.length} transactions`)
  steps.forEach((step, at) => {
    if (at < calls.length && !isSame(calls[at], step))
      complain(`call ${at + 1} of the batch is not the transaction of the plan`)
    if (readQuantity(chainId) !== BigInt(step.chainId)) complain('the batch is for another chain')
  })
}

function isSame(call: unknown, step: ParsedTransaction): boolean {
  if (!isRecord(call) || listOthers(call, callMembers) !== undefined) return false
  const [to, data, value] = callMembers.map((name) => getOwnMember(call, name))
  return parseAddress(to) === step.to && parseData(data) === step.data && readQuantity(value) === step.value
}

/** A hex quantity; undefined if malformed. */
function readQuantity(text: unknown): bigint | undefined {
  return typeof text === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(text) ? BigInt(text) : undefined
}
