import { newId } from '../../kernel/ids.js'
import type { Database, Queryable } from '../../postgres/pool.js'
import { inTransaction } from '../../postgres/pool.js'
import type { Wallet, WalletEcosystem } from './wallet.js'

export type MemberRow = {
  ecosystem: WalletEcosystem
  address: string
  userId: string
  joinedAt: Date
  signupDistributorId: string | null
}

export type MembershipEvent = { at: Date; kind: string; ecosystem: WalletEcosystem; address: string; userId: string }

/** Wallets that belong to users, newest first. */
export async function listMembers(db: Queryable, limit: number): Promise<MemberRow[]> {
  return db<MemberRow[]>`
    select ecosystem, address, user_id as "userId", memberships.created_at as "joinedAt",
           signup_distributor_id as "signupDistributorId"
    from memberships join users on users.id = user_id
    order by memberships.created_at desc, ecosystem, address limit ${limit}`
}

/** The user a wallet belongs to. */
export async function findUserId(db: Queryable, { ecosystem, address }: Wallet): Promise<string | undefined> {
  const [row] = await db<{ user_id: string }[]>`
    select user_id from memberships where ecosystem = ${ecosystem} and address = ${address}`
  return row?.user_id
}

/** The wallets of a user, oldest first. */
export async function listWallets(db: Queryable, userId: string): Promise<MemberRow[]> {
  return db<MemberRow[]>`
    select ecosystem, address, user_id as "userId", memberships.created_at as "joinedAt",
           signup_distributor_id as "signupDistributorId"
    from memberships join users on users.id = user_id
    where user_id = ${userId} order by memberships.created_at, ecosystem, address`
}

/** Events of a user's memberships, oldest first, including those of wallets it no longer has. */
export async function listMembershipEvents(db: Queryable, userId: string): Promise<MembershipEvent[]> {
  return db<MembershipEvent[]>`
    select at, kind, ecosystem, address, user_id as "userId" from membership_events
    where user_id = ${userId} order by at, id`
}

/** Moves a wallet to the user of another one. False when either is no member; true without a trace when it is there. */
export async function updateWalletUser(db: Database, wallet: Wallet, other: Wallet, at: Date): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const userId = await findUserId(tx, other)
    if (userId === undefined) return false
    const rows = await tx<{ before: string }[]>`
      update memberships set user_id = ${userId}
      from (select ecosystem, address, user_id as before from memberships
            where ecosystem = ${wallet.ecosystem} and address = ${wallet.address} for update) as old
      where memberships.ecosystem = old.ecosystem and memberships.address = old.address
      returning old.before`
    const [row] = rows
    if (row && row.before !== userId) {
      await recordEvent(tx, 'unlinked', wallet, row.before, at)
      await recordEvent(tx, 'linked', wallet, userId, at)
    }
    return row !== undefined
  })
}

/** Ends a membership. The user and the record stay; the wallet may join again. Returns false if the wallet was not a member. */
export async function removeMembership(db: Database, wallet: Wallet, at: Date): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const [row] = await tx<{ user_id: string }[]>`
      delete from memberships where ecosystem = ${wallet.ecosystem} and address = ${wallet.address} returning user_id`
    if (row) await recordEvent(tx, 'unlinked', wallet, row.user_id, at)
    return row !== undefined
  })
}

async function recordEvent(
  tx: Queryable,
  kind: 'linked' | 'unlinked',
  { ecosystem, address }: Wallet,
  userId: string,
  at: Date,
): Promise<void> {
  await tx`
    insert into membership_events (id, at, kind, ecosystem, address, user_id)
    values (${newId()}, ${at}, ${kind}, ${ecosystem}, ${address}, ${userId})`
}
