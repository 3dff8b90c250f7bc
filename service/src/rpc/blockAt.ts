import { readBlock } from './blocks.js'
import type { Chain } from './chains.js'
import type { Header } from './raw.js'

/** Reads of one search by estimate before it goes on by halving alone. */
const estimatesMax = 6

/** The blocks that searches near each other have read: none of them is read twice. */
export type ReadBlocks = {
  read(number: number): Promise<Header>
  /** The nearest blocks before and after an instant of those that were read. */
  around(atSeconds: number): { early: Header | undefined; late: Header | undefined }
}

/** Begins without any block. It is to be used for a moment, and for blocks that are not replaced meanwhile. */
export function rememberBlocks(chain: Pick<Chain, 'name' | 'rpc'>): ReadBlocks {
  const reads = new Map<number, Promise<Header>>()
  /** By number, so that their times never fall. */
  const blocks: Header[] = []
  const countUntil = (isBefore: (block: Header) => boolean): number => {
    let [low, high] = [0, blocks.length]
    while (low < high) {
      const middle = (low + high) >> 1
      const block = blocks[middle]
      if (block && isBefore(block)) low = middle + 1
      else high = middle
    }
    return low
  }
  const readNew = async (number: number): Promise<Header> => {
    const block = await readBlock(chain, number)
    blocks.splice(
      countUntil((each) => each.number < number),
      0,
      block,
    )
    return block
  }
  return {
    read: (number) => {
      const reading = reads.get(number) ?? readNew(number)
      reads.set(number, reading)
      // The next search asks again.
      reading.catch(() => reads.delete(number))
      return reading
    },
    around: (atSeconds) => {
      const count = countUntil(({ timestamp }) => timestamp <= atSeconds)
      return { early: blocks[count - 1], late: blocks[count] }
    },
  }
}

/**
 * The last block whose time is at or before `atSeconds`; undefined when even the first block is later. Begins at the nearest later
 * block that is known, `head` unless `blocks` has read one. Walks back from it in growing steps, each at least as long as the mean
 * time of the blocks passed suggests, the first as `meanBlockSeconds` does, then closes in by estimate and by halving. Several
 * blocks may share a time.
 */
export async function findBlockAt(
  chain: Pick<Chain, 'name' | 'rpc'>,
  head: Header,
  atSeconds: number,
  meanBlockSeconds = 0,
  blocks: ReadBlocks = rememberBlocks(chain),
): Promise<Header | undefined> {
  if (head.timestamp <= atSeconds) return head
  const { early: floor, late: ceiling } = blocks.around(atSeconds)
  let late = ceiling ?? head
  let early: Header | undefined
  const guess = meanBlockSeconds > 0 ? Math.ceil((late.timestamp - atSeconds) / meanBlockSeconds) : 1
  for (let step = Math.max(1, guess), least = 1; early === undefined; ) {
    if (late.number === 0) return undefined
    const number = Math.max(0, late.number - step)
    const block = floor && floor.number >= number ? floor : await blocks.read(number)
    if (block.timestamp <= atSeconds) early = block
    else late = block
    const perSecond = (head.number - block.number) / Math.max(1, head.timestamp - block.timestamp)
    step = Math.max(least, Math.ceil((late.timestamp - atSeconds) * perSecond))
    least *= 4
  }
  for (let tries = 0; late.number - early.number > 1; tries++) {
    const block: Header = await blocks.read(pickBetween(early, late, atSeconds, tries))
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
