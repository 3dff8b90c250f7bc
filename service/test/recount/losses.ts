import type { DeriveVault } from '../../src/derive/config.js'
import type { ReadBlock as RawBlock } from '../../src/derive/settled.js'
import { readTold } from './told.js'
import type { Told } from './types.js'

/** SEMANTICS §3a: what each request id lost in a block, to be consumed by the block's claims; undefined where it is not known. */
export type Losses = {
  of(kind: 'deposit' | 'redeem', controller: string, id: bigint): bigint | undefined
  use(kind: 'deposit' | 'redeem', controller: string, id: bigint, amount: bigint): void
}

const everything = 2n ** 256n

export function readLosses(block: RawBlock, vault: DeriveVault): Losses {
  const told = block.logs.flatMap((log) => readTold(log, vault, block.logs) ?? [])
  const used = new Map<string, bigint>()
  const keyOf = (kind: string, controller: string, id: bigint) => `${kind}:${controller}:${id}`
  const sum = (kinds: Told['kind'][], controller: string, id: bigint): bigint => {
    let all = 0n
    for (const event of told)
      if (
        'id' in event &&
        'amount' in event &&
        kinds.includes(event.kind) &&
        event.controller === controller &&
        event.id === id
      )
        all += event.amount
    return all
  }
  return {
    of: (kind, controller, id) => {
      const reading = (block.requestReadings ?? []).find(
        (each) =>
          each.vault === vault.address && each.kind === kind && each.controller === controller && each.requestId === id,
      )
      if (!reading || reading.before === 'unknown' || reading.after === 'unknown') return undefined
      const [cancel, request] =
        kind === 'deposit'
          ? (['cancelDepositClaim', 'depositRequest'] as const)
          : (['cancelRedeemClaim', 'redeemRequest'] as const)
      // What was asked for in the block itself is there at its end and was not there before it.
      const lost = reading.before + sum([request], controller, id) - reading.after - sum([cancel], controller, id)
      // An id of which claims alone left nothing lost all there was, however the vault rounds what it tells (methodology).
      if (reading.after === 0n && sum([cancel], controller, id) === 0n) return everything
      const left = lost - (used.get(keyOf(kind, controller, id)) ?? 0n)
      return left > 0n ? left : 0n
    },
    use: (kind, controller, id, amount) => {
      const key = keyOf(kind, controller, id)
      used.set(key, (used.get(key) ?? 0n) + amount)
    },
  }
}
