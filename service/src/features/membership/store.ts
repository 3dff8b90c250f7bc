import { conflict, invalidArgument } from '../../kernel/errors.js'
import { constraintOf, isUniqueViolation, type Queryable, sqlState, type Transaction } from '../../postgres/pool.js'
import type { Agreement } from './agreement.js'
import type { Wallet, WalletEcosystem } from './wallet.js'

/** True when the wallet belongs to a user. `address` is in the normal form of its ecosystem (EVM lower-case). */
export async function isMember(db: Queryable, ecosystem: WalletEcosystem, address: string): Promise<boolean> {
  const rows = await db`select from memberships where ecosystem = ${ecosystem} and address = ${address}`
  return rows.length > 0
}

/** Throws 409 when the wallet belongs to a user already. */
export async function assertNoMember(db: Queryable, { ecosystem, address }: Wallet): Promise<void> {
  if (await isMember(db, ecosystem, address)) throw alreadyMember()
}

/** An organization may have this many agreements of one wallet open; the oldest goes when another is asked for. */
const openAgreementsMax = 50

export async function recordAgreement(tx: Transaction, agreement: Agreement, organizationId: string): Promise<void> {
  const { nonce, ecosystem, address, domain, chainId, message, createdAt, expiresAt } = agreement
  const chain = chainId === null ? null : String(chainId)
  await tx`
    with superseded as (
      delete from agreements where nonce in (
        select nonce from agreements
        where ecosystem = ${ecosystem} and address = ${address} and organization_id = ${organizationId}
        order by created_at desc, nonce offset ${openAgreementsMax - 1}))
    insert into agreements
      (nonce, ecosystem, address, domain, chain_id, message, organization_id, created_at, expires_at)
    values (${nonce}, ${ecosystem}, ${address}, ${domain}, ${chain}, ${message}, ${organizationId},
            ${createdAt}, ${expiresAt})`
}

/** The agreement of this nonce, if it is this wallet's, this organization asked for it, and it can still be signed. */
export async function findAgreement(
  db: Queryable,
  { ecosystem, address }: Wallet,
  nonce: string,
  organizationId: string,
  now: Date,
): Promise<Agreement | undefined> {
  type Row = { domain: string; chain_id: string | null; message: string; created_at: Date; expires_at: Date }
  const [row] = await db<Row[]>`
    select domain, chain_id, message, created_at, expires_at from agreements
    where nonce = ${nonce} and ecosystem = ${ecosystem} and address = ${address}
      and organization_id = ${organizationId} and expires_at > ${now}`
  if (!row) return undefined
  const { domain, message, created_at: createdAt, expires_at: expiresAt } = row
  const chainId = row.chain_id === null ? null : BigInt(row.chain_id)
  return { ecosystem, address, nonce, domain, chainId, message, createdAt, expiresAt }
}

/** Uses up a nonce. Of any number of callers at most one is told true. */
export async function consumeNonce(tx: Transaction, nonce: string, now: Date): Promise<boolean> {
  const rows = await tx`delete from agreements where nonce = ${nonce} and expires_at > ${now} returning nonce`
  return rows.length > 0
}

/** Removes agreements that can no longer be signed; how many they were. */
export async function removeExpiredAgreements(db: Queryable, now: Date): Promise<number> {
  const { count } = await db`delete from agreements where expires_at <= ${now}`
  return count
}

/** How a wallet joined, for the record, and the ids of the user and of what happened. */
export type Joining = {
  userId: string
  eventId: string
  at: Date
  keyId: string
  message: string
  signature: string
  signupDistributorId: string | null
}

/** Makes a user with this wallet. Throws 409 when the wallet belongs to a user already, 400 for a distributor we lack. */
export async function createUser(tx: Transaction, { ecosystem, address }: Wallet, joining: Joining): Promise<void> {
  const { userId, eventId, at, keyId, message, signature, signupDistributorId } = joining
  try {
    await tx`
      with member as (
        insert into users (id, signup_distributor_id, created_at) values (${userId}, ${signupDistributorId}, ${at})
      ), wallet as (
        insert into memberships (ecosystem, address, user_id, created_at)
        values (${ecosystem}, ${address}, ${userId}, ${at})
      )
      insert into membership_events (id, at, kind, ecosystem, address, user_id, key_id, message, signature)
      values (${eventId}, ${at}, 'joined', ${ecosystem}, ${address}, ${userId}, ${keyId}, ${message}, ${signature})`
  } catch (error) {
    if (isUniqueViolation(error)) throw alreadyMember(error)
    if (isUnknownDistributor(error)) throw invalidArgument('distributorId is unknown', { cause: error })
    throw error
  }
}

function isUnknownDistributor(error: unknown): boolean {
  return sqlState(error) === '23503' && constraintOf(error) === 'users_signup_distributor_id_fkey'
}

function alreadyMember(cause?: unknown): Error {
  return conflict('the wallet is a member already', { cause })
}
