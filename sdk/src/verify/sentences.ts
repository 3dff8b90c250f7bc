import { type Address, type Hex, slice, toFunctionSelector } from 'viem'
import type { OwnSuffix } from '../attribution/suffix.js'
import type { AskedOfVault } from './asked.js'
import type { Known } from './context.js'
import { quote } from './shape.js'
import type { SwapFound, SwapWanted, Token } from './swapCalls.js'

/**
 * Sentences about verified transactions, for people: from the signed bytes and the request, with addresses and raw amounts, and
 * whole ones where the decimals are known. They contain nothing that the service said about its plan.
 */

type Names = Pick<Known, 'names'>
type Tokens = Pick<Known, 'names' | 'decimals'>

/** Smallest units as a plain decimal. */
function toWhole(units: bigint, decimals: number): string {
  const digits = String(units).padStart(decimals + 1, '0')
  const rest = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return `${digits.slice(0, digits.length - decimals)}${decimals > 0 && rest ? `.${rest}` : ''}`
}

/** An amount of a token, without its name. */
function tellUnits(amount: bigint, token: Address, { decimals }: Tokens): string {
  const count = decimals.get(token)
  return count === undefined ? `${amount} units` : `${toWhole(amount, count)} (${amount} units)`
}

export const tellAmount = (amount: bigint, token: Address, known: Tokens): string =>
  `${tellUnits(amount, token, known)} of ${nameOf(token, known)}`

function tellShares(amount: bigint, { share, decimals }: Pick<Known, 'share' | 'decimals'>): string {
  const count = decimals.get(share)
  return count === undefined ? `${amount} shares` : `${toWhole(amount, count)} shares (${amount} units)`
}

export const nameOf = (address: Address, { names }: Names): string => {
  const known = names.get(address)
  return known === undefined ? address : `${known} (${address})`
}

export const tellWrap = (amount: bigint, token: Address, known: Names): string =>
  `Send ${amount} wei of the native token to ${nameOf(token, known)}, which wraps them for your wallet.`

export const tellApproval = (amount: bigint, token: Address, spender: Address, known: Tokens): string =>
  amount === 0n
    ? `Reset the allowance of ${nameOf(spender, known)} for ${nameOf(token, known)} to 0.`
    : `Allow ${nameOf(spender, known)} to take exactly ${tellAmount(amount, token, known)} from your wallet.`

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
      ['deposit(address,uint256,uint256)', 2],
      ['deposit(address,uint256,uint256,address)', 2],
    ] as const
  ).map(([declaration, at]) => [toFunctionSelector(declaration), at]),
)
const claimInShares = toFunctionSelector('mint(uint256,address,address)')

const depositWithMinimum = toFunctionSelector('depositWithMinimum(address,uint256,address,uint256)')
const cooldownStart = toFunctionSelector('cooldownShares(uint256)')
const windowStart = toFunctionSelector('cooldown()')
const queueRequest = toFunctionSelector('requestRedeem(uint256,address)')
const queueReturn = toFunctionSelector('removeShares(uint256,address)')
const orderRequest = toFunctionSelector('requestOnChainWithdraw(address,uint128,uint16,uint24)')
const orderReturn = toFunctionSelector('cancelOnChainWithdrawUsingRequestId(bytes32)')
const cooledOut = toFunctionSelector('unstake(address)')

const word = (call: Hex, at: number): bigint => BigInt(slice(call, 4 + 32 * at, 36 + 32 * at))

/** The call that moves the money; `token` is what enters or leaves the vault, `own` its suffix. */
export function tellMain(
  asked: AskedOfVault,
  call: Hex,
  token: Address,
  own: OwnSuffix | undefined,
  known: Tokens & Pick<Known, 'vault' | 'share' | 'depositRouter'>,
): string {
  return `${tellCall(asked, call, token, known)}${tellBringer(own)}.`
}

function tellBringer(own: OwnSuffix | undefined): string {
  const referral = own?.referralCode ? ` with the referral code ${quote(own.referralCode)}` : ''
  return own ? `; brought by ${quote(own.code)}${referral}` : ''
}

