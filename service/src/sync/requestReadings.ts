import type { Queryable } from '../postgres/pool.js'
import { inTurn } from '../rpc/inTurn.js'
import type { Node } from '../rpc/node.js'
import type { RawBlock, RequestReading, View, WantedReading } from '../rpc/raw.js'
import type { Opened } from './projection.js'

/** Blocks about which vaults are asked at a time. */
const blocksInFlight = 8

/** What vaults are to be asked about blocks: about requests that claims of the blocks may be of. */
export async function listWanted(
  db: Queryable,
  input: { chainId: number; opened: readonly Opened[]; blocks: readonly RawBlock[] },
): Promise<readonly WantedReading[]> {
  const { chainId, opened, blocks } = input
  const asked = await Promise.all(
    opened.map(({ projection, config }) => projection.wantReadings?.(db, { chainId, config, blocks }) ?? []),
  )
  return asked.flat()
}

/** Whether anything of blocks may be asked of a node. */
export function mayObserve(node: Node, blocks: readonly RawBlock[]): boolean {
  return node.readViews !== undefined && blocks.some(({ logs }) => logs.length > 0)
}

/** Adds to blocks what vaults answer of some requests, before each block and after it. */
export async function readWanted(
  node: Node,
  blocks: readonly RawBlock[],
  asked: readonly WantedReading[],
): Promise<readonly RawBlock[]> {
  const wanted = new Map<number, WantedReading[]>()
  for (const each of asked) wanted.set(each.blockNumber, [...(wanted.get(each.blockNumber) ?? []), each])
  if (wanted.size === 0) return blocks
  const read = new Map<number, RequestReading[]>()
  await inTurn(blocks, blocksInFlight, async ({ number, hash, parentHash }) => {
    const own = wanted.get(number)
    if (own) read.set(number, await readBlock(node, own, { hash, parentHash }))
  })
  return blocks.map((block) => {
    const requestReadings = read.get(block.number)
    return requestReadings ? { ...block, requestReadings } : block
  })
}

async function readBlock(
  node: Node,
  wanted: readonly WantedReading[],
  { hash, parentHash }: { hash: string; parentHash: string },
): Promise<RequestReading[]> {
  const views = wanted.flatMap((each) => each.views)
  const [before, after] = await Promise.all([
    readSums(node, wanted, views, parentHash),
    readSums(node, wanted, views, hash),
  ])
  return wanted.map(({ vault, kind, controller, requestId }, at) => ({
    vault,
    kind,
    controller,
    requestId,
    before: before[at] ?? 'unknown',
    after: after[at] ?? 'unknown',
  }))
}

/** The sum of the views of each; undefined where one of them was not answered. */
async function readSums(
  node: Node,
  wanted: readonly WantedReading[],
  views: readonly View[],
  blockHash: string,
): Promise<(bigint | undefined)[]> {
  const answers = (await node.readViews?.(views, blockHash)) ?? []
  let at = 0
  return wanted.map(({ views: own }) => {
    const told = answers.slice(at, at + own.length)
    at += own.length
    if (told.length < own.length) return undefined
    return told.reduce<bigint | undefined>(
      (sum, each) => (sum === undefined || each === undefined ? undefined : sum + each),
      0n,
    )
  })
}
