import { formatUnits } from '../../kernel/amount.js'
import type { VaultCall } from '../../vaults/index.js'
import { formatAddress } from '../../wallets/format.js'
import type { TokenRecord } from '../catalogue/index.js'

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
  return `Reset the ${describeToken(token)} allowance of ${describeParty(spender)} to 0; ${token.symbol} requires this before a new allowance.`
}

/** Wrapping of the native token, or the way back. */
export function describeWrapping(
  verb: 'Wrap' | 'Unwrap',
  amount: bigint,
  { token, out }: { token: TokenRecord; out: TokenRecord },
): string {
  return `${verb} ${describeAmount(amount, token)} into ${describeAmount(amount, out)} in your wallet.`
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
  const [more, source] = rest === out ? ['above that', 'the swap'] : ['above the swapped amount', 'the redemption']
  return `${swap} Anything ${source} returns ${more} stays in your wallet as ${describeToken(rest)}.`
}

/** Describes a vault's call by the sentence of its kind, with amount, token, vault and receiver. */
export function describeCall(
  { says, leastOut, router }: VaultCall,
  facts: { amount: bigint; token: TokenRecord; out: TokenRecord; vault: Party; receiver: string },
): string {
  const { amount, token, out, vault, receiver } = facts
  return says({
    amount: describeAmount(amount, token),
    token: describeToken(token),
    out: describeToken(out),
    vault: describeParty(vault),
    receiver: formatAddress(receiver),
    through: router === undefined ? '' : ` through the deposit router (${formatAddress(router)})`,
    least: leastOut === undefined ? '' : ` for at least ${describeAmount(leastOut, out)}`,
  })
}
