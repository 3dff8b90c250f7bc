import { type Address, getAddress } from 'viem'
import { cat } from '../handChain.js'
import { type KindFixture, moved, places, told } from './fixture.js'

/** The second argument of a sample of the walk, in its place as the user of a request, and the third of a refund. */
const [sampleUser, sampleOwner]: Address[] = [`0x${'2'.padStart(40, '0')}`, `0x${'3'.padStart(40, '0')}`]
const [queue, teller, accountant] = [places.beside, places.escrow, getAddress(`0x${'40'.repeat(20)}`)]
const request = { nonce: 1n, user: cat, assetOut: places.asset, amountOfShares: 5n, amountOfAssets: 5n }
const times = { creationTime: 1, secondsToMaturity: 0, secondsToDeadline: 604_800 }

/** A vault of Veda with a teller of the older form; a request of five shares waits in its queue. */
export const veda: KindFixture = {
  kind: 'veda',
  contracts: { queue, teller, accountant },
  before: [
    told(
      places.vault,
      'event Exit(address indexed to, address indexed asset, uint256 amount, address indexed from, uint256 shares)',
      { to: sampleOwner, asset: places.asset, amount: 5n, from: sampleOwner, shares: 5n },
    ),
    moved(places.vault, sampleUser!, 5n),
  ],
  answers: {
    'function hook() view returns (address)': teller,
    'function vault() view returns (address)': places.vault,
    'function boringVault() view returns (address)': places.vault,
    'function accountant() view returns (address)': accountant,
    'function base() view returns (address)': places.asset,
    'function isPaused() view returns (bool)': false,
    'function assetData(address) view returns (bool, bool, uint16)': [true, true, 0],
    'function shareUnlockTime(address) view returns (uint256)': 0n,
    'function getRateSafe() view returns (uint256)': 1_000_000n,
    'function getRateInQuoteSafe(address) view returns (uint256)': 1_000_000n,
    'function withdrawAssets(address) view returns (bool, uint24, uint24, uint16, uint16, uint96)': [
      ...[true, 0, 86_400, 5, 100, 0n],
    ],
    'function getOnChainWithdraw(bytes32) view returns ((uint96 nonce, address user, address assetOut, uint128 amountOfShares, uint128 amountOfAssets, uint40 creationTime, uint24 secondsToMaturity, uint24 secondsToDeadline))':
      { ...request, ...times },
    'function totalSupply() view returns (uint256)': 10n ** 24n,
    'function balanceOf(address) view returns (uint256)': 10n ** 24n,
    'function allowance(address, address) view returns (uint256)': 0n,
  },
  deposit: (wallet: Address, assets, shares) => [
    moved(places.nobody, wallet, shares),
    told(
      teller,
      'event Deposit(uint256 indexed nonce, address indexed receiver, address indexed depositAsset, uint256 depositAmount, uint256 shareAmount, uint256 depositTimestamp, uint256 shareLockPeriodAtTimeOfDeposit)',
      {
        ...{ nonce: 1n, receiver: wallet, depositAsset: places.asset, depositAmount: assets, shareAmount: shares },
        ...{ depositTimestamp: 1n, shareLockPeriodAtTimeOfDeposit: 0n },
      },
    ),
  ],
  withdraw: (wallet: Address, assets, shares) => [
    moved(wallet, queue, shares),
    told(
      queue,
      'event OnChainWithdrawRequested(bytes32 indexed requestId, address indexed user, address indexed assetOut, uint96 nonce, uint128 amountOfShares, uint128 amountOfAssets, uint40 creationTime, uint24 secondsToMaturity, uint24 secondsToDeadline)',
      {
        ...{ requestId: `0x${shares.toString(16).padStart(64, '0')}`, ...request, ...times },
        ...{ user: wallet, amountOfShares: shares, amountOfAssets: assets },
      },
    ),
  ],
}
