import type { Clock } from '../../kernel/clock.js'
import { OutboundError } from '../../kernel/outbound.js'
import { type Rpc, RpcError } from '../rpc.js'

export type Witness = ReturnType<typeof createWitness>

/**
 * Whether one node's word can be acted on. A second node decides; where there is no other, or it does not tell, the same has
 * to be told for `recheckMs` without a break.
 */
export function createWitness(
  rpc: Pick<Rpc, 'secondary'>,
  { clock, recheckMs }: { clock: Pick<Clock, 'monotonicMs'>; recheckMs: number },
) {
  const told = new Map<string, { what: string; sinceMs: number }>()
  const note = (about: string, what: string): number => {
    const known = told.get(about)
    if (known?.what === what) return known.sinceMs
    const sinceMs = clock.monotonicMs()
    told.set(about, { what, sinceMs })
    return sinceMs
  }
  return {
    /** Remembers what is told now: it begins anew where something else was told before. */
    note,
    /** Nothing is told of it any more. */
    forget: (about: string) => told.delete(about),
    isSure: async (about: string, what: string, agrees: (second: Rpc) => Promise<boolean>): Promise<boolean> => {
      const sinceMs = note(about, what)
      const second = rpc.secondary()
      if (second) {
        try {
          return await agrees(second)
        } catch (error) {
          if (!(error instanceof OutboundError || error instanceof RpcError)) throw error
        }
      }
      return clock.monotonicMs() - sinceMs >= recheckMs
    },
  }
}
