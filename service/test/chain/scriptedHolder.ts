import { type Address, getAddress, type Hex, type PrivateKeyAccount, toEventSelector } from 'viem'
import { type Anvil, account } from '../../../contracts/test/anvil.js'

/** A holder of shares on a devnet that does and says what it is told: `balanceOf`, and events with an account and an amount. */

export const holderAddress: Address = getAddress(`0x${'57'.repeat(20)}`)
export const [staked, withdrawn] = ['Staked(address,uint256)', 'Withdrawn(address,uint256)'].map(toEventSelector) as [
  Hex,
  Hex,
]
/** A topic of no event. */
export const silent: Hex = `0x${'00'.repeat(32)}`

/**
 * It takes five words (target, topic, account, amount, says): it calls the target with the bytes after them, keeps `says` as the
 * balance of the account, and emits the topic with account and amount.
 */
const code: Hex = `0x${[
  '5f3560e01c6370a0823114603b57', // asked for a balance?
  '60a036038060a05f37', // the bytes of the call
  '5f5f825f5f5f355af115604657', // called; or all is undone
  '608035604035556060355f52', // kept, and the amount in memory
  '60403560203560205fa200', // emitted
  '5b600435545f5260205ff3', // the balance
  '5b5f5ffd',
].join('')}`

export type HolderCall = {
  target: Address
  /** Nothing is called without it. */
  call?: Hex
  topic: Hex
  of: Address
  amount: bigint
  /** The balance of the account from now on. */
  says: bigint
}

const word = (value: string | bigint) =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2).toLowerCase()).padStart(64, '0')

export const placeHolder = ({ client }: Anvil) => client.setCode({ address: holderAddress, bytecode: code })

/** Lets the holder make a call, if any, say what it keeps for an account, and emit an event. */
export async function tellHolder(anvil: Anvil, as: PrivateKeyAccount, told: HolderCall): Promise<void> {
  // An account without code stands in for no call.
  const target = told.call ? told.target : account(0).address
  const words = [target, told.topic, told.of, told.amount, told.says].map(word)
  const data: Hex = `0x${words.join('')}${(told.call ?? '0x').slice(2)}`
  const sent = { account: as, to: holderAddress, data, chain: null, gas: 1_000_000n }
  await anvil.done(anvil.client.sendTransaction(sent))
}
