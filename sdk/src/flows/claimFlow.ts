import { EarnError, mayRetry } from '../client/error.js'
import { getMerkleProofs } from '../client/generated/operations.js'
import { askClaim, NotReady, Refused, reachChain } from '../wallet/ask.js'
import { type ClaimAsked, checkClaim, isClaimed } from '../wallet/checkClaim.js'
import { readFailure, sentNothing } from '../wallet/provider.js'
import { NotTrusted, nowOf, type World } from '../wallet/world.js'
import { isWaiting, lostAfterLooks, readReceipt, takePlace } from './chain.js'
import { lookOnChain, reach, tellNotReady } from './onChain.js'
import { type Base, change, isHex, isOwn, make, type Problem, type Request, refusal, type Word } from './state.js'

export type ClaimStatus = 'building' | 'ready' | 'asking' | 'unknown' | 'sent' | 'claimed' | 'reverted' | 'refused'

/** Claims all rewards that a stream holds for a wallet. A claim that is mined twice pays once: the amount counts all that was earned. */
export type ClaimFlow = Base & {
  kind: 'claimRewards'
  status: ClaimStatus
  streamId: string
  claim?: ClaimAsked | undefined
  asked?: Request | undefined
  hash?: string | undefined
}

const unasked = new WeakSet<object>()

/** Brings a claim one step further. */
export async function advanceClaim(flow: ClaimFlow, world: World, word: Word | undefined): Promise<ClaimFlow> {
  try {
    switch (flow.status) {
      case 'building':
        return await build(flow, world, word)
      case 'ready':
        return await prepare(flow, world, word)
      case 'asking':
        return await askWallet(flow, world)
      case 'unknown':
      case 'sent':
        return await lookOnChain(flow, world, () => follow(flow, world, word))
      default:
        return flow
    }
  } catch (error) {
    if (error instanceof Refused) return refuse(flow, { code: 'NOT_AS_ASKED', text: error.message })
    if (error instanceof NotReady) return change(flow, { needs: 'go', problem: tellNotReady(error) })
    if (error instanceof NotTrusted) return refuse(flow, { code: 'NOT_TRUSTED', text: error.message })
    if (error instanceof EarnError && !mayRetry(error)) return refuse(flow, { code: error.status, text: error.message })
    const { message } = readFailure(error)
    return change(flow, { looks: (flow.looks ?? 0) + 1, problem: { code: 'UNREACHABLE', text: message } })
  }
}

const refuse = (flow: ClaimFlow, problem: Problem) => change(flow, { status: 'refused', needs: undefined, problem })
const back = (flow: ClaimFlow, problem: Problem) => change(flow, { status: 'ready', needs: 'go', problem })

async function build(flow: ClaimFlow, world: World, word: Word | undefined): Promise<ClaimFlow> {
  const { wallet, streamId } = flow
  const { proofs } = await getMerkleProofs(world.earn, { wallet: wallet as `0x${string}`, streamIds: [streamId] })
  const found = proofs.find((each) => each.streamId === streamId)
  if (found?.error !== '' || found.amount === null || found.timestamp === null || found.chainId === null)
    return refuse(flow, { code: 'NOTHING_TO_CLAIM', text: found?.error || 'there is nothing to claim' })
  const { chainId, amount, proof } = found
  const timestamp = Math.floor(Date.parse(found.timestamp) / 1_000)
  const claim: ClaimAsked = { userAddress: wallet, chainId, streamId, amount, timestamp, proof }
  const waiting = await reach(change(flow, { chainId }), world, word)
  if (waiting) return waiting
  const { ok, problems, sentences, trusts } = await checkClaim(world, claim)
  if (!ok) return refuse({ ...flow, trusts }, { code: 'NOT_AS_ASKED', text: problems.join('\n') })
  // The user of a stored flow has read none of these sentences.
  const needs = isOwn(flow) ? undefined : 'go'
  const told = { sentences, trusts, needs, problem: undefined, looks: 0 } as const
  return make<ClaimFlow>({ ...flow, ...told, status: 'ready', chainId, claim })
}

async function prepare(flow: ClaimFlow, world: World, word: Word | undefined): Promise<ClaimFlow> {
  // A stored claim is made anew, and waits for a word about that.
  if (!isOwn(flow)) return change(flow, { status: 'building', claim: undefined })
  if (flow.needs && word !== 'go') return flow
  await reachChain(world.provider, flow.chainId)
  const place = await takePlace(world.provider, flow.wallet)
  const asked = { position: 0, at: nowOf(world), place }
  const next = change(flow, { status: 'asking', asked, needs: undefined, problem: undefined })
  unasked.add(next)
  return next
}

async function askWallet(flow: ClaimFlow, world: World): Promise<ClaimFlow> {
  const { claim, asked } = flow
  if (!claim || !asked || !unasked.delete(flow)) return change(flow, { status: 'unknown' })
  try {
    const hash = await askClaim(world, { asked: claim, place: asked.place })
    return change(flow, { status: isHex(hash, 32) ? 'sent' : 'unknown', hash, looks: 0 })
  } catch (error) {
    if (error instanceof Refused) throw error
    if (error instanceof NotReady) return back(flow, tellNotReady(error))
    const failure = readFailure(error)
    if (sentNothing(failure)) return back(flow, refusal(failure))
    return change(flow, { status: 'unknown', problem: { code: 'NO_ANSWER', text: failure.message } })
  }
}

/**
 * The stream itself tells whether it paid. A claim that is asked for twice pays once, so that the wallet may be asked again
 * where nobody knows the first: after a word.
 */
async function follow(flow: ClaimFlow, world: World, word: Word | undefined): Promise<ClaimFlow> {
  const { provider } = world
  const { claim, hash, asked, wallet } = flow
  if (claim && (await isClaimed(world, claim)))
    return change(flow, { status: 'claimed', needs: undefined, problem: undefined })
  const receipt = isHex(hash, 32) ? await readReceipt(provider, hash) : undefined
  if (receipt && !receipt.success)
    return change(flow, { status: 'reverted', problem: { code: 'REVERTED', text: 'the claim was mined and reverted' } })
  if (word === 'again' && flow.needs)
    return change(flow, { status: 'building', needs: undefined, claim: undefined, asked: undefined, hash: undefined })
  const looks = (flow.looks ?? 0) + 1
  if (flow.status === 'unknown' || receipt || !isHex(hash, 32)) return change(flow, { looks, needs: 'again' })
  if (await isWaiting(provider, { hash, wallet, place: asked?.place })) return change(flow, { looks: 1 })
  return looks < lostAfterLooks ? change(flow, { looks }) : change(flow, { status: 'unknown', looks })
}
