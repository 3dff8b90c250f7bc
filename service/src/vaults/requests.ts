import type { RequestedVault, RequestName, RequestViews } from './kind.js'
import { findVaultKind, vaultKinds } from './kinds.js'

/** First topics of the events that open requests; the controller is their first or second argument. */
export const requestTopics: readonly string[] = [
  ...new Set(vaultKinds.flatMap(({ requests }) => requests?.topics ?? [])),
]

/** The views of a request; undefined of a kind that takes none. */
export function viewRequest(vault: RequestedVault & { kind: string }, asked: RequestName): RequestViews | undefined {
  return findVaultKind(vault.kind)?.requests?.view(vault, asked)
}
