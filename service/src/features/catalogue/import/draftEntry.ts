import { formatUnits } from '../../../kernel/amount.js'
import type { ProbedToken, ProbedVault } from '../../../probing/index.js'
import { formatAddress } from '../../../wallets/format.js'
import { computeLpFloor } from '../lpFloor.js'
import type { CatalogueFile } from './catalogueFile.js'
import { cleanTokenText, textLengths } from './cleanText.js'

/** A snapshot of a vault with fewer shares is no reading, where its entry names no other number. */
const dustFloorDefault = '1000'

/**
 * A catalogue file with the one vault that was probed, ready to be completed and imported; with an LP floor where the price of its
 * asset is known. Pure.
 */
export function draftEntry(
  chainId: number,
  address: string,
  probed: ProbedVault,
  priceUsd?: string | undefined,
): CatalogueFile {
  const { asset, receiptToken, startBlock, kind } = probed
  const contracts = Object.entries(probed.contracts).map(([role, at]) => [role, formatAddress(at)])
  const name = cleanTokenText(receiptToken.name, textLengths.name) || formatAddress(address)
  const floor = findLpFloor(probed, priceUsd)
  const same = receiptToken.address.toLowerCase() === address.toLowerCase()
  return {
    tokens: [toFileToken(chainId, asset), toFileToken(chainId, receiptToken)],
    opportunities: [
      {
        slug: slugOf(`${name} ${chainId}`),
        name,
        type: 'vault',
        ...(probed.canLeave ? {} : closedDraft),
        vault: {
          chainId,
          address: formatAddress(address),
          kind,
          asset: formatAddress(asset.address),
          ...(same ? {} : { receiptToken: formatAddress(receiptToken.address) }),
          ...(probed.escrow === undefined ? {} : { escrow: formatAddress(probed.escrow) }),
          ...(contracts.length === 0 ? {} : { contracts: Object.fromEntries(contracts) }),
          ...(startBlock === undefined ? {} : { startBlock }),
          ...(floor === undefined ? {} : { lpFloor: [{ shares: String(floor) }] }),
        },
      },
    ],
  }
}

/** Shares that are worth a cent; undefined where no price is known. Pure. */
function findLpFloor({ asset, receiptToken, state }: ProbedVault, priceUsd: string | undefined) {
  if (priceUsd === undefined) return undefined
  const decimals = { assetDecimals: asset.decimals, receiptDecimals: receiptToken.decimals }
  return computeLpFloor({ ...decimals, priceUsd, figures: state.figures, dustFloor: dustFloorDefault })
}

/** A vault of which it was not seen that something can be taken out again is never drafted open. */
const closedDraft = {
  depositEnabled: false,
  depositDisabledReason: 'Nothing could be withdrawn from this vault when it was looked at.',
  withdrawEnabled: false,
  withdrawDisabledReason: 'Nothing could be withdrawn from this vault when it was looked at.',
}

/** The findings, one a line, for the operator at the terminal. Pure. */
export function describeProbe(probed: ProbedVault): string[] {
  const { asset, receiptToken, state, maxDeposit } = probed
  const symbol = cleanTokenText(asset.symbol, textLengths.symbol)
  const amount = (raw: bigint) => `${formatUnits(raw, asset.decimals)} ${symbol}`
  return [
    `kind: ${probed.kind}`,
    `asset: ${symbol}, ${asset.decimals} decimals, ${formatAddress(asset.address)}`,
    `receipt token: ${cleanTokenText(receiptToken.symbol, textLengths.symbol)}, ${receiptToken.decimals} decimals`,
    `holds: ${state.figures ? amount(state.figures.totalAssets) : 'unknown'}`,
    `deposit cap: ${maxDeposit === undefined ? 'none' : amount(maxDeposit)}`,
    ...(probed.escrow === undefined ? [] : [`escrow: ${formatAddress(probed.escrow)}`]),
    ...Object.entries(probed.contracts).map(([role, at]) => `${role}: ${formatAddress(at)}`),
    `first block: ${probed.startBlock ?? 'unknown'}`,
    'swaps: off in the draft; set routedSwapEnabled to true where an exchange of the chain has a route to the asset',
    ...describeShare(probed),
    ...probed.notes.map((note) => `look at this: ${note}`),
  ]
}

/** Powers of ten that one whole share is worth of the asset at most, or at least, where the decimals fit each other. */
const worthPowers = 6

/** A question, where one whole share is worth so much or so little that one of the decimals is hardly right. */
function describeShare({ state, asset, receiptToken }: ProbedVault): string[] {
  const { priceNumerator = 0n, priceExponent = 0 } = state.figures ?? {}
  if (priceNumerator <= 0n) return []
  // A figure of n digits is at least 10^(n − 1).
  const power = String(priceNumerator).length - 1 - (priceExponent - receiptToken.decimals) - asset.decimals
  if (Math.abs(power) < worthPowers) return []
  return [`look at this: one whole share is worth about 10^${power} of the asset: are the decimals right?`]
}

function toFileToken(chainId: number, { address, decimals, symbol, name }: ProbedToken) {
  return {
    chainId,
    address: formatAddress(address),
    decimals,
    symbol: cleanTokenText(symbol, textLengths.symbol),
    name: cleanTokenText(name, textLengths.name),
  }
}

function slugOf(text: string): string {
  const slug = text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 64)
    .replace(/^-+|-+$/g, '')
  return slug || 'vault'
}
