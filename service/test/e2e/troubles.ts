import { until } from '../../../contracts/test/until.js'
import type { Mood } from './hooksInPage.js'

/** Something that stands in the way of a request: how the wallet is, and what the flow says of it, as a code and to its user. */
export type Trouble = { mood: Partial<Mood>; code: string; text: RegExp }

export const elsewhere = '0x00000000000000000000000000000000000000ad'

const ofEach: readonly Trouble[] = [
  { mood: { account: elsewhere }, code: 'WRONG_ACCOUNT', text: /does not show the account/ },
  { mood: { refuses: 1 }, code: 'REJECTED', text: /the user said no/ },
]
/** A membership is signed on whatever chain. */
const ofTransactions: readonly Trouble[] = [
  { mood: { chain: 1 }, code: 'WRONG_CHAIN', text: /does not know the chain/ },
  ...ofEach,
]

/** Puts one after the other in the way of a request. */
export async function meetAll(
  { mood }: { mood: Mood },
  isOnChain: boolean,
  meet: (trouble: Trouble) => Promise<void>,
): Promise<void> {
  for (const trouble of isOnChain ? ofTransactions : ofEach) {
    Object.assign(mood, trouble.mood)
    await meet(trouble)
    Object.assign(mood, { refuses: 0, chain: undefined, account: undefined })
  }
}

/** A wallet that was told to leave has sent something, and is on another chain with another account now. */
export async function waitUntilLeft(mood: Mood): Promise<void> {
  await until('the wallet to leave', () => mood.chain !== undefined)
  mood.account = elsewhere
}
