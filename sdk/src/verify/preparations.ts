import { type Address, type Hex, isAddressEqual } from 'viem'
import type { Asked, AskedDeposit } from './asked.js'
import type { Known } from './context.js'
import { approve, findContract, wrap } from './expected.js'
import { tellApproval, tellWrap } from './sentences.js'
import { type Complain, parseAddress } from './shape.js'
import type { ParsedTransaction } from './transactions.js'

/** One transaction before the main call as it has to be, with what it does in words. */
type Step = { type: string; to: Address; data: Hex; value: bigint; sentence: string }

/**
 * What comes before the main call, which is the last of the steps: wrapping the native token, and approvals of exactly
 * the amount. Answers what they do;
 * undefined, and a complaint, where they are not what is needed.
 */
export function checkPreparations(
  asked: Asked,
  steps: readonly ParsedTransaction[],
  known: Known,
  complain: Complain,
): string[] | undefined {
  const [main, before] = [steps.at(-1), steps.slice(0, -1)]
  const allowed = asked.type === 'deposit' ? listPreparations(asked, known, complain) : listPulls(asked, main, known)
  const found = allowed.find((expected) => isSame(before, expected))
  if (!found) complain('what comes before the last transaction is not what this needs, and nothing else')
  return found?.map(({ sentence }) => sentence)
}

function isSame(steps: readonly ParsedTransaction[], expected: readonly Step[]): boolean {
  return (
    steps.length === expected.length &&
    expected.every((wanted, i) => {
      const step = steps[i]
      if (!step || step.type !== wanted.type || step.value !== wanted.value) return false
      return isAddressEqual(step.to, wanted.to) && step.data === wanted.data
    })
  )
}

/** The token that enters the vault; undefined where the vault does not take the one given. */
export function getEnteringToken({ token }: AskedDeposit, { kind, asset, wrappedNative }: Known): Address | undefined {
  // A vault that takes one token takes the native one only where its asset wraps it.
  const entering = token === 'native' ? (wrappedNative ?? (kind.severalTokens ? undefined : asset)) : token
  return entering !== undefined && (kind.severalTokens || isAddressEqual(entering, asset)) ? entering : undefined
}

/** A vault may pull the shares it is asked to redeem: then exactly these are approved to it, and only for that call. */
function listPulls(asked: Asked, main: ParsedTransaction | undefined, known: Known): Step[][] {
  const { kind, share, vault, pullsShares } = known
  if (asked.type !== 'withdraw' || !main || !kind.mayPull?.(main.data) || pullsShares === false) return [[]]
  const sentence = tellApproval(asked.amount, share, vault, known)
  const pull: Step = { type: 'approve', to: share, data: approve(vault, asked.amount), value: 0n, sentence }
  return pullsShares ? [[pull]] : [[], [pull]]
}

/** Every sequence of preparations that fits: which of them depends on the allowance, where that is not known. */
function listPreparations(asked: AskedDeposit, known: Known, complain: Complain): Step[][] {
  const { amount } = asked
  const { vault, kind, contracts, allowance, approvalReset } = known
  const token = getEnteringToken(asked, known)
  if (!token) {
    complain('the token given is not the one the vault takes')
    return []
  }
  const taker = parseAddress(findContract(kind, 'spender', { address: vault, contracts }))
  if (!taker) {
    complain('the contract that takes the tokens is not known')
    return []
  }
  const wrapping: Step = {
    type: 'swap',
    to: token,
    data: wrap(),
    value: amount,
    sentence: tellWrap(amount, token, known),
  }
  const wraps = asked.token === 'native' ? [wrapping] : []
  const step = (value: bigint): Step => ({
    type: 'approve',
    to: token,
    data: approve(taker, value),
    value: 0n,
    sentence: tellApproval(value, token, taker, known),
  })
  const once = [...wraps, step(amount)]
  const reset = [...wraps, step(0n), step(amount)]
  if (allowance === undefined) return [wraps, once, ...(approvalReset === false ? [] : [reset])]
  if (allowance >= amount) return [wraps]
  // A token whose allowance is 0 needs no reset, whatever it wants of others.
  if (allowance === 0n || approvalReset === false) return [once]
  return approvalReset ? [reset] : [once, reset]
}
