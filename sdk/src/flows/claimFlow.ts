import { EarnError, mayRetry } from '../client/error.js'
import { getMerkleProofs } from '../client/generated/operations.js'
import { askClaim, NotReady, Refused } from '../wallet/ask.js'
import { type ClaimAsked, checkClaim } from '../wallet/checkClaim.js'
import { readFailure, sentNothing } from '../wallet/provider.js'
import { nowOf, type World } from '../wallet/world.js'
import { readReceipt, takePlace } from './chain.js'
import { type Base, change, isHex, isOwn, type Problem, type Request, type Word } from './state.js'

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
        return await build(flow, world)
      case 'ready':
        return await prepare(flow, world, word)
      case 'asking':
        return await askWallet(flow, world)
      case 'unknown':
        return word ? change(flow, { status: 'building', needs: undefined }) : change(flow, { needs: 'again' })
      case 'sent':
        return await follow(flow, world)
      default:
        return flow
    }
  } catch (error) {
    if (error instanceof Refused) return refuse(flow, { code: 'NOT_AS_ASKED', text: error.message })
    if (error instanceof TypeError && flow.status === 'building')
      return refuse(flow, { code: 'NOT_TRUSTED', text: error.message })
    if (error instanceof EarnError && !mayRetry(error)) return refuse(flow, { code: error.status, text: error.message })
    const { message } = readFailure(error)
    return change(flow, { looks: (flow.looks ?? 0) + 1, problem: { code: 'UNREACHABLE', text: message } })
  }
}

const refuse = (flow: ClaimFlow, problem: Problem) => change(flow, { status: 'refused', needs: undefined, problem })
const back = (flow: ClaimFlow, problem: Problem) => change(flow, { status: 'ready', needs: 'go', problem })

async function build(flow: ClaimFlow, world: World): Promise<ClaimFlow> {
  const { wallet, streamId } = flow
  const { proofs } = await getMerkleProofs(world.earn, { wallet: wallet as `0x${string}`, streamIds: [streamId] })
  const found = proofs.find((each) => each.streamId === streamId)
  if (found?.error !== '' || found.amount === null || found.timestamp === null || found.chainId === null)
    return refuse(flow, { code: 'NOTHING_TO_CLAIM', text: found?.error || 'there is nothing to claim' })
  const { chainId, amount, proof } = found
  const timestamp = Math.floor(Date.parse(found.timestamp) / 1_000)
  const claim: ClaimAsked = { userAddress: wallet, chainId, streamId, amount, timestamp, proof }
  const { ok, problems, sentences, trusts } = await checkClaim(world, claim)
  if (!ok) return refuse({ ...flow, trusts }, { code: 'NOT_AS_ASKED', text: problems.join('\n') })
  const { needs } = flow
  return change(flow, { status: 'ready', chainId, claim, sentences, trusts, needs, problem: undefined, looks: 0 })
}

async function prepare(flow: ClaimFlow, world: World, word: Word | undefined): Promise<ClaimFlow> {
  // A stored claim is made anew, and waits for a word.
  if (!isOwn(flow)) return change(flow, { status: 'building', claim: undefined, needs: 'go' })
  if (flow.needs && word !== 'go') return flow
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
    if (error instanceof NotReady)
      return back(flow, { code: error.reason === 'chain' ? 'WRONG_CHAIN' : 'WRONG_ACCOUNT', text: error.message })
    const failure = readFailure(error)
    if (sentNothing(failure))
      return back(flow, { code: failure.code === 4001 ? 'REJECTED' : 'NOT_TAKEN', text: failure.message })
    return change(flow, { status: 'unknown', problem: { code: 'NO_ANSWER', text: failure.message } })
  }
}

async function follow(flow: ClaimFlow, { provider }: World): Promise<ClaimFlow> {
  const receipt = isHex(flow.hash, 32) ? await readReceipt(provider, flow.hash) : undefined
  if (!receipt) return change(flow, { looks: (flow.looks ?? 0) + 1 })
  return receipt.success
    ? change(flow, { status: 'claimed', problem: undefined })
    : change(flow, { status: 'reverted', problem: { code: 'REVERTED', text: 'the claim was mined and reverted' } })
}
