import { readBlock } from './blocks.js'
import type { Chain } from './chains.js'
import type { Header } from './raw.js'

/** Reads of one search by estimate before it goes on by halving alone. */
const estimatesMax = 6

/**
 * The last block whose time is at or before `atSeconds`; undefined when even the first block is later. Walks back from
 * `head` in growing steps, each at least as long as the mean time of the blocks passed suggests, the first as
 * `meanBlockSeconds` does, then closes in by estimate and by halving. Several blocks may share a time.
 */
export async function findBlockAt(
  chain: Pick<Chain, 'name' | 'rpc'>,
  head: Header,
  atSeconds: number,
  meanBlockSeconds = 0,
): Promise<Header | undefined> {
  if (head.timestamp <= atSeconds) return head
  let late = head
  let early: Header | undefined
  const guess = meanBlockSeconds > 0 ? Math.ceil((head.timestamp - atSeconds) / meanBlockSeconds) : 1
  for (let step = Math.max(1, guess), least = 1; early === undefined; ) {
    if (late.number === 0) return undefined
    const block = await readBlock(chain, Math.max(0, late.number - step))
    if (block.timestamp <= atSeconds) early = block
    else late = block
    const perSecond = (head.number - block.number) / Math.max(1, head.timestamp - block.timestamp)
    step = Math.max(least, Math.ceil((late.timestamp - atSeconds) * perSecond))
    least *= 4
  }
  for (let tries = 0; late.number - early.number > 1; tries++) {
    const block: Header = await readBlock(chain, pickBetween(early, late, atSeconds, tries))
    if (block.timestamp <= atSeconds) early = block
    else late = block
  }
  return early
}

/** A number between two blocks: where their times say the instant lies, or the middle. */
function pickBetween(early: Header, late: Header, atSeconds: number, tries: number): number {
  const apart = late.number - early.number
  if (tries >= estimatesMax || tries % 2 === 1) return early.number + Math.floor(apart / 2)
  const share = (atSeconds - early.timestamp) / Math.max(1, late.timestamp - early.timestamp)
  return Math.min(late.number - 1, Math.max(early.number + 1, early.number + Math.floor(apart * share)))
}
