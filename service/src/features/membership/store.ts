import { isUniqueViolation, type Queryable, sqlState, type Transaction } from '../../kernel/database.js'
import { conflict, invalidArgument } from '../../kernel/errors.js'
import { newId } from '../../kernel/ids.js'
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

export async function recordAgreement(db: Queryable, agreement: Agreement): Promise<void> {
  const { nonce, ecosystem, address, chainId, message, createdAt, expiresAt } = agreement
  await db`
    insert into agreements (nonce, ecosystem, address, chain_id, message, created_at, expires_at)
    values (${nonce}, ${ecosystem}, ${address}, ${chainId === null ? null : String(chainId)}, ${message},
            ${createdAt}, ${expiresAt})`
}

/** The agreement of this nonce, if it is this wallet's and can still be signed. */
export async function findAgreement(
  db: Queryable,
  { ecosystem, address }: Wallet,
  nonce: string,
  now: Date,
): Promise<Agreement | undefined> {
  const rows = await db<{ chain_id: string | null; message: string; created_at: Date; expires_at: Date }[]>`
    select chain_id, message, created_at, expires_at from agreements
    where nonce = ${nonce} and ecosystem = ${ecosystem} and address = ${address} and expires_at > ${now}`
  const [row] = rows
  if (!row) return undefined
  const chainId = row.chain_id === null ? null : BigInt(row.chain_id)
  const { message, created_at: createdAt, expires_at: expiresAt } = row
  return { ecosystem, address, nonce, chainId, message, createdAt, expiresAt }
}

/** Uses up a nonce. Of any number of callers at most one is told true. */
export async function consumeNonce(tx: Transaction, nonce: string, now: Date): Promise<boolean> {
  const rows = await tx`delete from agreements where nonce = ${nonce} and expires_at > ${now} returning nonce`
  return rows.length > 0
}

/** Makes a user with this wallet. Throws 409 when the wallet belongs to a user already, 400 for a distributor we lack. */
export async function createUser(
  tx: Transaction,
  { ecosystem, address }: Wallet,
  signupDistributorId: string | null,
): Promise<void> {
  const id = newId()
  try {
    await tx`insert into users (id, signup_distributor_id) values (${id}, ${signupDistributorId})`
    await tx`insert into memberships (ecosystem, address, user_id) values (${ecosystem}, ${address}, ${id})`
  } catch (error) {
    if (isUniqueViolation(error)) throw alreadyMember(error)
    if (sqlState(error) === foreignKeyViolation) throw invalidArgument('distributorId is unknown', { cause: error })
    throw error
  }
}

const foreignKeyViolation = '23503'

function alreadyMember(cause?: unknown): Error {
  return conflict('the wallet is a member already', { cause })
}
