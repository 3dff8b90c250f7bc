/**
 * Gas limits of calls that no node could simulate, by what they do. A kind whose calls need another limit adds a name here.
 * They allow for a vault that invests what it receives in the same call.
 */
export const gasConstants = {
  deposit: 600_000n,
  /** Of a wrapper that first changes the token (ERC-5115). */
  depositThroughWrapper: 700_000n,
  redeem: 900_000n,
  request: 400_000n,
  claim: 500_000n,
  startCooldown: 500_000n,
  takeCooled: 300_000n,
  stake: 500_000n,
  openWindow: 200_000n,
  redeemInWindow: 500_000n,
}
