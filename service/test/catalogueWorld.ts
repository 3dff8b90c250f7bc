import { type CatalogueFile, slugId } from '../src/features/catalogue/import/catalogueFile.js'
import { importCatalogue } from '../src/features/catalogue/import/index.js'
import { pushDeltas } from '../src/features/catalogue/jobs.js'
import { addressOf } from './catalogueFile.js'
import type { Earn } from './harness.js'

/** A small, fast, seeded generator of numbers in [0, 1) (mulberry32). The same seed gives the same world. */
export function seeded(seed: number) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const integer = (max: number) => Math.floor(next() * max)
  const pick = <T>(from: readonly T[]): T => {
    const found = from[integer(from.length)]
    if (found === undefined) throw new Error('nothing to pick from')
    return found
  }
  return {
    next,
    integer,
    pick,
    chance: (probability: number) => next() < probability,
    some: <T>(from: readonly T[], probability: number) => from.filter(() => next() < probability),
  }
}

const words = [
  'Alpha',
  'beta',
  'GAMMA',
  'délta',
  'ÉPSILON',
  'zeta',
  '100%',
  'under_score',
  '日本',
  '🚀 moon',
  'ﬀ',
  'Zulu',
]
const types = ['vault', 'lending', 'liquid-staking', 'structured'] as const

/** A catalogue of `count` opportunities with every member varied, ties and missing values included. */
export function randomCatalogue(count: number, seed: number): CatalogueFile {
  const random = seeded(seed)
  const chainIds = [1, 10, 8453]
  const symbols = ['USDC', 'usdc', 'WETH', 'DAI', 'wstETH', '日本']
  const organizations = (kind: 'curator' | 'provider' | 'partner' | 'lending-protocol') =>
    Array.from({ length: 5 }, (_, index) => ({
      slug: `${kind}-${index}`,
      name: `${random.pick(words)}${random.chance(0.5) ? ` ${index}` : ''}`,
      organizationType: kind,
    }))
  const curators = organizations('curator')
  const providers = organizations('provider')
  const partners = organizations('partner')
  const lending = organizations('lending-protocol')
  const slugs = (list: readonly { slug: string }[]) => list.map(({ slug }) => slug)
  const tags = ['stable', 'eth', 'Blue-Chip', 'new']
  const opportunities = Array.from({ length: count }, (_, index) => {
    const chainId = random.pick(chainIds)
    const asset = addressOf(random.integer(symbols.length))
    const apr = () => random.pick([-1.5, 0, 0.1, 0.2, 4.25, 10, 10, 33.333])
    const entry = {
      slug: `opportunity-${index}`,
      name: `${random.pick(words)} ${random.pick(words)}${random.chance(0.7) ? ` ${index}` : ''}`,
      description: random.chance(0.5) ? `Earns with ${random.pick(words)}` : '',
      type: random.pick(types),
      vault: { chainId, address: addressOf(index, 'f'), asset, receiptToken: addressOf(index, 'e') },
      ...(random.chance(0.8) ? { curator: random.pick(slugs(curators)) } : {}),
      providers: random.some(slugs(providers), 0.3),
      partners: random.some(slugs(partners), 0.2),
      lendingProtocols: random.some(slugs(lending), 0.2),
      tags: random.some(tags, 0.4),
      products: random.some(['product-a', 'product-b'], 0.3),
      depositTokens: [
        asset,
        ...(random.chance(0.3) ? [{ chainId: random.pick(chainIds), address: addressOf(9) }] : []),
      ],
      incentives: random.some(['one', 'two', 'three'], 0.5).map((name) => ({
        name,
        rewardType: 'yield' as const,
        ...(random.chance(0.8) ? { apr: apr() } : {}),
        active: random.chance(0.9),
      })),
      minDepositAmountUsd: random.integer(100),
      featured: random.chance(0.2),
      active: random.chance(0.9),
      depositEnabled: random.chance(0.7),
      withdrawEnabled: random.chance(0.9),
      directInteractionEnabled: random.chance(0.9),
      routedSwapEnabled: random.chance(0.3),
    }
    const deposit = random.chance(0.2)
    const redeem = random.chance(0.2)
    const kind = deposit ? (redeem ? 'erc7540' : 'erc7540-deposit') : redeem ? 'erc7540-redeem' : 'erc4626'
    return { ...entry, vault: { ...entry.vault, kind } }
  })
  return {
    organizations: [
      ...curators,
      ...providers,
      ...partners,
      ...lending,
      { slug: 'shop', name: 'Shop', organizationType: 'distributor' },
    ],
    chains: chainIds.map((chainId) => ({ chainId, name: `Chain ${chainId}`, slug: `chain-${chainId}` })),
    tokens: chainIds.flatMap((chainId) => [
      ...symbols.map((symbol, index) => ({
        ...{ chainId, address: addressOf(index), decimals: 18, symbol, name: `${symbol} token` },
      })),
      { chainId, address: addressOf(9), decimals: 6, symbol: 'EXTRA', name: 'Extra', active: random.chance(0.8) },
      ...opportunities
        .filter(({ vault }) => vault.chainId === chainId)
        .map(({ vault }) => ({
          ...{ chainId, address: vault.receiptToken, decimals: 18, symbol: 'SHARE', name: 'Share' },
        })),
    ]),
    tags: tags.map((code) => ({ code, name: code })),
    products: [
      { slug: 'product-a', name: 'Product A' },
      { slug: 'product-b', name: 'Product B' },
    ],
    opportunities,
    distributors: [
      {
        id: 'shop',
        organization: 'shop',
        opportunities: random.some(slugs(opportunities), 0.2),
        products: ['product-a'],
      },
      { id: 'bare', organization: 'shop' },
    ],
  }
}

/** Imports a random catalogue with random TVL and movements, ties and missing values included. */
export async function loadRandomCatalogue(earn: Earn, count: number, seed: number): Promise<CatalogueFile> {
  const file = randomCatalogue(count, seed)
  const random = seeded(seed + 1)
  await importCatalogue(earn.ctx, JSON.stringify(file))
  const maybe = () => (random.chance(0.7) ? random.pick([-5, -0.5, 0, 1, 1, 2.5, 1e6]) : null)
  const movement = () => ({ current: maybe(), d1: maybe(), d7: maybe(), d30: maybe() })
  const ids = (file.opportunities ?? []).map(({ slug }) => slugId.opportunity(slug))
  await pushDeltas(
    earn.ctx,
    ids
      .filter(() => random.chance(0.8))
      .map((opportunityId) => ({ opportunityId, deltas: { tvl: movement(), lps: movement(), apy: movement() } })),
  )
  for (const id of ids)
    if (random.chance(0.8))
      await earn.db`
        insert into opportunity_analytics (opportunity_id, tvl_usd, analytics_at)
        values (${id}, ${random.pick(['0', '10', '10', '12345.678', '1000000', null])}, '2026-11-20T12:00:00Z')
        on conflict (opportunity_id) do update set tvl_usd = excluded.tvl_usd, analytics_at = excluded.analytics_at`
  await earn.ctx.catalogue.refresh()
  return file
}
