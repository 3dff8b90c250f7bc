import type { Address, Hex } from 'viem'
import { inSlices, mapInSteps } from '../../../kernel/async/inSlices.js'
import { memo } from '../../../kernel/async/memo.js'
import { groupBy } from '../../../kernel/groups.js'
import { combine, combineAll, mapRead, type Read } from '../../../rpc/multicall.js'
import { readView, type View } from '../../../rpc/views.js'
import { findVaultKind, type VaultFigures, type VaultKind, viewRequest } from '../../../vaults/index.js'
import { formatAddress } from '../../../wallets/format.js'
import {
  type CatalogueSnapshot,
  findOpportunityByVault,
  findToken,
  findVault,
  type VaultRecord,
} from '../../catalogue/index.js'
import { type KeptShares, listBalances, listKept } from '../../positions/index.js'
import {
  type Adapter,
  type AdapterAnswer,
  type AdapterInput,
  type Amount,
  balanceCall,
  type Item,
  type OpenRequestId,
  parseWord,
  type ShareOf,
  type ShownToken,
} from '../adapter.js'
import { turns } from '../context.js'
import { toProtocol } from '../protocol.js'
import { type AllKept, askKept } from './keptShares.js'
import { chooseRequestIds } from './requestIds.js'

/** Up to this number of vaults of a chain, all are read, whether or not the wallet is known to hold them. */
const askedAllMax = 100
/** `maxWithdraw(address)`, which takes what `balanceOf(address)` takes. */
const maxWithdrawSelector = '0xce96cb77'

/**
 * The catalogue's vaults of every kind, listed or not: shares at the share price of the block, what is asked of an
 * asynchronous vault and not settled, what is settled and not claimed, what cools down, and what declared holders keep.
 */
export const vaultsAdapter: Adapter = {
  name: 'vaults',
  ask: async (input) => {
    const { ctx, chain, snapshot, wallet } = input
    const vaults = vaultsOf(snapshot.vaults)(chain.chainId)
    const held = vaults.length > askedAllMax ? await input.once('balances', () => listBalances(ctx.db, [wallet])) : []
    const kept = groupBy(
      (await input.once('kept', () => listKept(ctx.db, wallet))).filter(({ chainId }) => chainId === chain.chainId),
      ({ vaultAddress }) => vaultAddress,
    )
    const likely = new Set(held.filter(({ chainId }) => chainId === chain.chainId).map((each) => each.vaultAddress))
    const open = groupByVault(input)
    for (const address of open.keys()) likely.add(address)
    if (vaults.length > askedAllMax)
      for (const { address } of listInside(snapshot, chain.chainId, likely)) likely.add(address)
    const asked = await inSlices(
      mapInSteps(vaults, (vault) => {
        const own = open.get(vault.address) ?? []
        const isLikely = vaults.length <= askedAllMax || likely.has(vault.address)
        return askVault(input, vault, { open: own, kept: kept.get(vault.address) ?? [], isLikely })
      }),
      turns,
    )
    return mapRead(combineAll(asked), (told) => join(input, told))
  },
}

/** Of each chain those whose shares are something of their own; a token that is followed by itself is a token. */
const vaultsOf = memo((vaults: CatalogueSnapshot['vaults']) =>
  memo((chainId: number): readonly VaultRecord[] =>
    [...vaults.values()].filter(
      (vault) => vault.chainId === chainId && vault.receiptToken.toLowerCase() !== vault.asset.toLowerCase(),
    ),
  ),
)

/** The same by the address of their shares. */
const vaultsByShare = memo((vaults: CatalogueSnapshot['vaults']) =>
  memo(
    (chainId: number) => new Map(vaultsOf(vaults)(chainId).map((vault) => [vault.receiptToken.toLowerCase(), vault])),
  ),
)

/** The vaults whose shares these vaults hold, and what is inside those: an asset that is a share is worth its part of theirs. */
function listInside(snapshot: CatalogueSnapshot, chainId: number, addresses: Iterable<string>): VaultRecord[] {
  const shares = vaultsByShare(snapshot.vaults)(chainId)
  const inside = new Map<string, VaultRecord>()
  for (const address of addresses) {
    let vault = findVault(snapshot, chainId, address)
    while (vault) {
      vault = shares.get(vault.asset.toLowerCase())
      if (vault && inside.has(vault.address)) break
      if (vault) inside.set(vault.address, vault)
    }
  }
  return [...inside.values()]
}

/** The wallet's open requests on the chain, by vault. */
function groupByVault({ chain, openRequests }: AdapterInput): ReadonlyMap<string, OpenRequestId[]> {
  const own = openRequests.filter(({ chainId }) => chainId === chain.chainId)
  return groupBy(own, ({ vaultAddress }) => vaultAddress)
}

/** The reads of a vault for a wallet. `figures` is absent if they were not requested. */
type Told = {
  vault: VaultRecord
  kind: VaultKind | undefined
  shares: bigint | undefined
  figures: { figures: VaultFigures | undefined } | undefined
  deposit: Sides
  redeem: Sides
  /** Assets that settled redemptions pay, as the vault says. */
  payable: bigint | undefined
  cooling: bigint | undefined
  byHolders: AllKept
}

