import type { VerificationContext } from '../client/generated/types.js'
import type { PlannedTransaction } from '../verify/types.js'
import { read, readAddress, word } from './reads.js'
import { findFacts, type Trusts, type World } from './world.js'

/** A claim of all rewards that a stream holds for a wallet, with the proof that the service gave. */
export type ClaimAsked = {
  userAddress: string
  chainId: number
  streamId: string
  /** All that was ever earned. */
  amount: string
  /** Unix seconds of the root. */
  timestamp: number
  proof: readonly string[]
}

export type CheckedClaim = {
  ok: boolean
  problems: string[]
  sentences: string[]
  trusts: Trusts
  transaction: PlannedTransaction | undefined
}

/**
 * Makes the transaction of a claim, and proves its leaf against the roots that the wallet's own provider reads from the stream.
 * The stream is the one that the trusted factory has for its id.
 */
export async function checkClaim(world: World, asked: ClaimAsked): Promise<CheckedClaim> {
  const { verifyStream } = await import('../verify/index.js')
  const { userAddress, chainId, streamId, amount, timestamp, proof } = asked
  const { facts, trusts } = await findFacts(world, chainId)
  const no = (problem: string): CheckedClaim => ({
    ...{ ok: false, problems: [problem], sentences: [], trusts, transaction: undefined },
  })
  if (!facts.streamFactory) return no(`no factory of streams of chain ${chainId} is trusted`)
  if (!streamIdForm.test(streamId)) return no(`${streamId} is no stream`)
  if (!/^[0-9]{1,78}$/.test(amount) || !Number.isSafeInteger(timestamp) || timestamp < 0)
    return no('the claim has no amount or no time')
  if (!Array.isArray(proof) || proof.length > 64 || !proof.every((each) => /^0x[0-9a-f]{64}$/i.test(each)))
    return no('the proof is no proof')
  const { provider } = world
  const stream = await findStream(provider, facts, streamId)
  if (!stream) return no(`the factory does not know the stream ${streamId}`)
  const roots = await read(provider, stream, 'getRoots()')
  if (!roots || roots.length < 4) return no('the roots of the stream cannot be read')
  const known = [0, 2].map((at) => ({ root: `0x${word(roots[at] ?? 0n)}`, timestamp: Number(roots[at + 1]) }))
  const words = [word(amount), word(timestamp), word(96), word(proof.length), ...proof.map((each) => each.slice(2))]
  const data = `0xa88a81e1${words.join('')}`.toLowerCase()
  const transaction = { type: 'claim', transaction: { to: stream, data, value: '0', chainId } }
  const request = { type: 'claim', userAddress, amount } as const
  const context = { chainId, stream, roots: known, ...(facts.gasCap === null ? {} : { gasCap: facts.gasCap }) }
  const verdict = await verifyStream(request, [transaction], context)
  return { ...verdict, trusts, transaction: verdict.ok ? transaction : undefined }
}

const streamIdForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The contract of a stream, as the trusted factory has it. */
async function findStream(
  provider: World['provider'],
  { streamFactory }: VerificationContext,
  streamId: string,
): Promise<string | undefined> {
  if (!streamFactory || !streamIdForm.test(streamId)) return undefined
  // The id fills the first 16 bytes of a word.
  const id = BigInt(`0x${streamId.replaceAll('-', '')}${'0'.repeat(32)}`)
  return readAddress(provider, streamFactory, 'getStreamAddress(bytes16)', id)
}

/** Whether the stream has paid the wallet all that the claim asks for. */
export async function isClaimed(
  world: World,
  { userAddress, chainId, streamId, amount }: ClaimAsked,
): Promise<boolean> {
  const { facts } = await findFacts(world, chainId)
  const stream = await findStream(world.provider, facts, streamId)
  const [claimed] = (stream && (await read(world.provider, stream, 'getClaimedRewards(address)', userAddress))) || []
  return claimed !== undefined && /^[0-9]{1,78}$/.test(amount) && claimed >= BigInt(amount)
}
