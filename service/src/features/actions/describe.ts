import { formatUnits } from '../../kernel/amount.js'
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

export function describeDeposit(amount: bigint, token: TokenRecord, vault: Party, receiver: string): string {
  return `Deposit ${describeAmount(amount, token)} into ${describeParty(vault)}; the shares go to ${formatAddress(receiver)}.`
}

export function describeWithdraw(
  shares: bigint,
  receipt: TokenRecord,
  out: TokenRecord,
  vault: Party,
  receiver: string,
): string {
  return (
    `Redeem ${describeAmount(shares, receipt)} at ${describeParty(vault)}; ` +
    `the ${describeToken(out)} goes to ${formatAddress(receiver)}.`
  )
}
