import type { Json } from './client.js'
import type { Dev } from './process.js'

/** A catalogue file for the vaults of a running devnet, as an operator would write it who knows their share tokens. */
export function demoCatalogueText(dev: Dev, shareTokens: Json[]): string {
  const tokens = new Map(dev.opportunities.map(({ asset }) => [asset.address, asset]))
  const catalogue = {
    chains: [
      {
        chainId: dev.chainId,
        name: 'Devnet',
        slug: 'devnet',
        watched: true,
        rpcUrls: [dev.rpcUrl],
        confirmations: 1,
        pollIntervalMs: 100,
      },
    ],
    tokens: [
      ...[...tokens.values()].map(({ address, symbol, decimals }) => ({
        ...{ chainId: dev.chainId, address, symbol, name: symbol, decimals, pegUsd: '1' },
      })),
      ...shareTokens.map(({ chainId, address, symbol, name, decimals }) => ({
        chainId,
        address,
        symbol,
        name,
        decimals,
      })),
    ],
    opportunities: dev.opportunities
      .filter(({ kind }) => kind === 'erc4626')
      .map(({ name, vaultAddress, asset }) => ({
        slug: name.toLowerCase().replaceAll(' ', '-'),
        name,
        type: 'vault',
        vault: {
          chainId: dev.chainId,
          address: vaultAddress,
          kind: 'erc4626',
          asset: asset.address,
          activeFrom: '1970-01-01T00:00:00Z',
        },
        depositTokens: [asset.address],
      })),
  }
  return JSON.stringify(catalogue, null, 2)
}
