import { inTurn } from '../rpc/inTurn.js'
import type { Node } from '../rpc/node.js'
import type { RawLog, RawTransaction } from '../rpc/raw.js'
import type { WatchList } from './watchList.js'

/** Receipts asked for at a time. */
const receiptsInFlight = 16

/** Whether the receipt of a transaction may have marks, judged by its input. */
export function mayHaveMarks(transaction: RawTransaction, { beside }: WatchList): boolean {
  return beside.some(({ mayHave }) => mayHave(transaction))
}

/** Whether its trace shows so, if its input does not: a contract assembled the calls itself. */
export function callsMarked({ evidence }: RawTransaction, { beside }: WatchList): boolean {
  const calls = evidence && evidence !== 'no trace' ? evidence.calls : []
  return calls.some(({ target }) => beside.some(({ addresses }) => addresses.has(target)))
}

/** The marks of transactions: logs of their receipts that a source keeps only in kept transactions. */
export async function listMarks(
  node: Node,
  transactions: readonly RawTransaction[],
  { beside }: WatchList,
  hashOf: (blockNumber: number) => string,
): Promise<RawLog[]> {
  const marks: RawLog[] = []
  await inTurn(transactions, receiptsInFlight, async ({ hash, blockNumber }) => {
    marks.push(...(await node.listReceiptLogs({ hash, blockHash: hashOf(blockNumber) })))
  })
  return marks.filter(({ address, topics }) =>
    beside.some((source) => source.topics.has(topics[0] ?? '') && source.addresses.has(address)),
  )
}
