import type { Queryable } from '../../kernel/database.js'

export type WalletEcosystem = 'evm' | 'solana' | 'ton'

/** True when the wallet belongs to a user. `address` is in the normal form of its ecosystem (EVM lower-case). */
export async function isMember(db: Queryable, ecosystem: WalletEcosystem, address: string): Promise<boolean> {
  const rows = await db`select from memberships where ecosystem = ${ecosystem} and address = ${address}`
  return rows.length > 0
}
