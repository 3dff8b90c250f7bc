import type { SwapSettings } from '../../../rpc/storeChains.js'
import { findVaultKind } from '../../../vaults/index.js'
import { chainKey } from '../records.js'
import type { tables } from '../tables.js'
import { type CatalogueFile, type FileOpportunityEntry, slugId } from './catalogueFile.js'
import { checkHolders, type DeclaredAt, lowerHolder } from './checkHolders.js'
import { checkPriceCircles, type PricedShare } from './checkPriceCircles.js'
import { cleanText, cleanTokenText, textLengths } from './cleanText.js'

/** Rows in the database: an entry of the file may refer to them. */
export type Known = {
  organizationIds: ReadonlySet<string>
  protocolIds: ReadonlySet<string>
  productIds: ReadonlySet<string>
  chainIds: ReadonlySet<number>
  /** Ids by code. */
  tagIds: ReadonlyMap<string, string>
  /** Decimals by `chainKey`. */
  tokenDecimals: ReadonlyMap<string, number>
  opportunityIds: ReadonlySet<string>
  /** Opportunity ids by slug. */
  opportunitySlugs: ReadonlyMap<string, string>
  /** Opportunity ids by `chainKey` of the vault. */
  opportunityVaults: ReadonlyMap<string, string>
  /** Addresses of vaults by `chainKey` of their receipt token. */
  vaultsOfShare: ReadonlyMap<string, string>
  shares: readonly PricedShare[]
  /** Organization by builder code. */
  distributors: ReadonlyMap<string, string>
  chainSlugs: ReadonlyMap<string, number>
}

export type Problem = { pointer: string; message: string }

/** Rows to write, by table; members that are no column are left out. */
export type ImportRows = {
  [table in keyof typeof tables | 'chains' | 'tokens' | 'protocols' | 'vaults']: Record<string, unknown>[]
}

export type Peg = { chainId: number; address: string; priceUsd: string }

export type Resolved = { rows: ImportRows; pegs: Peg[]; problems: Problem[] }

/** Turns a file of the right shape into rows: slugs become ids, texts are cleaned, every reference is checked. Pure. */
export function resolveFile(file: CatalogueFile, known: Known): Resolved {
  const problems: Problem[] = []
  const report = (pointer: string, message: string) => problems.push({ pointer, message })
  const refs = collectIds(file, known, report)
  const rows: ImportRows = {
    organizations: (file.organizations ?? []).map((entry) => ({
      ...entry,
      id: refs.organization.idOf(entry),
      ...described(entry),
    })),
    chains: (file.chains ?? []).map((entry) => ({
      ...entry,
      name: cleanText(entry.name, textLengths.label),
      nativeSymbol: cleanTokenText(entry.nativeSymbol ?? 'ETH', textLengths.symbol),
      entryPoints: entry.entryPoints?.map(lower),
      wrappedNative: entry.wrappedNative && lower(entry.wrappedNative),
      forwarders: entry.forwarders?.map((each) => ({ ...each, address: lower(each.address) })),
      depositRouter: entry.depositRouter && lower(entry.depositRouter),
      swap: entry.swap && lowerSwap(entry.swap),
    })),
    tokens: (file.tokens ?? []).map((entry) => ({
      ...entry,
      address: lower(entry.address),
      ...(entry.priceFeed ? { priceFeed: { ...entry.priceFeed, address: lower(entry.priceFeed.address) } } : {}),
      ...(entry.priceVault ? { priceVault: lower(entry.priceVault) } : {}),
      symbol: cleanTokenText(entry.symbol, textLengths.symbol),
      name: cleanTokenText(entry.name, textLengths.name),
    })),
    protocols: (file.protocols ?? []).map((entry) => ({
      ...entry,
      id: refs.protocol.idOf(entry),
      name: cleanText(entry.name, textLengths.label),
    })),
    tags: (file.tags ?? []).map((entry) => ({ ...entry, id: refs.tagIdOf(entry.code), ...described(entry) })),
    products: (file.products ?? []).map((entry, index) => ({
      id: refs.product.idOf(entry),
      name: cleanText(entry.name, textLengths.label),
      organizationId:
        entry.organization === undefined
          ? null
          : refs.organization.resolve(entry.organization, `/products/${index}/organization`),
    })),
    vaults: [],
    opportunities: [],
    opportunityTokens: [],
    opportunityOrganizations: [],
    opportunityTags: [],
    opportunityProducts: [],
    incentives: [],
    distributors: [],
    distributorOpportunities: [],
    distributorProducts: [],
  }
  ;(file.tokens ?? []).forEach((entry, index) => {
    if (!refs.chainIds.has(entry.chainId)) report(`/tokens/${index}/chainId`, `no chain ${entry.chainId}`)
  })
  ;(file.chains ?? []).forEach(({ chainId, swap }, index) => {
    swap?.hubTokens?.forEach((address, at) => {
      if (!refs.decimals.has(chainKey(chainId, address)))
        report(`/chains/${index}/swap/hubTokens/${at}`, `no token ${address} on chain ${chainId}`)
    })
  })
  ;(file.opportunities ?? []).forEach((entry, index) => {
    resolveOpportunity(entry, `/opportunities/${index}`, refs, rows, report)
  })
  checkHolders(refs.holders, { vaults: refs.vaultKeys }, report)
  checkPriceCircles(known.shares, refs.shares, report)
  resolveDistributors(file, refs, known, rows, report)
  return { rows, pegs: listPegs(file), problems }
}

