import {
  type History,
  lengthSeconds,
  start,
  type ToldChain,
  type ToldSnapshot,
  type ToldVault,
} from './usdDaysHistory.js'

/** Histories read back from exported CSV alone, for the count of `naiveUsdDays.ts`. Nothing of the service is used. */

type Row = Record<string, string>
export type ExportedTexts = Record<
  'lot-changes' | 'snapshots' | 'identities' | 'share-mints' | 'share-readings' | 'prices' | 'rules',
  string
>

/** Rows by the names in the first line; no value of these exports holds a comma, a quote or a line. */
function readRows(text: string): Row[] {
  const [head = '', ...lines] = text.trim().split(/\r?\n/)
  const names = head.split(',')
  return lines.map((line) => {
    const values = line.split(',')
    if (values.length !== names.length || line.includes('"'))
      throw new Error(`not ${names.length} plain values: ${line}`)
    return Object.fromEntries(names.map((name, place) => [name, values[place] ?? '']))
  })
}

const secondsOf = (text: string | undefined) => Math.round(new Date(text ?? '').getTime() / 1_000) - start
const numberOf = (row: Row, name: string) => Number(row[name])
const bigOf = (row: Row, name: string) => BigInt(row[name] ?? '')

export function readHistory(texts: ExportedTexts): History {
  const rows = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, readRows(text)]))
  const rowsOf = (name: keyof ExportedTexts) => rows[name] ?? []
  const known = [...rowsOf('snapshots'), ...rowsOf('lot-changes'), ...rowsOf('share-mints')]
  const chains = [...new Set(known.map((row) => numberOf(row, 'chain_id')))].map((chainId): ToldChain => {
    const timed = known.find((row) => numberOf(row, 'chain_id') === chainId && numberOf(row, 'block_number') > 0)
    const seconds = timed ? secondsOf(timed['block_timestamp']) / numberOf(timed, 'block_number') : 1
    const head = Math.ceil(lengthSeconds / seconds)
    return { chainId, seconds, confirmed: head, head }
  })
  const names = [...new Set(known.map((row) => row['vault'] ?? ''))]
  const vaults = names.map((name): ToldVault => {
    const own = (of: keyof ExportedTexts) => rowsOf(of).filter((row) => row['vault'] === name)
    const [first] = own('snapshots')
    const chainId = numberOf(known.find((row) => row['vault'] === name) ?? {}, 'chain_id')
    return {
      ...{ name, chainId },
      assetDecimals: Number(first?.['asset_decimals'] ?? 0),
      receiptDecimals: Number(first?.['receipt_decimals'] ?? 0),
      snapshots: own('snapshots').map(toSnapshot),
      mints: own('share-mints').map((row) => ({
        ...{ block: numberOf(row, 'block_number'), logIndex: numberOf(row, 'log_index'), shares: bigOf(row, 'shares') },
        assets: row['assets'] === '' ? null : bigOf(row, 'assets'),
      })),
      readings: new Map(
        own('share-readings').map((row) => [
          numberOf(row, 'block_number'),
          { numerator: bigOf(row, 'price_numerator'), exponent: numberOf(row, 'price_exponent') },
        ]),
      ),
      lots: own('lot-changes').map((row) => ({
        ...{ block: numberOf(row, 'block_number'), transaction: numberOf(row, 'transaction_index') },
        ...{ wallet: Number(`0x${row['wallet']?.slice(-2)}`) - 1, distributorId: row['distributor_id'] ?? '' },
        after: bigOf(row, 'after'),
      })),
      identities: own('identities').map((row) => ({
        ...{ block: numberOf(row, 'block_number'), agrees: /^t/.test(row['agrees'] ?? '') },
      })),
    }
  })
  linkPrices(vaults, rowsOf('snapshots'), rowsOf('prices'))
  const rules = rowsOf('rules').find((row) => row['version'] === '2')
  return { chains, vaults, rulesAt: rules ? secondsOf(rules['holds_from']) : -1 }
}

const toSnapshot = (row: Row): ToldSnapshot => ({
  ...{ block: numberOf(row, 'block_number'), numerator: bigOf(row, 'price_numerator') },
  ...{ exponent: numberOf(row, 'price_exponent'), supply: bigOf(row, 'total_supply') },
  priceUsd: row['price_usd'] || null,
})

/** Names, of each snapshot whose price is that of a vault's share, the snapshot of that vault. */
function linkPrices(vaults: readonly ToldVault[], snapshots: readonly Row[], prices: readonly Row[]): void {
  const observed = new Map(prices.map((row) => [row['id'], row]))
  for (const row of snapshots) {
    const price = observed.get(row['price_observation_id'])
    if (!price?.['source']?.startsWith('share:')) continue
    const inner = vaults.find(({ name }) => name === price['source']?.slice('share:'.length))
    const basedOn = inner?.snapshots.find(({ block }) => block === numberOf(price, 'block_number'))
    const own = vaults
      .find(({ name }) => name === row['vault'])
      ?.snapshots.find(({ block }) => block === numberOf(row, 'block_number'))
    if (!own || !basedOn) throw new Error(`the price ${price['id']} follows from no exported snapshot`)
    own.basedOn = basedOn
  }
}
