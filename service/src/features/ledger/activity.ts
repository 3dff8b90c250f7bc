import T, { type Static } from 'typebox'
import { getAddress } from 'viem'
import { formatUnits } from '../../kernel/amount.js'
import { formatTs } from '../../kernel/clock.js'
import { Address, ChainId, Dec, Nullable, Raw, Ts, TxHash, Uuid } from '../../kernel/wire.js'

export const interactionTypes = ['deposit', 'withdraw'] as const

/** A ledger entry as served: a verified deposit or withdrawal, and how the attribution was found. */
export const ActivitySchema = T.Object({
  id: Uuid,
  opportunityId: Uuid,
  interaction: T.Enum([...interactionTypes]),
  txHash: TxHash,
  chainId: ChainId,
  blockTimestamp: Nullable(Ts),
  walletAddress: Address,
  amountToken: Nullable(Dec),
  amountInUsd: Nullable(Dec),
  tokenSymbol: Nullable(T.String()),
  tokenIconUrl: Nullable(T.String()),
  isSwap: T.Boolean({ description: 'A router made the deposit for the wallet' }),
  distributorId: T.String(),
  logIndex: T.Integer(),
  blockNumber: T.Integer(),
  amountRaw: Raw,
  finality: T.Enum(['confirmed', 'final']),
  attribution: T.Enum(['signed', 'unsigned', 'legacy']),
})

export type Activity = Static<typeof ActivitySchema>

/** A ledger entry with what the catalogue says of its vault. */
export type ActivityRow = {
  id: string
  opportunityId: string
  kind: Activity['interaction']
  transactionHash: string
  chainId: number
  blockTimestamp: Date
  wallet: string
  assets: string
  assetDecimals: number
  /** The vault was what is configured, so the token and its units are known. */
  isKnown: boolean
  amountUsd: string | null
  tokenSymbol: string | null
  tokenLogoUrl: string | null
  isSwap: boolean
  distributorId: string
  logIndex: number
  blockNumber: number
  isFinal: boolean
  attribution: Activity['attribution']
}

/** The wire form of a ledger entry. Amounts are in the vault's asset. */
export function toActivity(row: ActivityRow): Activity {
  return {
    id: row.id,
    opportunityId: row.opportunityId,
    interaction: row.kind,
    txHash: row.transactionHash,
    chainId: row.chainId,
    blockTimestamp: formatTs(row.blockTimestamp),
    walletAddress: getAddress(row.wallet),
    amountToken: row.isKnown ? formatUnits(BigInt(row.assets), row.assetDecimals) : null,
    amountInUsd: row.amountUsd === null ? null : formatDecimal(row.amountUsd),
    tokenSymbol: row.isKnown ? row.tokenSymbol : null,
    tokenIconUrl: row.isKnown ? row.tokenLogoUrl : null,
    isSwap: row.isSwap,
    distributorId: row.distributorId,
    logIndex: row.logIndex,
    blockNumber: row.blockNumber,
    amountRaw: row.assets,
    finality: row.isFinal ? 'final' : 'confirmed',
    attribution: row.attribution,
  }
}

/** PostgreSQL keeps the zeros of a numeric's scale; a plain decimal has none at its end. */
function formatDecimal(numeric: string): string {
  return numeric.includes('.') ? numeric.replace(/\.?0+$/, '') : numeric
}
