import { type Hex, type PublicClient, type TransactionReceipt, TransactionReceiptNotFoundError } from 'viem'
import { systemClock } from '../../kernel/clock.js'

/** Asks until a transaction is mined, for 30 s; fails when it reverted. */
export async function waitForReceipt(
  client: Pick<PublicClient, 'getTransactionReceipt'>,
  hash: Hex,
): Promise<TransactionReceipt> {
  const receipt = await waitForOutcome(client, hash)
  if (receipt.status === 'success') return receipt
  throw new Error(`transaction ${hash} reverted`)
}

/**
 * Asks until a transaction is mined, however it ended, for 30 s. Waiting for the next block instead would hang on a chain
 * that mines on demand, should the receipt be a moment late.
 */
export async function waitForOutcome(
  client: Pick<PublicClient, 'getTransactionReceipt'>,
  hash: Hex,
): Promise<TransactionReceipt> {
  for (let tries = 0; tries < 1_500; tries++) {
    const receipt = await client.getTransactionReceipt({ hash }).catch((error: unknown) => {
      if (error instanceof TransactionReceiptNotFoundError) return undefined
      throw error
    })
    if (receipt) return receipt
    await systemClock.sleep(20)
  }
  throw new Error(`transaction ${hash} was not mined within 30 s`)
}
