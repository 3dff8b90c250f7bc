import { decimal, instant, int4, int8, kebab, nullable, text, uuid } from '../../postgres/columns.js'
import type { Queryable, Transaction } from '../../postgres/pool.js'
import { describeTable, insertRows, parseRows, type RowOf, selectList } from '../../postgres/table.js'

export const actionKinds = ['deposit', 'withdraw', 'claimDeposit', 'cancelDeposit', 'swap'] as const
export type ActionKind = (typeof actionKinds)[number]

const actionsTable = describeTable('actions', {
  id: [uuid],
  kind: [kebab<ActionKind>()],
  organizationId: [uuid],
  distributorId: [nullable(text)],
  opportunityId: [nullable(uuid)],
  chainId: [int8],
  wallet: [text],
  tokenIn: [text],
  tokenInDecimals: [int4],
  amount: [decimal],
  amountUsd: [nullable(decimal)],
  referralCode: [text],
  target: [text],
  callHash: [text],
  createdAt: [instant],
  validUntil: [instant],
  tokenOut: [nullable(text)],
  planBlock: [nullable(int8)],
  lookedTo: [nullable(int8)],
  lookedAt: [nullable(instant)],
})

/** An action that a caller asked us to build. Addresses and hashes are lower-case. */
export type ActionRow = RowOf<typeof actionsTable>

/** Records a built action. */
export async function recordAction(tx: Transaction, action: ActionRow): Promise<void> {
  await insertRows(tx, actionsTable, [action])
}

/** The actions of these ids, of any organization. */
export async function listActions(db: Queryable, ids: readonly string[]): Promise<ActionRow[]> {
  if (ids.length === 0) return []
  const rows = await db<object[]>`
    select ${selectList(db, actionsTable)} from actions where id = any(${[...ids]}::uuid[])`
  return parseRows(actionsTable, rows)
}
