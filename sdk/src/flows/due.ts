import type { Provider } from '../wallet/provider.js'
import { readBalance } from '../wallet/reads.js'

/**
 * Reads of the chain cost nothing, and those of the service do. A flow that waits long asks the service more and more seldom, and at
 * once when the wallet's own node shows that something moved.
 */

/** Whether the service is asked at this look of a long wait: at the first three, then each time the wait has doubled. */
export const isDue = (looks: number): boolean => (looks & (looks - 1)) === 0

/** The same where an answer is to be expected soon: each time for a minute and a half, then once a minute for a while. */
export const isDueSoon = (looks: number): boolean => looks <= 10 || (looks <= 64 && looks % 4 === 0) || isDue(looks)

/** The balances of the wallet in these tokens, as its own node says; they move when a transaction of the wallet does something. */
export async function readMark(provider: Provider, wallet: string, tokens: readonly string[]): Promise<string> {
  const names = [...new Set(tokens.map((token) => token.toLowerCase()))]
  return (await Promise.all(names.map((token) => readBalance(provider, token, wallet)))).join(' ')
}