function described(entry: { name: string; description?: string }) {
  return {
    name: cleanText(entry.name, textLengths.label),
    description: cleanText(entry.description ?? '', textLengths.description),
  }
}

const lower = (text: string) => text.toLowerCase()

/** The same settings with every address in lower case. */
function lowerSwap(settings: SwapSettings): SwapSettings {
  return JSON.parse(JSON.stringify(settings), (_, value: unknown) =>
    typeof value === 'string' && /^0x[0-9a-f]{40}$/i.test(value) ? lower(value) : value,
  ) as SwapSettings
}

/** The fixed prices the file sets, as plain decimals. */
function listPegs(file: CatalogueFile): Peg[] {
  return (file.tokens ?? []).flatMap(({ chainId, address, pegUsd }) =>
    pegUsd === undefined ? [] : [{ chainId, address: lower(address), priceUsd: plainDecimal(pegUsd) }],
  )
}

/** A JSON number without an exponent; `toFixed` cuts what is below 10^-18. */
function plainDecimal(value: number | string): string {
  if (typeof value === 'string') return value
  const text = String(value)
  return text.includes('e') ? value.toFixed(18).replace(/\.?0+$/, '') : text
}

type Report = (pointer: string, message: string) => void

type Slugged = { id?: string; slug: string }

type Refs = ReturnType<typeof collectIds>

/** Everything an entry can refer to: entries of the file and rows of the database. Reports duplicates. */
function collectIds(file: CatalogueFile, known: Known, report: Report) {
  const chainIds = new Set(known.chainIds)
  const decimals = new Map(known.tokenDecimals)
  const seen = new Map<string, string>()
  const once = (kind: string, value: string | number, pointer: string) => {
    const key = `${kind} ${value}`
    const first = seen.get(key)
    if (first !== undefined) report(pointer, `${key} is already at ${first}`)
    else seen.set(key, formatPath(pointer))
  }
  const named = (
    kind: 'organization' | 'protocol' | 'product' | 'opportunity',
    list: readonly Slugged[] | undefined,
  ) => {
    const member = kind === 'opportunity' ? 'opportunities' : `${kind}s`
    const idOf = (entry: Slugged) => entry.id?.toLowerCase() ?? slugId[kind](entry.slug)
    const bySlug = new Map((list ?? []).map((entry) => [entry.slug, idOf(entry)]))
    const knownIds = known[`${kind}Ids` as const]
    const ids = new Set(bySlug.values())
    ;(list ?? []).forEach((entry, index) => {
      once(`${kind} slug`, entry.slug, `/${member}/${index}/slug`)
      once(`${kind} id`, idOf(entry), `/${member}/${index}`)
    })
    return {
      idOf,
      /** The id of a slug or id; reported when nothing has it. */
      resolve: (ref: string, pointer: string): string => {
        const id =
          bySlug.get(ref) ?? (ref.length === 36 && ref[8] === '-' && ref[14] !== '-' ? lower(ref) : slugId[kind](ref))
        if (!ids.has(id) && !knownIds.has(id)) report(pointer, `no ${kind} "${ref}"`)
        return id
      },
    }
  }
  ;(file.chains ?? []).forEach((entry, index) => {
    once('chain', entry.chainId, `/chains/${index}`)
    once('chain slug', entry.slug, `/chains/${index}/slug`)
    const owner = known.chainSlugs.get(entry.slug)
    if (owner !== undefined && owner !== entry.chainId)
      report(`/chains/${index}/slug`, `"${entry.slug}" is the slug of chain ${owner}`)
    chainIds.add(entry.chainId)
  })
  ;(file.tokens ?? []).forEach((entry, index) => {
    once('token', chainKey(entry.chainId, entry.address), `/tokens/${index}`)
    decimals.set(chainKey(entry.chainId, entry.address), entry.decimals)
  })
  const tagIds = new Map(known.tagIds)
  ;(file.tags ?? []).forEach((entry, index) => {
    once('tag', entry.code, `/tags/${index}/code`)
    if (!tagIds.has(entry.code)) tagIds.set(entry.code, entry.id?.toLowerCase() ?? slugId.tag(entry.code))
  })
  return {
    chainIds,
    decimals,
    vaultsOfShare: new Map(known.vaultsOfShare),
    /** Vaults and their shares, by chain and address. */
    vaultKeys: new Set([...known.opportunityVaults.keys(), ...known.vaultsOfShare.keys()]),
    holders: [] as DeclaredAt[],
    shares: [] as (PricedShare & { pointer: string })[],
    once,
    known,
    organization: named('organization', file.organizations),
    protocol: named('protocol', file.protocols),
    product: named('product', file.products),
    opportunity: named('opportunity', file.opportunities),
    tagIdOf: (code: string) => tagIds.get(code),
  }
}

