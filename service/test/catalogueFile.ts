import type { CatalogueFile } from '../src/features/catalogue/import/catalogueFile.js'

/** A made-up address that ends in the given number. */
export const addressOf = (number: number, prefix = 'a') => `0x${prefix}${number.toString(16).padStart(39, '0')}`

/** A small valid catalogue: two chains, three tokens a chain, one vault each chain, everything linked once. */
export function smallCatalogue() {
  return {
    organizations: [
      { slug: 'acme', name: 'Acme Curation', organizationType: 'curator', landingUrl: 'https://acme.example' },
      { slug: 'northwind', name: 'Northwind', organizationType: 'provider' },
      { slug: 'lendly', name: 'Lendly', organizationType: 'lending-protocol' },
      { slug: 'walletco', name: 'WalletCo', organizationType: 'distributor' },
    ],
    chains: [
      { chainId: 1, name: 'Ethereum', slug: 'ethereum', explorerUrl: 'https://etherscan.io', confirmations: 12 },
      { chainId: 8453, name: 'Base', slug: 'base' },
    ],
    tokens: [1, 8453].flatMap((chainId) => [
      { chainId, address: addressOf(1), decimals: 6, symbol: 'USDC', name: 'USD Coin', pegUsd: 1 },
      { chainId, address: addressOf(2), decimals: 18, symbol: 'WETH', name: 'Wrapped Ether' },
      { chainId, address: addressOf(3), decimals: 18, symbol: 'vUSDC', name: 'Vault USDC' },
    ]),
    protocols: [{ slug: 'openvault', name: 'OpenVault', siteUrl: 'https://openvault.example' }],
    tags: [{ code: 'stable', name: 'Stablecoins', color: '#00aa00' }],
    products: [{ slug: 'savings', name: 'Savings', organization: 'walletco' }],
    opportunities: [
      {
        slug: 'usdc-ethereum',
        name: 'USDC savings',
        description: 'Lends USDC.',
        type: 'vault',
        vault: { chainId: 1, address: addressOf(3), kind: 'erc4626', protocol: 'openvault', asset: addressOf(1) },
        curator: 'acme',
        providers: ['northwind'],
        lendingProtocols: ['lendly'],
        tags: ['stable'],
        products: ['savings'],
        featured: true,
        minDepositAmountUsd: 10,
        incentives: [
          { name: 'Base yield', rewardType: 'yield', apr: 4.2 },
          { name: 'Points', rewardType: 'points', rewardTypeName: 'Acme points' },
          { name: 'Bonus', rewardType: 'tokens', apr: 0.1, minApr: 0, maxApr: 0.2, estPriceUsd: 0.5 },
        ],
      },
      {
        slug: 'usdc-base',
        name: 'USDC on Base',
        type: 'lending',
        vault: { chainId: 8453, address: addressOf(3), kind: 'erc4626', asset: addressOf(1) },
        depositTokens: [addressOf(1), addressOf(2)],
        depositEnabled: false,
        depositDisabledReason: 'The vault is full.',
      },
    ],
    distributors: [
      { id: 'walletco', organization: 'walletco', name: 'WalletCo app', products: ['savings'], signedOnly: true },
      { id: 'empty', organization: 'walletco' },
    ],
  } satisfies CatalogueFile
}
