import { readFile } from 'node:fs/promises'
import { importCatalogue } from '../../features/catalogue/import/index.js'
import { readNewVaults } from '../../features/catalogue/operator/index.js'
import type { Context } from '../../postgres/context.js'
import { devnetChainId } from '../../rpc/devnet.js'
import type { Deployment } from './deploy.js'
import { type DevExchange, nativeUsd } from './exchange.js'
import { distributors, organizations } from './names.js'

const epoch = '1970-01-01T00:00:00Z'

/** Vaults of chains the devnet does not follow: listed, with deposits off and the reason. */
const exampleFile = new URL('../../../demo/catalogue.json', import.meta.url)

/** Imports the demo catalogue: the examples, then the devnet's own vaults. The same deployment again changes nothing. */
export async function fillCatalogue(ctx: Context, deployment: Deployment, rpcUrl: string): Promise<void> {
  await importCatalogue(ctx, await readFile(exampleFile, 'utf8'), { fileName: 'service/demo/catalogue.json' })
  const text = JSON.stringify(demoCatalogue(deployment, rpcUrl), null, 2)
  await importCatalogue(ctx, text, { fileName: 'the devnet' })
  await readNewVaults(ctx)
}

function demoCatalogue(deployment: Deployment, rpcUrl: string) {
  const { tokens, vaults, exchange, lending, depositRouter, streams, orders } = deployment
  const opportunities = vaults.map((vault, index) => ({
    ...opportunityOf(vault, index, tokens),
    routedSwapEnabled: exchange !== undefined && vault.withheld !== 'INDEXING_STALLED',
  }))
  return {
    organizations: [
      ...organizations.map(({ id, name }, index) => ({
        id,
        slug: ['aurora', 'borealis'][index],
        name,
        organizationType: 'distributor',
      })),
    ],
    chains: [
      {
        chainId: devnetChainId,
        name: 'Devnet',
        slug: 'devnet',
        watched: true,
        rpcUrls: [rpcUrl],
        confirmations: 1,
        pollIntervalMs: 250,
        scanInputs: true,
        clock: 'chain',
        ...(depositRouter ? { depositRouter } : {}),
        ...(streams ? { streamFactory: streams.factory } : {}),
        ...(exchange ? swapsOf(exchange, tokens, orders) : {}),
        ...(lending ? { lending: { aaveV3: [{ pool: lending.pool, dataProvider: lending.dataProvider }] } } : {}),
      },
    ],
    tokens: [
      ...tokens.map(({ address, decimals, symbol, name, priceUsd, approvalReset }) => ({
        ...{ chainId: devnetChainId, address, decimals, symbol, name, approvalReset, pegUsd: priceUsd },
        isAllowedRewardToken: address === streams?.rewardToken,
      })),
      ...(exchange ? [wrappedOf(exchange)] : []),
      ...vaults.map(({ address, shareDecimals, shareSymbol, name }) => ({
        ...{ chainId: devnetChainId, address, decimals: shareDecimals, symbol: shareSymbol, name: `${name} share` },
      })),
    ],
    protocols: [{ slug: 'openearn-devnet', name: 'OpenEarn devnet vaults' }],
    products: [{ slug: 'dollar-yield', name: 'Dollar Yield', organization: 'aurora' }],
    opportunities,
    distributors: distributors.map(({ id, name, organizationId }) => ({
      ...{ id, name, organization: organizationId, activeFrom: epoch },
      opportunities: opportunities.map(({ slug }) => slug),
    })),
  }
}

/** The exchanges and the settlement contract; a route may pass the wrapped native token and the first of the others. */
function swapsOf({ wrappedNative, v2, v3 }: DevExchange, tokens: Deployment['tokens'], orders: Deployment['orders']) {
  const hubTokens = [wrappedNative, ...tokens.slice(0, 1).map(({ address }) => address)]
  const swap = { hubTokens, uniswapV2: v2, uniswapV3: v3, ...(orders ? { orders } : {}) }
  return { wrappedNative, swap }
}

function wrappedOf({ wrappedNative: address }: DevExchange) {
  return {
    ...{ chainId: devnetChainId, address, decimals: 18, symbol: 'WETH', name: 'Devnet Wrapped Ether' },
    pegUsd: nativeUsd,
  }
}

/** The growth sources of a vault: none or two at once, for the vaults that show these cases. */
function growthOf({ withheld }: Deployment['vaults'][number]) {
  if (withheld === 'INDEXING_NOT_STARTED') return { growthSources: [] }
  return withheld === 'FAILED_PRECONDITION' ? { growthSources: [{ source: 'share-price' }, { source: 'nav' }] } : {}
}

function opportunityOf(vault: Deployment['vaults'][number], index: number, tokens: Deployment['tokens']) {
  const token = tokens.find(({ key }) => key === vault.token)
  if (!token) throw new Error(`no devnet token ${vault.token}`)
  const stable = token.priceUsd === '1'
  return {
    slug: vault.slug,
    name: vault.name,
    description: vault.description,
    type: 'vault',
    vault: {
      chainId: devnetChainId,
      address: vault.address,
      kind: vault.kind,
      protocol: 'openearn-devnet',
      asset: token.address,
      startBlock: vault.startBlock,
      activeFrom: epoch,
      ...growthOf(vault),
    },
    // Its shares stay too few for a price.
    directInteractionEnabled: vault.withheld !== 'INDEXING_STALLED',
    curator: 'meridian',
    providers: stable ? ['lowland', 'quarry'] : ['lowland'],
    lendingProtocols: stable ? ['quarry'] : [],
    partners: index === 0 ? ['cairn'] : [],
    tags: [stable ? 'stable' : 'bitcoin'],
    products: stable ? ['dollar-yield', 'stable-savings'] : ['bitcoin-yield'],
    depositTokens: [token.address],
    incentives: [{ name: 'Vault yield', rewardType: 'yield', rewardTypeName: 'Base yield', apr: vault.aprPercent }],
    featured: index === 0,
  }
}
