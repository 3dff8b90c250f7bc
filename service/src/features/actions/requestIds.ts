import type { ActionContext, Target } from '../plans/index.js'
import { listOpenRequests, type OpenRequest } from '../positions/index.js'

/** The requests of a wallet that are not claimed, as far as they were watched; oldest first. */
export function listOpen(
  { db }: ActionContext,
  { opportunity, wallet }: Target,
  kind: 'deposit' | 'redeem',
): Promise<OpenRequest[]> {
  const { chainId, vaultAddress } = opportunity
  return listOpenRequests(db, { chainId, vaultAddress, wallet: wallet.toLowerCase(), kind })
}

/** Most requests of one wallet asked about in one call. */
const idsMax = 32

/** The ids seen, and 0, under which a vault keeps all requests of a wallet together. */
export function listIds(open: readonly OpenRequest[]): bigint[] {
  return [...new Set(['0', ...open.map((request) => request.requestId)])].slice(0, idsMax).map(BigInt)
}
