import type { Address } from 'viem'
import { burn, erc4626Answers, mint } from './erc4626.js'
import { type KindFixture, moved, places, told } from './fixture.js'

/** What is pending and claimable; redemptions are not, so that a withdrawal asks for one. */
const requests = {
  'function pendingDepositRequest(uint256, address) view returns (uint256)': 5n,
  'function claimableDepositRequest(uint256, address) view returns (uint256)': 7n,
  'function pendingRedeemRequest(uint256, address) view returns (uint256)': 0n,
  'function maxRedeem(address) view returns (uint256)': 0n,
}

/** The ERC-165 ids of what a vault says it does. */
const supports = (...ids: string[]) => ({
  'function supportsInterface(bytes4) view returns (bool)': ([id]: readonly unknown[]) => ids.includes(String(id)),
})
const [deposits, redemptions, cancellations] = ['0xce3bbe50', '0x620ee8e4', '0x8bf840e3'] as [string, string, string]

const requestDeposit = (wallet: Address, assets: bigint) => [
  told(
    places.vault,
    'event DepositRequest(address indexed controller, address indexed owner, uint256 indexed requestId, address sender, uint256 assets)',
    { controller: wallet, owner: wallet, requestId: 0n, sender: wallet, assets },
  ),
]
const requestRedeem = (wallet: Address, _assets: bigint, shares: bigint) => [
  moved(wallet, places.vault, shares),
  told(
    places.vault,
    'event RedeemRequest(address indexed controller, address indexed owner, uint256 indexed requestId, address sender, uint256 shares)',
    { controller: wallet, owner: wallet, requestId: 0n, sender: wallet, shares },
  ),
]

export const erc7540: KindFixture = {
  kind: 'erc7540',
  answers: { ...erc4626Answers, ...requests, ...supports(deposits, redemptions, cancellations) },
  deposit: requestDeposit,
  withdraw: requestRedeem,
}
export const erc7540Deposit: KindFixture = {
  ...erc7540,
  kind: 'erc7540-deposit',
  answers: { ...erc4626Answers, ...requests, ...supports(deposits, cancellations) },
  withdraw: burn,
}
export const erc7540Redeem: KindFixture = {
  ...erc7540,
  kind: 'erc7540-redeem',
  answers: { ...erc4626Answers, ...requests, ...supports(redemptions) },
  deposit: mint,
}
/** Its valuation has run out: deposits and redemptions are requested. */
export const lagoon: KindFixture = {
  ...erc7540,
  kind: 'lagoon',
  answers: {
    ...erc7540.answers,
    'function isTotalAssetsValid() view returns (bool)': false,
    'function safe() view returns (address)': places.escrow,
    'function isAllowed(address) view returns (bool)': true,
  },
}
