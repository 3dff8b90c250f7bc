import { type Address, isAddressEqual } from 'viem'
import { isSame, listApprovals, type Step } from './approvals.js'
import type { AskedDeposit, AskedOfVault } from './asked.js'
import type { Known } from './context.js'
import { findContract, wrap } from './expected.js'
import { tellWrap } from './sentences.js'
import { type Complain, parseAddress } from './shape.js'
import type { ParsedTransaction } from './transactions.js'

/**
 * What comes before the main call: wrapping the native token, and approvals of exactly the amount. Answers what they do;
 * undefined, and a complaint, where they are not what is needed.
 */
export function checkPreparations(
  asked: AskedOfVault,
  steps: readonly ParsedTransaction[],
  known: Known,
  complain: Complain,
): string[] | undefined {
  const allowed = asked.type === 'deposit' ? listPreparations(asked, known, complain) : [[]]
  return findSame(steps, allowed, complain)
}

/** What the transactions do, where they are one of the sequences allowed. */
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

/** The approvals whoever takes the tokens for the vault needs. */
export function listVaultApprovals(token: Address, amount: bigint, known: Known, complain: Complain): Step[][] {
  const { vault, kind, contracts } = known
  const spender = parseAddress(findContract(kind, 'spender', { address: vault, contracts }))
  if (spender) return listApprovals({ token, spender, amount }, known)
  complain('the contract that takes the tokens is not known')
  return []
}