/** `unasked`: requests beyond those that are asked about. */
type Sides = { pending: bigint; claimable: bigint; unasked: number }

const nothing: Sides = { pending: 0n, claimable: 0n, unasked: 0 }

function askVault(
  { wallet }: AdapterInput,
  vault: VaultRecord,
  { open, kept, isLikely }: { open: readonly OpenRequestId[]; kept: readonly KeptShares[]; isLikely: boolean },
): Read<Told> {
  const kind = findVaultKind(vault.kind)
  const address = vault.address as Address
  const shares = one(vault.receiptToken as Address, balanceCall(wallet), parseWord)
  const parts = {
    shares,
    figures: isLikely ? mapRead(readFigures(vault, kind), (figures) => ({ figures })) : none(undefined),
    deposit: kind?.asyncDeposit ? askSide(vault, wallet, 'deposit', open) : none(nothing),
    redeem: kind?.asyncRedeem ? askSide(vault, wallet, 'redeem', open) : none(nothing),
    payable: kind?.asyncRedeem
      ? one(address, withArgumentsOf(balanceCall(wallet), maxWithdrawSelector), parseWord)
      : none(undefined),
    cooling: kind?.readCooling
      ? mapRead(kind.readCooling(address, wallet), (cooling) => cooling?.assets)
      : none<bigint | undefined>(undefined),
    byHolders: askKept(vault, wallet, kept),
  }
  return mapRead(combine(parts), ({ shares, ...told }) => ({
    ...{ vault, kind, ...told },
    shares: shares === undefined ? undefined : told.byHolders.ownOf(shares),
  }))
}

function one<T>(target: Address, data: Hex, parse: (result: Hex | undefined) => T): Read<T> {
  return { reads: [{ target, data }], answer: ([result]) => parse(result) }
}

const withArgumentsOf = (call: Hex, selector: Hex): Hex => `${selector}${call.slice(10)}`

function none<T>(value: T): Read<T> {
  return { reads: [], answer: () => value }
}

const figureReads = new WeakMap<VaultRecord, Read<VaultFigures | undefined>>()

/** The reads follow from the vault alone, so they are encoded once. */
function readFigures(vault: VaultRecord, kind: VaultKind | undefined): Read<VaultFigures | undefined> {
  const known = figureReads.get(vault)
  if (known) return known
  const read = kind?.readFigures?.(vault)
  const made = read ? mapRead(read, ({ figures }) => figures) : none<VaultFigures | undefined>(undefined)
  figureReads.set(vault, made)
  return made
}

/** The open requests of one side. What several requests share is counted once. */
function askSide(
  vault: VaultRecord,
  wallet: Address,
  kind: OpenRequestId['kind'],
  open: readonly OpenRequestId[],
): Read<Sides> {
  const { ids, unasked } = chooseRequestIds(open, kind)
  const views = ids.flatMap((requestId) => viewRequest(vault, { kind, requestId, controller: wallet }) ?? [])
  const sum = (each: readonly View[]) =>
    mapRead(
      combineAll([...new Map(each.map((view) => [`${view.target}${view.data}`, view])).values()].map(readView)),
      (told) => told.reduce<bigint>((all, amount) => all + (amount ?? 0n), 0n),
    )
  return mapRead(
    combine({
      pending: sum(views.map((view) => view.pending)),
      claimable: sum(views.flatMap((view) => view.claimable ?? [])),
    }),
    (amounts) => ({ ...amounts, unasked }),
  )
}

/** The rows of what was told; vaults the wallet turned out to be in, and were not asked their price, are asked it now. */
function join({ chain, snapshot }: AdapterInput, told: readonly Told[]): AdapterAnswer {
  const shown = told.filter(isShown)
  const late = shown.filter(({ figures }) => figures === undefined)
  const described = describe(
    snapshot,
    shown.filter(({ figures }) => figures !== undefined),
    told,
  )
  const answer = { ...described, problems: [...described.problems, ...told.flatMap(describeUnasked)] }
  if (late.length === 0) return answer
  const inside = new Set(
    listInside(
      snapshot,
      chain.chainId,
      late.map(({ vault }) => vault.address),
    ),
  )
  const wanted = told.filter((each) => each.figures === undefined && (late.includes(each) || inside.has(each.vault)))
  const reads = wanted.map((each) =>
    mapRead(readFigures(each.vault, each.kind), (figures): Told => ({ ...each, figures: { figures } })),
  )
  return { ...answer, more: mapRead(combineAll(reads), (again) => describe(snapshot, again.filter(isShown), again)) }
}

function describeUnasked({ vault, deposit, redeem }: Told): string[] {
  const unasked = deposit.unasked + redeem.unasked
  if (unasked === 0) return []
  return [`${unasked} more open requests of the wallet in the vault ${vault.address} are not told`]
}

