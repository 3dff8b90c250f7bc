import { describe, expect, it } from 'vitest'
import { batchOf } from '../../test/batches.js'
import { listBatchChanges, listPlanChanges, pinCall } from '../../test/changes.js'
import { readPlans, verify } from '../../test/plans.js'
import { verifyBatch } from './verifyBatch.js'

describe.each(readPlans().map((plan) => [plan.name, pinCall(plan)] as const))('of %s', (_name, plan) => {
  it('every change of one field that alters what would be signed is refused, each byte of calldata among them', async () => {
    expect((await verify(plan)).problems).toEqual([])
    const changes = listPlanChanges(plan.transactions)
    expect(changes.length).toBeGreaterThan(100)
    for (const { name, changed } of changes) {
      const { ok, sentences } = await verify({ ...plan, transactions: changed })
      expect(ok, `${name}: ${JSON.stringify(changed)}`).toBe(false)
      expect(sentences).toEqual([])
    }
  }, 60_000)

  it('every change of one field of the batch is refused', () => {
    const { transactions, request } = plan
    const verify = (batch: ReturnType<typeof batchOf>) => verifyBatch(batch, transactions, request.userAddress)
    expect(verify(batchOf(plan)).problems).toEqual([])
    for (const { name, changed } of listBatchChanges(batchOf(plan)))
      expect(verify(changed as ReturnType<typeof batchOf>).ok, name).toBe(false)
  })
})
