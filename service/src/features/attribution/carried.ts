import { type Attribution, calldataBytes, formatHex, hashAttribution, type OperationEvent } from '@openearn/attribution'
import type { Address, Hex } from 'viem'
import type { ActionRow } from '../plans/index.js'

/** An action that a call of a transaction carries: signed by a key of ours for this very call. */
export type Carried = {
  actionId: string
  /** The signed digest: an action has one for each of its calls. */
  digest: string
  /** False where an entry point tells that the operation with the call failed. */
  ran: boolean
}

/** Actions of one transaction that are told; an honest one carries a handful. */
const carriedMax = 64

/** The actions whose calls a transaction makes, as far as nobody's word is needed for it; each call once. Pure. */
export function listCarried(attribution: Attribution, operations: readonly OperationEvent[]): Carried[] {
  const carried = new Map<string, Carried>()
  for (const { kind, sender, findings } of attribution.groups)
    for (const { signature, actionId } of findings.flatMap(({ readings }) => readings)) {
      const { valid, provenBy, digest } = signature
      if (!valid || provenBy?.proven !== true || digest === undefined || actionId === undefined) continue
      if (carried.size >= carriedMax || carried.has(digest)) continue
      carried.set(digest, { actionId, digest, ran: kind === 'transaction' || hasRun(sender, operations) })
    }
  return [...carried.values()]
}

/** Whether an entry point ran an operation of a sender; where none tells of it, nothing says that it failed. */
function hasRun(sender: string, operations: readonly OperationEvent[]): boolean {
  const own = operations.filter((operation) => operation.sender === sender.toLowerCase())
  return own.length === 0 || own.some(({ success }) => success)
}

/** The digest that was signed for the action's own call; undefined if it has no suffix. Pure. */
export function digestOf(action: ActionRow): string | undefined {
  const { id, distributorId, chainId, wallet, target, callHash, referralCode } = action
  if (distributorId === null) return undefined
  const message = {
    ...{ code: distributorId, chainId, wallet: wallet as Address, target: target as Address, referralCode },
    actionId: calldataBytes(`0x${id.replaceAll('-', '')}`),
    callHash: calldataBytes(callHash as Hex),
  }
  return formatHex(hashAttribution(message))
}