/** `/opportunities/3/vault` as a person would write it: `opportunities[3].vault`. */
export function formatPath(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part, index) => (/^[0-9]+$/.test(part) ? `[${part}]` : index === 0 ? part : `.${part}`))
    .join('')
}

function resolveOpportunity(entry: FileOpportunityEntry, at: string, refs: Refs, rows: ImportRows, report: Report) {
  const { vault } = entry
  const id = refs.opportunity.idOf(entry)
  const address = lower(vault.address)
  const key = chainKey(vault.chainId, address)
  refs.once('vault', key, `${at}/vault`)
  const namesake = refs.known.opportunitySlugs.get(entry.slug)
  if (namesake !== undefined && namesake !== id)
    report(`${at}/slug`, `"${entry.slug}" is the slug of opportunity ${namesake}`)
  const owner = refs.known.opportunityVaults.get(key)
  if (owner !== undefined && owner !== id) report(`${at}/vault`, `the vault belongs to opportunity ${owner}`)
  if (!refs.chainIds.has(vault.chainId)) report(`${at}/vault/chainId`, `no chain ${vault.chainId}`)
  const decimalsOf = (chainId: number, token: string, pointer: string): number => {
    const decimals = refs.decimals.get(chainKey(chainId, token))
    if (decimals === undefined) report(pointer, `no token ${token} on chain ${chainId}`)
    return decimals ?? 0
  }
  const kind = findVaultKind(vault.kind)
  const sides = {
    asyncDeposit: kind?.asyncDeposit,
    asyncWithdraw: kind && (kind.asyncRedeem || kind.redeemsLater === true || kind.readCooling !== undefined),
  }
  for (const side of ['asyncDeposit', 'asyncWithdraw'] as const)
    if (entry[side] !== undefined && entry[side] !== sides[side])
      report(`${at}/${side}`, `is ${sides[side]} of a vault of kind ${vault.kind}: leave it out, or correct the kind`)
  const receiptToken = lower(vault.receiptToken ?? vault.address)
  const share = chainKey(vault.chainId, receiptToken)
  const other = refs.vaultsOfShare.get(share) ?? address
  refs.vaultsOfShare.set(share, other)
  if (other !== address)
    report(
      `${at}/vault/${vault.receiptToken ? 'receiptToken' : 'address'}`,
      `${receiptToken} is the share of vault ${other} already: a second vault on one share token (ERC-7575) cannot be listed, since its balances would be counted twice`,
    )
  const contracts = Object.entries(vault.contracts ?? {})
  const beside = kind?.beside ?? {}
  const names = Object.keys(beside)
  for (const [name] of contracts)
    if (!names.includes(name))
      report(`${at}/vault/contracts/${name}`, `a vault of kind ${vault.kind} has no contract of that name`)
  for (const name of names)
    if (vault.contracts?.[name] === undefined && !beside[name]?.isOptional)
      report(`${at}/vault/contracts`, `a vault of kind ${vault.kind} needs the address of its ${name}`)
  ;(vault.holders ?? []).forEach((holder, position) => {
    const place = { chainId: vault.chainId, vault: address, share: receiptToken }
    refs.holders.push({ ...place, holder: lowerHolder(holder), pointer: `${at}/vault/holders/${position}` })
  })
  refs.vaultKeys.add(key).add(share)
  refs.shares.push({ chainId: vault.chainId, receiptToken, asset: lower(vault.asset), pointer: `${at}/vault/asset` })
  rows.vaults.push({
    ...vault,
    address,
    asset: lower(vault.asset),
    assetDecimals: decimalsOf(vault.chainId, vault.asset, `${at}/vault/asset`),
    receiptToken,
    escrow: vault.escrow === undefined ? null : lower(vault.escrow),
    contracts: Object.fromEntries(contracts.map(([name, contract]) => [name, lower(contract)])),
    ...(vault.holders ? { holders: vault.holders.map(lowerHolder) } : {}),
    receiptDecimals: decimalsOf(
      vault.chainId,
      receiptToken,
      `${at}/vault/${vault.receiptToken ? 'receiptToken' : 'address'}`,
    ),
    protocolId: vault.protocol === undefined ? null : refs.protocol.resolve(vault.protocol, `${at}/vault/protocol`),
  })
  rows.opportunities.push({
    ...entry,
    id,
    ...described(entry),
    chainId: vault.chainId,
    vaultAddress: address,
    curatorId: entry.curator === undefined ? null : refs.organization.resolve(entry.curator, `${at}/curator`),
    depositDisabledReason: reason(entry.depositDisabledReason),
    withdrawDisabledReason: reason(entry.withdrawDisabledReason),
  })
  resolveLinks(entry, id, at, refs, rows, report)
  const depositTokens = entry.depositTokens ?? [vault.asset]
  depositTokens.forEach((ref, position) => {
    const token =
      typeof ref === 'string'
        ? { chainId: vault.chainId, address: lower(ref) }
        : { ...ref, address: lower(ref.address) }
    const pointer = entry.depositTokens ? `${at}/depositTokens/${position}` : `${at}/vault/asset`
    refs.once(`deposit token of ${entry.slug}`, chainKey(token.chainId, token.address), pointer)
    if (entry.depositTokens) decimalsOf(token.chainId, token.address, pointer)
    rows.opportunityTokens.push({ opportunityId: id, ...token, position })
  })
  ;(entry.incentives ?? []).forEach((incentive, position) => {
    const incentiveId = incentive.id?.toLowerCase() ?? slugId.incentive(id, position)
    refs.once('incentive', incentiveId, `${at}/incentives/${position}`)
    const rewardTypeName = cleanText(incentive.rewardTypeName ?? '', textLengths.label)
    rows.incentives.push({
      ...incentive,
      id: incentiveId,
      opportunityId: id,
      position,
      ...described(incentive),
      rewardTypeName,
    })
  })
}

