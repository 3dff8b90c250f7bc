import type { Address } from 'viem'
import type { RawBlock, RawLog } from '../rpc/raw.js'
import { type RequestViews, viewRequest } from '../vaults/index.js'
import { type DeriveVault, hasAsyncDeposit, hasAsyncRedeem } from './config.js'
import { decodeVaultEvent, type VaultEvent } from './events.js'
import { type RequestLot, requestKey } from './rows.js'

/** A vault's figures of a request: pending plus claimable, at the parent block and at the block. */
export type RequestReading = {
  vault: string
  kind: 'deposit' | 'redeem'
  controller: string
  requestId: bigint
  before: bigint | 'unknown'
  after: bigint | 'unknown'
}

/** A block with the figures of requests that its claims may consume; absent if nothing was read. */
export type ReadBlock = RawBlock & { requestReadings?: readonly RequestReading[] }

/** A request whose figures are read from a vault at a block and at its parent. */
export type WantedReading = Omit<RequestReading, 'before' | 'after'> & { blockNumber: number; views: RequestViews }

/** The amount that each request id of a controller lost in a block, and the ids that claims alone emptied, by the vault's figures. */
export type Lost = { amounts: Map<bigint, bigint>; emptied: Set<bigint> }

/** The amounts that claims of a block may take of each request id of a controller, by `requestKey`; undefined if unknown. */
export type Settled = ReadonlyMap<string, Lost | undefined>

const nothing: Settled = new Map()

/**
 * The amount that each request id lost in a block, cancellations apart: pending plus claimable at the parent, plus the
 * requests of the block, less pending plus claimable at the block, less the amounts that cancellations returned.
 */
export function readSettled(
  block: Pick<ReadBlock, 'logs' | 'requestReadings'>,
  vaultsByContract: ReadonlyMap<string, readonly DeriveVault[]>,
): Settled {
  const readings = block.requestReadings ?? []
  if (readings.length === 0) return nothing
  const events = block.logs.flatMap((log) =>
    (vaultsByContract.get(log.address) ?? []).flatMap((vault) => {
      const event = decodeVaultEvent(log, vault, block.logs)
      return event ? [{ vault, event }] : []
    }),
  )
  const settled = new Map<string, Lost | undefined>()
  for (const reading of readings)
    for (const vault of vaultsByContract.get(reading.vault) ?? []) {
      const { kind, controller, requestId, before, after } = reading
      const key = requestKey(vault.id, kind, controller)
      const known = settled.has(key) ? settled.get(key) : { amounts: new Map(), emptied: new Set<bigint>() }
      settled.set(key, before === 'unknown' || after === 'unknown' ? undefined : known)
      if (before === 'unknown' || after === 'unknown') continue
      const own = events.filter((each) => each.vault.id === vault.id).map(({ event }) => event)
      const cancelled = sumOf(own, reading, isCancelled)
      const lost = before + sumOf(own, reading, isOpened) - after - cancelled
      known?.amounts.set(requestId, lost > 0n ? lost : 0n)
      if (after === 0n && cancelled === 0n) known?.emptied.add(requestId)
    }
  return settled
}

/** Whether the lost amount of each open request of a controller is known. */
export function isSettled(lots: readonly RequestLot[], { amounts }: Lost): boolean {
  return lots.every(({ requestId }) => amounts.has(requestId))
}

/** A claim, with the controller and kind of the requests it may consume. */
type Claim = { vault: DeriveVault; kind: RequestReading['kind']; controller: string }

/** The claims of a block: the events that complete earlier deposit and redemption requests. */
export function listClaims(
  { logs }: Pick<RawBlock, 'logs'>,
  vaultsByContract: ReadonlyMap<string, readonly DeriveVault[]>,
): Claim[] {
  const claims = new Map<string, Claim>()
  for (const log of logs)
    for (const vault of vaultsByContract.get(log.address) ?? []) {
      const event = decodeVaultEvent(log, vault, logs)
      if (!event || ('atOnce' in event && event.atOnce === true)) continue
      // It names the request that it pays.
      if (event.kind === 'withdraw' && event.pays !== undefined) continue
      const controller =
        event.kind === 'deposit' && hasAsyncDeposit(vault)
          ? event.sender
          : event.kind === 'withdraw' && hasAsyncRedeem(vault)
            ? event.owner
            : undefined
      if (controller === undefined) continue
      const kind = event.kind === 'deposit' ? 'deposit' : 'redeem'
      claims.set(requestKey(vault.id, kind, controller), { vault, kind, controller })
    }
  return [...claims.values()]
}

/** The most requests of one controller that a vault is asked about; the newest are taken. */
const idsMax = 256

/** The reads at each block with claims: every request of their controllers that logs before or in the block name. */
export function listWantedReadings(
  blocks: readonly Pick<RawBlock, 'number' | 'logs'>[],
  earlier: readonly RawLog[],
  vaultsByContract: ReadonlyMap<string, readonly DeriveVault[]>,
): WantedReading[] {
  const ids = new Map<string, Set<bigint>>()
  const note = (logs: readonly RawLog[]) => {
    for (const log of logs)
      for (const vault of vaultsByContract.get(log.address) ?? []) {
        const event = decodeVaultEvent(log, vault, logs)
        if (event?.kind !== 'depositRequest' && event?.kind !== 'redeemRequest') continue
        const key = requestKey(vault.id, event.kind === 'depositRequest' ? 'deposit' : 'redeem', event.controller)
        const known = ids.get(key) ?? new Set<bigint>()
        ids.set(key, known.add(event.requestId))
      }
  }
  note(earlier)
  return blocks.flatMap((block) => {
    note(block.logs)
    return listClaims(block, vaultsByContract).flatMap(({ vault, kind, controller }) =>
      [...(ids.get(requestKey(vault.id, kind, controller)) ?? [])].slice(-idsMax).flatMap((requestId) => {
        const views = viewRequest(vault, { kind, requestId, controller: controller as Address })
        const wanted = { vault: vault.address, kind, controller, requestId, blockNumber: block.number }
        return views ? [{ ...wanted, views }] : []
      }),
    )
  })
}

type Names = (kind: RequestReading['kind']) => VaultEvent['kind']
const isOpened: Names = (kind) => (kind === 'deposit' ? 'depositRequest' : 'redeemRequest')
const isCancelled: Names = (kind) => (kind === 'deposit' ? 'cancelDepositClaim' : 'cancelRedeemClaim')

function sumOf(events: readonly VaultEvent[], { kind, controller, requestId }: RequestReading, name: Names): bigint {
  let sum = 0n
  for (const event of events)
    if (
      event.kind === name(kind) &&
      'amount' in event &&
      event.controller === controller &&
      event.requestId === requestId
    )
      sum += event.amount
  return sum
}
