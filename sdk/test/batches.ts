import type { PlannedBatch } from '../src/verify/index.js'
import type { Plan } from './plans.js'

/** The ERC-5792 request the service answers beside a plan. */
export function batchOf({ request, transactions, context }: Plan): PlannedBatch & Record<string, unknown> {
  return {
    version: '2.0.0',
    chainId: `0x${context.chainId.toString(16)}`,
    from: request.userAddress,
    atomicRequired: true,
    calls: transactions.map(({ transaction: { to, data, value } }) => ({
      to,
      data,
      value: `0x${BigInt(value).toString(16)}`,
    })),
  }
}