const reason = (text: string | undefined) => (text === undefined ? undefined : cleanText(text, textLengths.reason))

function resolveLinks(
  entry: FileOpportunityEntry,
  opportunityId: string,
  at: string,
  refs: Refs,
  rows: ImportRows,
  report: Report,
) {
  const roles = [
    ['providers', 'provider'],
    ['partners', 'partner'],
    ['lendingProtocols', 'lending-protocol'],
  ] as const
  for (const [member, role] of roles) {
    ;(entry[member] ?? []).forEach((ref, index) => {
      const pointer = `${at}/${member}/${index}`
      const organizationId = refs.organization.resolve(ref, pointer)
      refs.once(`${role} of ${entry.slug}`, organizationId, pointer)
      rows.opportunityOrganizations.push({ opportunityId, organizationId, role })
    })
  }
  ;(entry.tags ?? []).forEach((code, index) => {
    const tagId = refs.tagIdOf(code)
    if (tagId === undefined) report(`${at}/tags/${index}`, `no tag "${code}"`)
    refs.once(`tag of ${entry.slug}`, code, `${at}/tags/${index}`)
    rows.opportunityTags.push({ opportunityId, tagId })
  })
  ;(entry.products ?? []).forEach((ref, index) => {
    const productId = refs.product.resolve(ref, `${at}/products/${index}`)
    refs.once(`product of ${entry.slug}`, productId, `${at}/products/${index}`)
    rows.opportunityProducts.push({ opportunityId, productId })
  })
}

function resolveDistributors(file: CatalogueFile, refs: Refs, known: Known, rows: ImportRows, report: Report) {
  ;(file.distributors ?? []).forEach((entry, index) => {
    const at = `/distributors/${index}`
    refs.once('distributor', entry.id, `${at}/id`)
    const organizationId = refs.organization.resolve(entry.organization, `${at}/organization`)
    const owner = known.distributors.get(entry.id)
    if (owner !== undefined && owner !== organizationId)
      report(`${at}/organization`, `the distributor belongs to organization ${owner}`)
    rows.distributors.push({
      ...entry,
      organizationId,
      name: cleanText(entry.name ?? entry.id, textLengths.label),
    })
    ;(entry.opportunities ?? []).forEach((ref, position) => {
      const opportunityId = refs.opportunity.resolve(ref, `${at}/opportunities/${position}`)
      refs.once(`opportunity of ${entry.id}`, opportunityId, `${at}/opportunities/${position}`)
      rows.distributorOpportunities.push({ distributorId: entry.id, opportunityId })
    })
    ;(entry.products ?? []).forEach((ref, position) => {
      const productId = refs.product.resolve(ref, `${at}/products/${position}`)
      refs.once(`product of ${entry.id}`, productId, `${at}/products/${position}`)
      rows.distributorProducts.push({ distributorId: entry.id, productId })
    })
  })
}
