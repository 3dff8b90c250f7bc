import { toUnixSeconds } from '../../../kernel/clock.js'
import { redactUrls } from '../../../kernel/log.js'
import type { Context } from '../../../postgres/context.js'
import type { Chain, Chains } from '../../../rpc/chains.js'
import { listRoots } from '../storeEvents.js'
import { listTaken } from '../storeSnapshots.js'
import type { StreamRow } from '../storeStreams.js'
import { type CountedRoot, claimOf, countAtNode, type OpenRoot, type RootClaim } from './countRoot.js'
import { compareLeaves, describeLeaf, isSameResult, type RootReading } from './rootVerdict.js'

/** The name of the stored facts among the sources of a root. */
export const storedSource = 'stored facts'

/** How many of the newest roots on a chain that are not ours are looked at. */
const othersMax = 4

/** The newest root of ours, and the newest on the chain that are not ours. */
export async function listClaims({ db }: Pick<Context, 'db'>, stream: StreamRow): Promise<RootClaim[]> {
  const snapshot = (await listTaken(db, [stream.id])).get(stream.id)?.counted
  const own = snapshot?.root ? [await claimOf(db, stream, snapshot)] : []
  const others = (await listRoots(db, [stream.id])).filter(({ isOurs }) => !isOurs).slice(0, othersMax)
  return [...own, ...others.map(({ rootAt, root, total }) => ({ stream, at: toUnixSeconds(rootAt), root, total }))]
}

/** The same chains, one of them asked at one url. */
export const withNode = (chains: Chains, node: Chain): Chains => new Map([...chains, [node.chainId, node]])

/** A node that fails tells nothing, and says why. */
export async function countSafely(
  { clock, log }: Pick<Context, 'clock' | 'log'>,
  open: OpenRoot,
  { source, chains }: { source: string; chains: Chains },
): Promise<CountedRoot> {
  try {
    return await countAtNode({ clock, log, chains }, open)
  } catch (error) {
    log.warn({ err: error, source, streamId: open.claim.stream.id }, 'a node could not tell the inputs of a root')
    const why = redactUrls(error instanceof Error ? error.message : String(error))
    return { result: undefined, problems: [`the node cannot be read: ${why}`], leaves: [] }
  }
}

/** Everything a source says against a root, a line each. */
export function describeCounted({ root, total, leaves }: RootClaim, source: string, counted: CountedRoot): string[] {
  const { result, problems } = counted
  if (!result) return problems.map((problem) => `${source}: ${problem}`)
  const differences = leaves ? compareLeaves(leaves, counted.leaves).map(describeLeaf) : []
  const other = isSameResult(result, { root, total }) ? [] : [describeResult(result)]
  return [...other, ...problems, ...differences].map((line) => `${source}: ${line}`)
}

const describeResult = ({ root, total }: NonNullable<RootReading['result']>): string =>
  `the root is ${root ?? 'that of no tree'}, for ${total} in all`
