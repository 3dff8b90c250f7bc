import type { RawLog, RawTransaction } from '../rpc/raw.js'
import type { DeriveVault } from './config.js'
import { decodeVaultEvent } from './events.js'
import { findKind } from './vaultCalls.js'

/**
 * Whether nothing but its input is needed to know how a transaction made its vault event: its only event of any vault is
 * emitted by the contract it calls, the event's sender is its own, and its input begins with a call known to make that
 * event. `logs` are those of the transaction; logs that are not of vaults are ignored. For all other transactions a trace is requested.
 */
export function isPlain(
  transaction: Pick<RawTransaction, 'from' | 'to' | 'input'>,
  logs: readonly RawLog[],
  { vaultsByContract }: { vaultsByContract: ReadonlyMap<string, readonly DeriveVault[]> },
): boolean {
  const { from, to, input } = transaction
  const told = logs.flatMap((log) =>
    (vaultsByContract.get(log.address) ?? []).flatMap((vault) => {
      const event = decodeVaultEvent(log, vault, logs)
      return event ? [{ log, vault, event }] : []
    }),
  )
  const [only] = told
  if (!only || to === null || told.some(({ log }) => log !== only.log)) return false
  const selector = input.slice(2, 10).toLowerCase()
  return told.every(
    ({ log, vault, event }) =>
      log.address === to && event.sender === from && findKind(vault, { target: to, selector }) === event.kind,
  )
}
