import { type KindFixture, moved, places, told } from './fixture.js'

const contracts = { teller: places.beside }

export const teller: KindFixture = {
  kind: 'teller',
  contracts,
  answers: {
    'function teller() view returns (address)': contracts.teller,
    'function asset() view returns (address)': places.asset,
    'function rate() view returns (uint256)': 1_250_000n,
    'function totalSupply() view returns (uint256)': 10n ** 24n,
    'function balanceOf(address) view returns (uint256)': 10n ** 24n,
  },
  deposit: (wallet, assets, shares) => [
    moved(places.nobody, wallet, shares),
    told(
      contracts.teller,
      'event Bought(address indexed payer, address indexed holder, uint256 paid, uint256 shares)',
      {
        payer: wallet,
        holder: wallet,
        paid: assets,
        shares,
      },
    ),
  ],
  withdraw: (wallet, assets, shares) => [
    moved(wallet, places.nobody, shares),
    told(
      contracts.teller,
      'event Sold(address indexed holder, address indexed receiver, uint256 shares, uint256 paid)',
      { holder: wallet, receiver: wallet, shares, paid: assets },
    ),
  ],
}
