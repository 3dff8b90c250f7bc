import { formatUnits } from '../../kernel/amount.js'
import type { Verb } from '../../vaults/index.js'
import { formatAddress, type TokenRecord } from '../catalogue/index.js'

/** Someone named in a description. */
export type Party = { name: string; address: string }

/** An amount with its token, both recognisable: `12.5 USDC (0x…)`. */
export function describeAmount(amount: bigint, token: TokenRecord): string {
  return `${formatUnits(amount, token.decimals)} ${describeToken(token)}`
}

function describeToken(token: TokenRecord): string {
  return `${token.symbol} (${formatAddress(token.address)})`
}

function describeParty({ name, address }: Party): string {
  return `${name} (${formatAddress(address)})`
}

export function describeApproval(amount: bigint, token: TokenRecord, spender: Party): string {
  return `Allow ${describeParty(spender)} to take exactly ${describeAmount(amount, token)} from your wallet.`
}

export function describeApprovalReset(token: TokenRecord, spender: Party): string {
  return `Set what ${describeParty(spender)} may take of ${describeToken(token)} back to 0; this token asks for it first.`
}

export function describeWrap(amount: bigint, native: TokenRecord, wrapped: TokenRecord): string {
  return `Wrap ${describeAmount(amount, native)} into as much ${describeToken(wrapped)} in your wallet.`
}

export function describeUnwrap(amount: bigint, wrapped: TokenRecord, native: TokenRecord): string {
  return `Unwrap ${describeAmount(amount, wrapped)} into as much ${describeToken(native)} in your wallet.`
}

/**
 * A swap in a sentence that names both tokens, the least that arrives, the router and the receiver. `rest`: a token of which
 * more may come than the plan goes on with.
 */
export function describeSwap(facts: {
  amount: bigint
  token: TokenRecord
  least: bigint
  out: TokenRecord
  router: Party
  receiver: string
  rest?: TokenRecord | undefined
}): string {
  const { amount, token, least, out, router, receiver, rest } = facts
  const given = describeAmount(amount, token)
  const got = describeAmount(least, out)
  const swap = `Swap ${given} for at least ${got} at ${describeParty(router)}; it goes to ${formatAddress(receiver)}.`
  if (!rest) return swap
  const [more, source] = rest === out ? ['beyond that', 'the swap'] : ['beyond what is swapped', 'the redemption']
  return `${swap} What ${source} gives ${more} stays in your wallet as ${describeToken(rest)}.`
}

/**
 * What a vault's call does, in a sentence that names amount, token, vault and receiver. `least`: less than this the call
 * itself does not take; only then the sentence promises anything.
 */
export function describeCall(
  verb: Verb,
  facts: {
    amount: bigint
    token: TokenRecord
    out: TokenRecord
    vault: Party
    receiver: string
    least?: bigint | undefined
    /** What passes the call on to the vault. */
    router?: string | undefined
  },
): string {
  const through = facts.router === undefined ? '' : ` through the deposit router (${formatAddress(facts.router)})`
  const least = facts.least === undefined ? '' : ` for at least ${describeAmount(facts.least, facts.out)}`
  const amount = describeAmount(facts.amount, facts.token)
  const vault = describeParty(facts.vault)
  const receiver = formatAddress(facts.receiver)
  switch (verb) {
    case 'deposit':
      return `Deposit ${amount} into ${vault}${through}${least}; the shares go to ${receiver}.`
    case 'requestDeposit':
      return `Request to deposit ${amount} into ${vault}; once it is settled, ${receiver} claims the shares.`
    case 'redeem':
      return `Redeem ${amount} at ${vault}${least}; the ${describeToken(facts.out)} goes to ${receiver}.`
    case 'requestRedeem':
      return `Request to redeem ${amount} at ${vault}; once it is settled, ${receiver} claims the ${describeToken(facts.out)}.`
    case 'claimRedeem':
      return `Claim the ${describeToken(facts.out)} of ${amount} redeemed at ${vault}; it goes to ${receiver}.`
    case 'claimDeposit':
      return `Claim the shares of ${amount} deposited into ${vault}; they go to ${receiver}.`
    case 'cancelDeposit':
      return `Cancel the pending deposit of ${amount} in ${vault}; the ${describeToken(facts.token)} is for ${receiver}.`
    case 'startCooldown':
      return `Redeem ${amount} at ${vault}; the ${describeToken(facts.out)} cools down, and ${receiver} takes it out later. What cools down already waits anew.`
    case 'takeCooled':
      return `Take out of ${vault} all the ${describeToken(facts.out)} that has cooled down; it goes to ${receiver}.`
    case 'openWindow':
      return `Start the cooldown of all shares in ${vault}, of which ${amount} are to be redeemed; ${receiver} redeems them in the window after it. A cooldown that runs already starts anew.`
    case 'claimCancelled':
      return `Take back ${amount} of the cancelled deposit in ${vault}; it goes to ${receiver}.`
  }
}
