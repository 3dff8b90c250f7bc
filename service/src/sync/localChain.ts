import type { Header } from '../rpc/raw.js'

type Link = Pick<Header, 'number' | 'hash'>

/** The effect of a block seen at a node on a chain that is derived up to `tip`. */
export type BlockStep =
  /** The next block. */
  | { kind: 'append' }
  /** Already derived. */
  | { kind: 'known' }
  /** Blocks between the tip and this one have not been seen. */
  | { kind: 'gap'; next: number }
  /** Another chain: the common ancestor must be found. */
  | { kind: 'fork' }

/**
 * Decides the step for a block. `local` returns the hash we hold at a height, or undefined. An empty tip hash means that no
 * block is derived yet, so any block at the right height is next.
 */
export function decideStep(tip: Link, block: Header, local: (number: number) => string | undefined): BlockStep {
  if (block.number === tip.number + 1)
    return tip.hash === '' || block.parentHash === tip.hash ? { kind: 'append' } : { kind: 'fork' }
  if (block.number > tip.number) return { kind: 'gap', next: tip.number + 1 }
  const held = local(block.number)
  return held === undefined || held === block.hash ? { kind: 'known' } : { kind: 'fork' }
}

/** The depth of the deepest removed block decides the proof that a reorganisation needs. */
export type ReorgVerdict = 'apply' | 'recheck' | 'refuse'

/**
 * The rule for a reorganisation back to `ancestor`: at or below final it is never applied by itself; between confirmed and
 * final a second read must agree; above that it is applied at once. `head` is the newest block of the old chain.
 */
export function judgeReorg(input: {
  ancestor: number
  head: number
  confirmations: number
  finalized: number | null
  finalityDepth: number
}): ReorgVerdict {
  const { ancestor, head, confirmations, finalized, finalityDepth } = input
  const deepest = ancestor + 1
  const depth = head - deepest + 1
  if (deepest <= (finalized ?? -1)) return 'refuse'
  if (finalized === null && depth >= finalityDepth) return 'refuse'
  return depth >= confirmations ? 'recheck' : 'apply'
}

/** Blocks up to this one are final: the node's own word, else the depth set for the chain. Never goes backwards. */
export function finalNumber(input: {
  head: number
  finalized: number | null
  finalityDepth: number
  previous: number | null
}): number | null {
  const { head, finalized, finalityDepth, previous } = input
  const found = finalized ?? (head - finalityDepth + 1 >= 0 ? head - finalityDepth + 1 : null)
  if (found === null) return previous
  return previous === null ? found : Math.max(previous, found)
}
