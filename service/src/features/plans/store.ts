import type { Queryable, Transaction } from '../../postgres/pool.js'

export type ActionKind = 'deposit' | 'withdraw' | 'claimDeposit' | 'cancelDeposit' | 'swap'

/** What a caller asked us to build. Addresses and hashes are lower-case. */
export type ActionRow = {
  id: string
  kind: ActionKind
  organizationId: string
  distributorId: string | null
  opportunityId: string | null
  chainId: number
  wallet: string
  tokenIn: string
  tokenInDecimals: number
  amount: string
  amountUsd: string | null
  referralCode: string
  target: string
  callHash: string
  createdAt: Date
  validUntil: Date
}

/** Records a built action. */
export async function recordAction(tx: Transaction, action: ActionRow): Promise<void> {
  await tx`
    insert into actions (id, kind, organization_id, distributor_id, opportunity_id, chain_id, wallet, token_in,
      token_in_decimals, amount, amount_usd, referral_code, target, call_hash, created_at, valid_until)
    values (${action.id}, ${action.kind}, ${action.organizationId}, ${action.distributorId}, ${action.opportunityId},
      ${action.chainId}, ${action.wallet}, ${action.tokenIn}, ${action.tokenInDecimals}, ${action.amount},
      ${action.amountUsd}, ${action.referralCode}, ${action.target}, ${action.callHash}, ${action.createdAt},
      ${action.validUntil})`
}

/** The action of an id, whoever built it. */
export async function findAction(db: Queryable, id: string): Promise<ActionRow | undefined> {
  const rows = await db<ActionRow[]>`
    select id, kind, organization_id as "organizationId", distributor_id as "distributorId",
      opportunity_id as "opportunityId", chain_id as "chainId", wallet, token_in as "tokenIn",
      token_in_decimals as "tokenInDecimals", amount::text, amount_usd::text as "amountUsd",
      referral_code as "referralCode", target, call_hash as "callHash", created_at as "createdAt",
      valid_until as "validUntil"
    from actions where id = ${id}`
  return rows[0]
}
