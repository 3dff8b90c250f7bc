import { listErrors, type VaultCall, type VaultKind } from '../../vaults/index.js'
import type { TokenRecord } from '../catalogue/index.js'
import { type Draft, describeCall, type Step, type Target } from '../plans/index.js'
import { type Asked, assertOutcome, assertUnsimulated, explainRevert } from './checks.js'

/** The parts in which the drafts of the actions differ. */
export type DraftFacts = {
  type: 'deposit' | 'withdraw' | 'claimDeposit' | 'cancelDeposit'
  target: Target
  chain: Draft['chain']
  kind: VaultKind
  /** The block to simulate at; undefined when no simulation was asked for. */
  block: Draft['block']
  /** The token of the amount. */
  token: TokenRecord
  amount: bigint
  amountUsd: string | undefined
  /** The token that the wallet gets. */
  out: TokenRecord
  /** The token that leaves the wallet, if it is not the token of the vault's call: the native token that is wrapped first. */
  given?: TokenRecord
  /** The transactions before the vault's own, and after it. */
  before?: readonly Step[]
  after?: readonly Step[]
  /** The plan swaps before or after the vault's call. */
  swaps?: boolean
  createdAt?: Date
  validSeconds?: number | undefined
  probe?: Draft['probe']
  referralCode?: string | undefined
  /** The offer of the vault, if it limits the amount. */
  offered?: Pick<Asked, 'offer' | 'capability' | 'closed'>
}

/** The draft of an action that ends in a vault's call. */
export function draftOf(call: VaultCall, facts: DraftFacts): Draft {
  const { type, target, token, amount, out, given = token, offered } = facts
  const words = { amount, token, out, vault: partyOf(target), receiver: target.wallet }
  const asked = offered && { ...offered, amount, decimals: token.decimals }
  const spends = facts.given ? { token: given.address, amount } : call.spends
  const main: Step = {
    ...{ type, description: describeCall(call, words), call, gasConstant: call.gasConstant },
    suffix: facts.swaps ? 'beside a swap' : 'plain',
    explainRevert: explainRevert(asked),
  }
  return {
    kind: type,
    chain: facts.chain,
    steps: [...(facts.before ?? []), main, ...(facts.after ?? [])],
    main,
    ...(facts.createdAt ? { createdAt: facts.createdAt } : {}),
    validSeconds: facts.validSeconds,
    tokenIn: given,
    amount,
    amountUsd: facts.amountUsd,
    referralCode: facts.referralCode ?? '',
    tokens: [...(given === token ? [] : [given]), token, out],
    probe: facts.probe,
    block: facts.block,
    errors: listErrors(facts.kind),
    assertUnsimulated: asked ? assertUnsimulated(asked) : () => undefined,
    assertOutcome: (changeOf) => assertOutcome({ ...call, spends }, changeOf),
  }
}

/** The spender of a deposit's tokens, as descriptions name it. */
export function spenderOf(target: Target, address: string, { router }: VaultCall): ReturnType<typeof partyOf> {
  return router === undefined ? { ...partyOf(target), address } : { name: 'the deposit router', address }
}

/** A vault as descriptions name it. */
export function partyOf({ opportunity, vault }: Target): { name: string; address: string } {
  return { name: opportunity.name, address: vault.address }
}
