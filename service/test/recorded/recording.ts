import { readFile, writeFile } from 'node:fs/promises'
import { gunzipSync, gzipSync } from 'node:zlib'

/**
 * A recorded run: what an operator configured and what a watcher gave to the raw store, in order of arrival. One JSON
 * object a line, and no name of a table: the loader (`load.ts`) knows how today's code takes it.
 */
export type Line =
  | { chain: { chainId: number; name: string } }
  | { signer: { address: string } }
  | { distributor: { id: string; activeFrom: number } }
  | { setting: { distributorId: string; signedOnly: boolean; activeFrom: number } }
  | { vault: RecordedVault }
  | { price: { chainId: number; address: string; usd: string; at: number } }
  | { append: { chainId: number; blocks: RecordedBlock[] } }
  | { rewind: { chainId: number; number: number; hash: string } }

/** Instants in unix seconds, addresses and hashes lower-case. */
export type RecordedVault = {
  chainId: number
  address: string
  kind: string
  asset: string
  assetDecimals: number
  receiptToken: string
  receiptDecimals: number
  escrow: string | null
  startBlock: number
  activeFrom: number
}

export type RecordedBlock = {
  number: number
  hash: string
  parentHash: string
  timestamp: number
  logs: {
    index: number
    transactionIndex: number
    transactionHash: string
    address: string
    topics: readonly string[]
    data: string
  }[]
  /** Those whose calldata is kept. */
  transactions: { index: number; hash: string; from: string; to: string | null; input: string }[]
}

export const rawFile = new URL('./rawStore.ndjson.gz', import.meta.url)
export const dumpFile = new URL('./derived.txt.gz', import.meta.url)

export async function readLines(file: URL): Promise<string[]> {
  const text = gunzipSync(await readFile(file)).toString('utf8')
  return text.split('\n').filter((line) => line !== '')
}

/** Equal lines give equal bytes on one machine. */
export async function writeLines(file: URL, lines: readonly string[]): Promise<void> {
  await writeFile(file, gzipSync(lines.map((line) => `${line}\n`).join(''), { level: 9 }))
}
