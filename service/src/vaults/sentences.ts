import type { Sentence } from './kind.js'

/** A deposit whose shares come in the same call. */
export const sayDeposit: Sentence = ({ amount, vault, through, least, receiver }) =>
  `Deposit ${amount} into ${vault}${through}${least}; the shares go to ${receiver}.`

/** A redemption that pays in the same call. */
export const sayRedeem: Sentence = ({ amount, vault, least, out, receiver }) =>
  `Redeem ${amount} at ${vault}${least}; the ${out} goes to ${receiver}.`

/** The cancellation of a deposit that waits. */
export const sayCancelDeposit: Sentence = ({ amount, vault, token, receiver }) =>
  `Cancel the pending deposit of ${amount} in ${vault}; the ${token} is refunded to ${receiver}.`