const tellToken = (amount: bigint, token: Token, known: Tokens): string =>
  token === 'native' ? `${amount} units of the native token` : tellAmount(amount, token, known)

/** A swap at a router, or at the token that wraps the native one. */
export function tellSwap(
  to: Address,
  { amountIn, minimumOut }: SwapFound,
  { tokenIn, tokenOut, user }: SwapWanted,
  own: OwnSuffix | undefined,
  known: Tokens,
): string {
  const given = tellToken(amountIn, tokenIn, known)
  const got = tellToken(minimumOut, tokenOut, known)
  return `Swap ${given} for at least ${got} at ${nameOf(to, known)}; it goes to ${nameOf(user, known)}${tellBringer(own)}.`
}

function tellRouter(selector: Hex, known: Names & Pick<Known, 'depositRouter'>): string {
  const { depositRouter: router } = known
  return selector === depositWithMinimum && router ? ` through ${nameOf(router, known)}` : ''
}

function tellCall(
  asked: AskedOfVault,
  call: Hex,
  asset: Address,
  known: Tokens & Pick<Known, 'vault' | 'share' | 'depositRouter'>,
): string {
  const selector = slice(call, 0, 4)
  const vault = nameOf(known.vault, known)
  const user = nameOf(asked.user, known)
  const isRequest = requests.includes(selector)
  const leastAt = minimumAt.get(selector)
  const least = leastAt === undefined ? undefined : word(call, leastAt)
  const token = nameOf(asset, known)
  const shares = (amount: bigint) => `${tellShares(amount, known)} of ${vault}`
  const tokens = (amount: bigint) => tellAmount(amount, asset, known)
  switch (asked.type) {
    case 'deposit':
      if (isRequest)
        return `Request to deposit ${tokens(asked.amount)} into ${vault}; once it is settled, ${user} claims the shares`
      return `Deposit ${tokens(asked.amount)} into ${vault}${tellRouter(selector, known)}${least === undefined ? '' : ` for at least ${tellShares(least, known)}`}; the shares go to ${user}`
    case 'withdraw':
      if (selector === cooldownStart)
        return `Redeem ${shares(asked.amount)}; the ${token} enters a cooldown, ${user} withdraws it afterwards, and amounts already in cooldown start again from zero`
      if (selector === windowStart)
        return `Start the cooldown of all shares of ${vault}; ${user} can redeem them in the window after it, and a running cooldown starts again from zero`
      if (selector === cooledOut)
        return `Withdraw all ${token} whose cooldown at ${vault} has ended; it goes to ${user}`
      if (selector === queueRequest)
        return `Request to redeem ${shares(asked.amount)}; once its queue has processed it, the ${token} goes to ${user}`
      if (selector === orderRequest)
        return `Request to redeem ${shares(asked.amount)} at a discount of ${Number(word(call, 2)) / 100} %; once others have paid for them, within ${word(call, 3) / 86_400n} days, the ${token} goes to ${user}`
      if (isRequest) return `Request to redeem ${shares(asked.amount)}; once it is settled, ${user} claims the ${token}`
      return `Redeem ${shares(asked.amount)}; the ${token}${least === undefined ? '' : `, at least ${tellUnits(least, asset, known)},`} goes to ${user}`
    case 'claimDeposit':
      if (selector === claimInShares)
        return `Claim ${tellShares(word(call, 0), known)} of a settled deposit into ${vault}; they go to ${user}`
      return `Claim the shares of ${tokens(word(call, 0))} deposited into ${vault}; they go to ${user}`
    case 'cancelDeposit':
      if (selector === queueReturn)
        return `Take back ${shares(word(call, 0))} that wait for their redemption; they go to ${user}`
      if (selector === orderReturn)
        return `Take back the shares of the request ${word(call, 0)} that wait for their redemption at ${vault}; they go to ${user}`
      if (selector === claimOfCancelled)
        return `Take back the ${token} of the cancelled deposit ${word(call, 0)} in ${vault}; it goes to ${user}`
      return `Cancel the pending deposit ${selector === cancellation ? `${word(call, 0)} ` : ''}in ${vault}; the ${token} is refunded to ${user}`
  }
}
