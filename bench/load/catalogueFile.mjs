/** A catalogue of `count` opportunities on four chains, every member filled, as a catalogue file. */
export function makeCatalogue(count) {
  const chainIds = [1, 10, 8453, 42161]
  const symbols = ['USDC', 'USDT', 'DAI', 'WETH', 'WBTC', 'wstETH', 'cbBTC', 'USDe']
  const types = ['vault', 'lending', 'liquid-staking', 'structured']
  const tags = ['stable', 'ether', 'bitcoin', 'lending', 'points']
  const address = (prefix, number) => `0x${prefix}${number.toString(16).padStart(39, '0')}`
  const organizations = ['curator', 'provider', 'partner', 'lending-protocol'].flatMap((organizationType) =>
    Array.from({ length: 12 }, (_, index) => ({
      slug: `${organizationType}-${index}`,
      name: `${organizationType} number ${index}`,
      description: 'Keeps vaults in good order and says in public how it does so.',
      landingUrl: 'https://organization.example/about',
      iconUrl: 'https://organization.example/icon.svg',
      organizationType,
    })),
  )
  const pick = (list, number) => list[number % list.length]
  return {
    organizations,
    chains: chainIds.map((chainId) => ({ chainId, name: `Chain ${chainId}`, slug: `chain-${chainId}` })),
    tokens: chainIds.flatMap((chainId) => [
      ...symbols.map((symbol, index) => ({
        ...{ chainId, address: address('a', index + 1), decimals: 6 + index, symbol, name: `${symbol} token` },
        ...{ logoUrl: `https://tokens.example/${symbol}.svg`, ...(index < 3 ? { pegUsd: '1' } : {}) },
      })),
      ...Array.from({ length: count }, (_, index) => index)
        .filter((index) => pick(chainIds, index) === chainId)
        .map((index) => ({
          ...{ chainId, address: address('e', index + 1), decimals: 18, symbol: 'SHARE', name: 'Vault share' },
        })),
    ]),
    tags: tags.map((code) => ({ code, name: code, color: '#336699' })),
    products: [1, 2, 3].map((number) => ({ slug: `product-${number}`, name: `Product ${number}` })),
    opportunities: Array.from({ length: count }, (_, index) => ({
      slug: `opportunity-${index}`,
      name: `${pick(symbols, index)} ${pick(['Prime', 'Core', 'Growth', 'Reserve', 'Steady'], index * 7)} ${index}`,
      description: `Spreads ${pick(symbols, index)} over markets that are watched day and night, number ${index}.`,
      type: pick(types, index * 3),
      vault: {
        ...{ chainId: pick(chainIds, index), address: address('f', index + 1), kind: 'erc4626' },
        ...{ asset: address('a', (index % symbols.length) + 1), receiptToken: address('e', index + 1) },
      },
      curator: `curator-${index % 12}`,
      providers: [`provider-${index % 12}`, `provider-${(index + 5) % 12}`],
      partners: index % 3 ? [] : [`partner-${index % 12}`],
      lendingProtocols: index % 2 ? [] : [`lending-protocol-${index % 12}`],
      tags: [pick(tags, index), pick(tags, index + 1)],
      products: [`product-${(index % 3) + 1}`],
      incentives: [
        { name: 'Base yield', description: 'What the strategy earns.', rewardType: 'yield', apr: (index % 97) / 10 },
        { name: 'Reward', rewardType: 'tokens', rewardTypeName: 'Reward token', apr: (index % 13) / 10 },
      ],
      featured: index % 17 === 0,
      depositEnabled: index % 5 !== 0,
      minDepositAmountUsd: index % 100,
    })),
  }
}

/** Queries as clients send them: one to four filters, a sort and a page, `count` different ones, always the same. */
export function makeQueries(count) {
  let state = 20_261_121
  const random = (max) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return Math.floor((state / 0x7fffffff) * max) % max
  }
  const pick = (list) => list[random(list.length)]
  const filters = [
    () => `chainIds=${pick(['1', '10', '1,8453', '42161'])}`,
    () => `depositTokenSymbols=${pick(['usdc', 'weth,wbtc', 'dai', 'usde,usdt'])}`,
    () => `tags=${pick(['stable', 'ether,points', 'lending'])}`,
    () => `minApr=${random(6)}`,
    () => `maxApr=${4 + random(6)}`,
    () => `search=${pick(['prime', 'core', 'watched', 'growth', String(random(500))])}`,
    () => 'depositEnabled=true',
    () => `featured=${pick(['true', 'false'])}`,
  ]
  const sorts = ['tvl', 'name', 'apr', 'curator', 'provider', 'type']
  return Array.from({ length: count }, () => {
    const parts = Array.from({ length: 1 + random(4) }, () => pick(filters)())
    const names = new Set()
    const once = parts.filter((part) => !names.has(part.split('=')[0]) && names.add(part.split('=')[0]))
    return [...once, `sortBy=${pick(sorts)}`, `sortOrder=${pick(['asc', 'desc'])}`, `page=${1 + random(5)}`].join('&')
  })
}
