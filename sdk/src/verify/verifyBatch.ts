import { hasTexts, isPlanned, isRecord, listOf } from './shape.js'
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

/**
 * Decides whether an ERC-5792 `wallet_sendCalls` request does exactly what the transactions do, all or nothing, in the
 * same order, for this wallet, and says nothing else. Check the transactions themselves with `verifyPlan`. Answers a
 * verdict; does not throw for "no".
 */
export function verifyBatch(
  batch: PlannedBatch,
  transactions: readonly PlannedTransaction[],
  userAddress: string,
): Verdict {
  if (!isRecord(batch) || !hasTexts(batch, ['version', 'chainId', 'from']))
    return { ok: false, problems: ['the batch has not the shape of one'] }
  if (!listOf(transactions).every(isPlanned))
    return { ok: false, problems: ['the transactions have not the shape of a plan'] }
  const problems: string[] = []
  const calls = listOf(batch.calls)
  for (const name of Object.keys(batch))
    if (!members.includes(name)) problems.push(`the batch says more than a plan does: ${name}`)
  if (batch.version !== '2.0.0') problems.push(`the batch is of version ${batch.version}, not 2.0.0`)
  if (batch.from.toLowerCase() !== userAddress.toLowerCase()) problems.push('the batch is for another wallet')
  if (batch.atomicRequired !== true) problems.push('the batch may be carried out in part')
  if (calls.length !== transactions.length)
    problems.push(`the batch has ${calls.length} calls, the plan ${transactions.length} transactions`)
  calls.forEach((call, at) => {
    const planned = transactions[at]?.transaction
    if (planned && !isSame(call, planned))
      problems.push(`call ${at + 1} of the batch is not the transaction of the plan`)
  })
  for (const { transaction } of transactions)
    if (readQuantity(batch.chainId) !== BigInt(transaction.chainId)) problems.push('the batch is for another chain')
  return { ok: problems.length === 0, problems: [...new Set(problems)] }
}

function isSame(call: unknown, planned: PlannedTransaction['transaction']): boolean {
  if (!isRecord(call) || !hasTexts(call, ['to', 'data', 'value'])) return false
  const { to, data, value, ...others } = call as PlannedBatch['calls'][number]
  if (Object.keys(others).length > 0 || !/^[0-9]{1,78}$/.test(planned.value)) return false
  return (
    to.toLowerCase() === planned.to.toLowerCase() &&
    data.toLowerCase() === planned.data.toLowerCase() &&
    readQuantity(value) === BigInt(planned.value)
  )
}

/** A hex quantity; undefined when it is none. */
function readQuantity(text: string): bigint | undefined {
  return /^0x[0-9a-fA-F]{1,64}$/.test(text) ? BigInt(text) : undefined
}