const isShown = ({ shares, deposit, redeem, cooling, byHolders }: Told): boolean =>
  shares === undefined ||
  byHolders.isHolder ||
  byHolders.kept.some((each) => each.shares > 0n || each.problem !== undefined) ||
  [shares, deposit.pending, deposit.claimable, redeem.pending, redeem.claimable, cooling ?? 0n].some((raw) => raw > 0n)

function describe(snapshot: CatalogueSnapshot, shown: readonly Told[], told: readonly Told[]) {
  const problems = shown.flatMap(({ vault, kind, shares, figures, byHolders }) => {
    const ofHolders = byHolders.kept.flatMap(({ problem }) => problem ?? [])
    if (shares === undefined) return [`the share token ${vault.receiptToken} does not answer its balance`, ...ofHolders]
    const isUnpriced = kind?.readFigures && !figures?.figures
    return [...(isUnpriced ? [`the vault ${vault.address} does not answer its share price`] : []), ...ofHolders]
  })
  const shares = new Map(
    told.flatMap(({ vault, figures }) => {
      const share = toShare(vault, figures?.figures)
      return share ? [[vault.receiptToken.toLowerCase(), share] as const] : []
    }),
  )
  return { items: shown.flatMap((each) => toItems(snapshot, each)), problems, shares }
}

function toShare(vault: VaultRecord, figures: VaultFigures | undefined): ShareOf | undefined {
  if (!figures) return undefined
  return {
    ...{ asset: vault.asset.toLowerCase(), assetDecimals: vault.assetDecimals, decimals: vault.receiptDecimals },
    ...{ numerator: figures.priceNumerator, exponent: figures.priceExponent },
  }
}

/** Shares in the asset, rounded down; undefined without a share price. */
function toAssets(shares: bigint, figures: VaultFigures | undefined): bigint | undefined {
  return figures && (shares * figures.priceNumerator) / 10n ** BigInt(figures.priceExponent)
}

function toItems(snapshot: CatalogueSnapshot, told: Told): Item[] {
  const { vault, shares, deposit, redeem, payable, cooling } = told
  const figures = told.figures?.figures
  const opportunity = findOpportunityByVault(snapshot, vault.chainId, vault.address)
  const opportunityId = opportunity?.id
  const asset = showToken(snapshot, vault, 'asset')
  const receipt = showToken(snapshot, vault, 'receiptToken')
  const name = opportunity?.name || receipt.name || receipt.symbol || 'Vault'
  const item = (type: Item['type'], description: string, amount: Amount): Item => ({
    ...{ protocol: toProtocol(snapshot, vault), name, type, opportunityId: opportunityId ?? null },
    ...{ pool: vault.address, description, supplied: [{ ...amount, opportunityId }], borrowed: [], rewards: [] },
  })
  const ofAsset = (raw: bigint): Amount => ({ token: asset, raw })
  const ofShares = (raw: bigint): Amount => {
    const assets = toAssets(raw, figures)
    // Of a vault that tells no share price the share is shown itself, worth what is known of it as a token.
    return assets === undefined ? { token: receipt, raw } : ofAsset(assets)
  }
  const items: Item[] = []
  const { kept, isHolder } = told.byHolders
  // Of a holder the rest counts that no account has, even if that is nothing.
  if (shares !== undefined && (shares > 0n || isHolder))
    items.push(item('yield', '', { ...ofShares(shares), explains: receipt.address }))
  for (const each of kept)
    if (each.shares > 0n) {
      const amount = { ...ofShares(each.shares), ...(each.receipt === undefined ? {} : { explains: each.receipt }) }
      items.push(item('yield', `Kept by ${formatAddress(each.holder)}`, amount))
    }
  if (deposit.pending > 0n) items.push(item('pending-deposit', 'Not settled yet', ofAsset(deposit.pending)))
  if (deposit.claimable > 0n)
    items.push(item('claimable-deposit', 'Settled, its shares can be claimed', ofAsset(deposit.claimable)))
  if (redeem.pending > 0n) items.push(item('pending-withdraw', 'Not settled yet', ofShares(redeem.pending)))
  if (redeem.claimable > 0n) {
    // A settled request is worth its payment, not the present worth of its shares.
    const settled = payable !== undefined && payable > 0n ? ofAsset(payable) : ofShares(redeem.claimable)
    items.push(item('pending-withdraw', 'Settled, can be claimed', settled))
  }
  if (cooling !== undefined && cooling > 0n) items.push(item('pending-withdraw', 'Cools down', ofAsset(cooling)))
  return items
}

/** A token of a vault as the catalogue describes it, or with what the vault says of it alone. */
function showToken(snapshot: CatalogueSnapshot, vault: VaultRecord, member: 'asset' | 'receiptToken'): ShownToken {
  const address = vault[member].toLowerCase()
  const known = findToken(snapshot, vault.chainId, address)
  const decimals = member === 'asset' ? vault.assetDecimals : vault.receiptDecimals
  if (!known) return { address, symbol: '', name: '', decimals, logoUrl: '' }
  return { address, symbol: known.symbol, name: known.name, decimals, logoUrl: known.logoUrl }
}
