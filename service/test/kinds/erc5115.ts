import { type KindFixture, moved, places, told } from './fixture.js'

export const erc5115: KindFixture = {
  kind: 'erc5115',
  answers: {
    'function exchangeRate() view returns (uint256)': 1_250_000n,
    'function assetInfo() view returns (uint8, address, uint8)': [0, places.asset, 6],
    'function isValidTokenIn(address) view returns (bool)': true,
    'function isValidTokenOut(address) view returns (bool)': true,
    'function previewDeposit(address, uint256) view returns (uint256)': 10n ** 18n,
    'function previewRedeem(address, uint256) view returns (uint256)': 10n ** 6n,
    'function totalSupply() view returns (uint256)': 10n ** 24n,
    'function balanceOf(address) view returns (uint256)': 10n ** 24n,
  },
  deposit: (wallet, assets, shares) => [
    moved(places.nobody, wallet, shares),
    told(
      places.vault,
      'event Deposit(address indexed caller, address indexed receiver, address indexed tokenIn, uint256 amountDeposited, uint256 amountSyOut)',
      { caller: wallet, receiver: wallet, tokenIn: places.asset, amountDeposited: assets, amountSyOut: shares },
    ),
  ],
  withdraw: (wallet, assets, shares) => [
    moved(wallet, places.nobody, shares),
    told(
      places.vault,
      'event Redeem(address indexed caller, address indexed receiver, address indexed tokenOut, uint256 amountSyToRedeem, uint256 amountTokenOut)',
      { caller: wallet, receiver: wallet, tokenOut: places.asset, amountSyToRedeem: shares, amountTokenOut: assets },
    ),
  ],
}
