import { type Hex, type PublicClient, type TransactionReceipt, TransactionReceiptNotFoundError } from 'viem'
import { systemClock } from '../../kernel/clock.js'

/**
 * Asks until a transaction is mined, for 30 s; fails when it reverted. Waiting for the next block instead would hang on a
 * chain that mines on demand, should the receipt be a moment late.
 */
export async function waitForReceipt(
  client: Pick<PublicClient, 'getTransactionReceipt'>,
  hash: Hex,
): Promise<TransactionReceipt> {
  for (let tries = 0; tries < 1_500; tries++) {
    const receipt = await client.getTransactionReceipt({ hash }).catch((error: unknown) => {
      if (error instanceof TransactionReceiptNotFoundError) return undefined
      throw error
    })
    if (receipt?.status === 'success') return receipt
    if (receipt) throw new Error(`transaction ${hash} reverted`)
    await systemClock.sleep(20)
  }
  throw new Error(`transaction ${hash} was not mined within 30 s`)
}
