import type { Address, Hex } from 'viem'
import { expect } from 'vitest'
import { formatHex, parseHex } from '../src/calldata.js'
import { type FrameGroup, readFrames } from '../src/frames.js'
import { account, entryPoints, owner } from './wrapping.js'

export type Seen = { caller: Address; target: Address; data: Hex; depth: number }

export function framesOf(input: Hex, { from = owner, to = account as Address | null } = {}) {
  const data = parseHex(input) ?? expect.fail('not hex')
  const { groups, bundle, truncated } = readFrames({ from, to, input: data, entryPoints })
  const seen = (group: FrameGroup): Seen[] =>
    group.frames.map(({ caller, target, start, end, depth }) => ({
      caller,
      target,
      data: formatHex(data, start, end),
      depth,
    }))
  return { groups: groups.map((group) => ({ ...group, seen: seen(group) })), bundle, truncated }
}

/** The frames inside the transaction itself. */
export function innerFrames(input: Hex, options?: Parameters<typeof framesOf>[1]): Seen[] {
  return framesOf(input, options).groups[0]?.seen.slice(1) ?? []
}
