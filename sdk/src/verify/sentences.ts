import { type Address, type Hex, slice, toFunctionSelector } from 'viem'
import type { OwnSuffix } from '../attribution/suffix.js'
import type { AskedOfVault } from './asked.js'
import type { Known } from './context.js'
import { quote } from './shape.js'
import type { SwapFound, SwapWanted, Token } from './swapCalls.js'

/**
 * Sentences about verified transactions, for people: from the signed bytes and the request, with addresses and raw amounts. They
 * contain nothing that the service said about its plan.
 */

type Names = Pick<Known, 'names'>

export const nameOf = (address: Address, { names }: Names): string => {
  const known = names.get(address)
  return known === undefined ? address : `${known} (${address})`
}

export const tellWrap = (amount: bigint, token: Address, known: Names): string =>
  `Send ${amount} wei of the native token to ${nameOf(token, known)}, which wraps them for your wallet.`

export const tellApproval = (amount: bigint, token: Address, spender: Address, known: Names): string =>
  amount === 0n
    ? `Reset the allowance of ${nameOf(spender, known)} for ${nameOf(token, known)} to 0.`
    : `Allow ${nameOf(spender, known)} to take exactly ${amount} units of ${nameOf(token, known)} from your wallet.`

const requests = ['requestDeposit', 'requestRedeem'].map((each) =>
  toFunctionSelector(`${each}(uint256,address,address)`),
)
const claimOfCancelled = toFunctionSelector('claimCancelDepositRequest(uint256,address,address)')
const cancellation = toFunctionSelector('cancelDepositRequest(uint256,address)')
/** Which argument says the least that must come out. */
const minimumAt: ReadonlyMap<string, number> = new Map(
  (
    [
      ['deposit(address,address,uint256,uint256)', 3],
      ['redeem(address,uint256,address,uint256,bool)', 3],
      ['syncRedeem(uint256,address,uint256)', 2],
      ['depositWithMinimum(address,uint256,address,uint256)', 3],
    ] as const
  ).map(([declaration, at]) => [toFunctionSelector(declaration), at]),
)
const claimInShares = toFunctionSelector('mint(uint256,address,address)')

const depositWithMinimum = toFunctionSelector('depositWithMinimum(address,uint256,address,uint256)')
const cooldownStart = toFunctionSelector('cooldownShares(uint256)')
const windowStart = toFunctionSelector('cooldown()')
const queueRequest = toFunctionSelector('requestRedeem(uint256,address)')
const queueReturn = toFunctionSelector('removeShares(uint256,address)')
const cooledOut = toFunctionSelector('unstake(address)')

const word = (call: Hex, at: number): bigint => BigInt(slice(call, 4 + 32 * at, 36 + 32 * at))

/** The call that moves the money; `token` is what enters or leaves the vault, `own` its suffix. */
export function tellMain(
  asked: AskedOfVault,
  call: Hex,
  token: Address,
  own: OwnSuffix | undefined,
  known: Names & Pick<Known, 'vault' | 'depositRouter'>,
): string {
  return `${tellCall(asked, call, nameOf(token, known), known)}${tellBringer(own)}.`
}

function tellBringer(own: OwnSuffix | undefined): string {
  const referral = own?.referralCode ? ` with the referral code ${quote(own.referralCode)}` : ''
  return own ? `; brought by ${quote(own.code)}${referral}` : ''
}

const tokenName = (token: Token, known: Names): string =>
  token === 'native' ? 'the native token' : nameOf(token, known)

/** A swap at a router, or at the token that wraps the native one. */
export function tellSwap(
  to: Address,
  { amountIn, minimumOut }: SwapFound,
  { tokenIn, tokenOut, user }: SwapWanted,
  own: OwnSuffix | undefined,
  known: Names,
): string {
  const given = `${amountIn} units of ${tokenName(tokenIn, known)}`
  const got = `at least ${minimumOut} units of ${tokenName(tokenOut, known)}`
  return `Swap ${given} for ${got} at ${nameOf(to, known)}; it goes to ${nameOf(user, known)}${tellBringer(own)}.`
}

function tellRouter(selector: Hex, known: Names & Pick<Known, 'depositRouter'>): string {
  const { depositRouter: router } = known
  return selector === depositWithMinimum && router ? ` through ${nameOf(router, known)}` : ''
}

function tellCall(
  asked: AskedOfVault,
  call: Hex,
  token: string,
  known: Names & Pick<Known, 'vault' | 'depositRouter'>,
): string {
  const selector = slice(call, 0, 4)
  const vault = nameOf(known.vault, known)
  const user = nameOf(asked.user, known)
  const isRequest = requests.includes(selector)
  const leastAt = minimumAt.get(selector)
  const least = leastAt === undefined ? undefined : word(call, leastAt)
  switch (asked.type) {
    case 'deposit':
      if (isRequest)
        return `Request to deposit ${asked.amount} units of ${token} into ${vault}; once it is settled, ${user} claims the shares`
      return `Deposit ${asked.amount} units of ${token} into ${vault}${tellRouter(selector, known)}${least === undefined ? '' : ` for at least ${least} shares`}; the shares go to ${user}`
    case 'withdraw':
      if (selector === cooldownStart)
        return `Redeem ${asked.amount} shares of ${vault}; the ${token} enters a cooldown, ${user} withdraws it afterwards, and amounts already in cooldown start again from zero`
      if (selector === windowStart)
        return `Start the cooldown of all shares of ${vault}; ${user} can redeem them in the window after it, and a running cooldown starts again from zero`
      if (selector === cooledOut)
        return `Withdraw all ${token} whose cooldown at ${vault} has ended; it goes to ${user}`
      if (selector === queueRequest)
        return `Request to redeem ${asked.amount} shares of ${vault}; once its queue has processed it, the ${token} goes to ${user}`
      if (isRequest)
        return `Request to redeem ${asked.amount} shares of ${vault}; once it is settled, ${user} claims the ${token}`
      return `Redeem ${asked.amount} shares of ${vault}; the ${token}${least === undefined ? '' : `, at least ${least} units,`} goes to ${user}`
    case 'claimDeposit':
      if (selector === claimInShares)
        return `Claim ${word(call, 0)} shares of a settled deposit into ${vault}; they go to ${user}`
      return `Claim the shares of ${word(call, 0)} units of ${token} deposited into ${vault}; they go to ${user}`
    case 'cancelDeposit':
      if (selector === queueReturn)
        return `Take back ${word(call, 0)} shares of ${vault} that wait for their redemption; they go to ${user}`
      if (selector === claimOfCancelled)
        return `Take back the ${token} of the cancelled deposit ${word(call, 0)} in ${vault}; it goes to ${user}`
      return `Cancel the pending deposit ${selector === cancellation ? `${word(call, 0)} ` : ''}in ${vault}; the ${token} is refunded to ${user}`
  }
}
