import { type Address, isAddressEqual } from 'viem'
import { isSame, listApprovals, type Step } from './approvals.js'
import type { AskedDeposit, AskedOfVault } from './asked.js'
import type { Known } from './context.js'
import { approve, findContract, wrap } from './expected.js'
import { tellApproval, tellWrap } from './sentences.js'
import { type Complain, parseAddress } from './shape.js'
import type { ParsedTransaction } from './transactions.js'

/**
 * Checks the steps before the main call, which is the last one: wrapping the native token, and approvals of exactly the
 * amount. Returns sentences about them; undefined, with a complaint, if they are not the needed ones.
 */
export function checkPreparations(
  asked: AskedOfVault,
  steps: readonly ParsedTransaction[],
  known: Known,
  complain: Complain,
): string[] | undefined {
  const [main, before] = [steps.at(-1), steps.slice(0, -1)]
  const allowed = asked.type === 'deposit' ? listPreparations(asked, known, complain) : listPulls(asked, main, known)
  return findSame(before, allowed, complain)
}

/** Sentences about the transactions, if they are one of the allowed sequences. */
export function findSame(
  steps: readonly ParsedTransaction[],
  allowed: readonly Step[][],
  complain: Complain,
): string[] | undefined {
  const found = allowed.find((expected) => isSame(steps, expected))
  if (!found) complain('what comes before the last transaction is not what this needs, and nothing else')
  return found?.map(({ sentence }) => sentence)
}

/** The token that enters the vault; undefined where the vault does not take the one given. */
export function getEnteringToken({ token }: AskedDeposit, { kind, asset, wrappedNative }: Known): Address | undefined {
  // A vault that takes one token takes the native one only where its asset wraps it.
  const entering = token === 'native' ? (wrappedNative ?? (kind.severalTokens ? undefined : asset)) : token
  return entering !== undefined && (kind.severalTokens || isAddressEqual(entering, asset)) ? entering : undefined
}

/**
 * A vault, or its contract that does so, may pull the shares it is asked to redeem: then exactly these are approved to it, and only
 * for that call.
 */
function listPulls(asked: AskedOfVault, main: ParsedTransaction | undefined, known: Known): Step[][] {
  const { kind, share, vault, contracts, pullsShares } = known
  if (asked.type !== 'withdraw' || !main || !kind.mayPull?.(main.data) || pullsShares === false) return [[]]
  const puller = parseAddress(findContract(kind, 'puller', { address: vault, contracts }))
  if (!puller) return [[]]
  const sentence = tellApproval(asked.amount, share, puller, known)
  const pull: Step = { type: 'approve', to: share, data: approve(puller, asked.amount), value: 0n, sentence }
  return pullsShares ? [[pull]] : [[], [pull]]
}

/** Every sequence of preparations that fits: which of them depends on the allowance, where that is not known. */
function listPreparations(asked: AskedDeposit, known: Known, complain: Complain): Step[][] {
  const { amount } = asked
  const token = getEnteringToken(asked, known)
  if (!token) {
    complain('the token given is not the one the vault takes')
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
  return listVaultApprovals(token, amount, known, complain).map((approvals) => [...wraps, ...approvals])
}

/** The allowed sequences of approvals for the spender of the vault. */
export function listVaultApprovals(token: Address, amount: bigint, known: Known, complain: Complain): Step[][] {
  const { vault, kind, contracts } = known
  const spender = parseAddress(findContract(kind, 'spender', { address: vault, contracts }))
  if (spender) return listApprovals({ token, spender, amount }, known)
  complain('the contract that takes the tokens is not known')
  return []
}
