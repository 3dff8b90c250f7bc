import { operationTopics } from '@openearn/attribution'
import { type Address, encodeFunctionData, encodePacked, type Hex, parseAbi, sha256, stringToHex } from 'viem'
import * as suffixes from '../../../packages/attribution/test/suffixes.js'
import * as wrapping from '../../../packages/attribution/test/wrapping.js'
import { topics } from '../topics.js'

/** Who and what the chain written by hand (`gallery.ts`) is about, and the words its stories are told in. */

export const { chainId } = suffixes
export const firstBlock = 21_000_000
export const firstTime = 1_720_000_000
export const hashOf = (text: string): Hex => sha256(stringToHex(`gallery ${text}`))
export const who = (text: string): Address => `0x${text.padStart(40, '0')}`
export const [zero, asset, otherToken, escrow, shareToken] = ['', 'a55e7', '07e2', '5110', '5a2e'].map(who) as [
  Address,
  Address,
  Address,
  Address,
  Address,
]
export const users = ['a1', 'b2', 'c3', 'd4'].map(who)
export const [accountWallet, router, relayer, bundler] = ['acc0', '9000', '4e1a', 'b0d1'].map(who) as [
  Address,
  Address,
  Address,
  Address,
]

export type Place = {
  kind: string
  address: Address
  receiptToken: Address
  escrow: Address | null
  activeFrom: number
}
export const place = (kind: string, text: string, more: Partial<Place> = {}): Place => {
  const address = who(text)
  return { kind, address, receiptToken: address, escrow: null, activeFrom: 0, ...more }
}
export const plain = place('erc4626', 'f0')
export const lateOne = place('erc4626', 'f1', { activeFrom: firstTime + 12 * 40 })
export const tokenized = place('erc5115', 'f2')
export const asynchronous = [
  place('erc7540', 'f3', { escrow }),
  place('erc7540', 'f4', { receiptToken: shareToken }),
  place('erc7540-deposit', 'f5'),
  place('erc7540-redeem', 'f6'),
  place('lagoon', 'f7'),
]
export const places = [plain, lateOne, tokenized, ...asynchronous]

export const abi = parseAbi([
  'function deposit(uint256 assets, address receiver)',
  'function deposit(uint256 assets, address receiver, address controller)',
  'function deposit(address receiver, address tokenIn, uint256 amount, uint256 minimum)',
  'function redeem(uint256 shares, address receiver, address owner)',
  'function redeem(address receiver, uint256 shares, address tokenOut, uint256 minimum, bool burnsInternal)',
  'function requestDeposit(uint256 assets, address controller, address owner)',
  'function requestRedeem(uint256 shares, address controller, address owner)',
  'function cancelDepositRequest(uint256 id, address controller)',
  'function claimCancelDepositRequest(uint256 id, address receiver, address controller)',
  'function cancelRequestDeposit()',
  'function settle()',
])
export const pad = (value: string | bigint) =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0')

export type Log = { address: string; topics: string[]; data: string }
export type Story = { from: Address; to: Address; input: string; logs: Log[] }

export const log = (address: string, first: string, indexed: (string | bigint)[], data: (string | bigint)[]): Log => ({
  address,
  topics: [first, ...indexed.map((value) => `0x${pad(value)}`)],
  data: `0x${data.map(pad).join('')}`,
})
export const move = ({ receiptToken }: Place, from: string, to: string, amount: bigint) =>
  log(receiptToken, topics.transfer, [from, to], [amount])
export const deposited = ({ address }: Place, sender: string, owner: string, assets: bigint, shares: bigint) =>
  log(address, topics.deposit, [sender, owner], [assets, shares])
export const withdrawn = ({ address }: Place, sender: string, owner: string, assets: bigint, shares: bigint) =>
  log(address, topics.withdraw, [sender, owner, owner], [assets, shares])

/** What a distributor, or nobody, leaves at the end of a call. */
export const marks: Record<string, (wallet: Address, target: Address, data: Hex) => string> = {
  nothing: () => '',
  'a code': () => suffixes.schema0('alpha'),
  'two codes': () => suffixes.schema0('nobody,Beta_2'),
  'a map': () => suffixes.schema2({ a: 'gamma-3' }),
  'our signature': (wallet, target, data) => suffixes.signed({ code: 'Beta_2', wallet, target, data }),
  'a signature of another wallet': (_, target, data) =>
    suffixes.signed({ code: 'alpha', wallet: relayer, target, data }),
  'a tracker': () => suffixes.tracker('turtle:v1:alpha:'),
  'a stranger': () => suffixes.schema0('nobody'),
}
export const mark = (name: string, wallet: Address, target: Address, data: Hex): Hex =>
  `${data}${marks[name]?.(wallet, target, data) ?? ''}`

export const end = (entryPoint: Address, sender: Address) =>
  log(entryPoint, operationTopics.ended, [1n, sender, zero], [1n, 1n, 1n, 1n])
export const { entryPoint6, entryPoint7, entryPoint8 } = wrapping
export const batch = (to: Address, data: Hex) =>
  encodeFunctionData({ abi: wrapping.abi, functionName: 'executeBatch', args: [[{ to, value: 0n, data }]] })
export const operation7 = (callData: Hex) => wrapping.handleOps7(wrapping.operation7(accountWallet, callData))
export const byAccount = (input: Hex): Pick<Story, 'from' | 'to' | 'input'> => ({
  from: relayer,
  to: accountWallet,
  input,
})

/** Ways a call of a smart account reaches a vault: what is mined, and the entry point whose event ends it. */
export const ways: Record<
  string,
  (to: Address, data: Hex) => Pick<Story, 'from' | 'to' | 'input'> & { through?: Address }
> = {
  execute: (to, data) => byAccount(wrapping.execute(to, data)),
  'execute with a mode': (to, data) =>
    byAccount(wrapping.executeMode('0x00', encodePacked(['address', 'uint256', 'bytes'], [to, 0n, data]))),
  'a batch of pairs': (to, data) =>
    byAccount(encodeFunctionData({ abi: wrapping.abi, functionName: 'executeBatch', args: [[to], [data]] })),
  'a batch of triples': (to, data) =>
    byAccount(encodeFunctionData({ abi: wrapping.abi, functionName: 'executeBatch', args: [[to], [0n], [data]] })),
  'a batch of calls': (to, data) => byAccount(batch(to, data)),
  'a batch by mode': (to, data) =>
    byAccount(wrapping.executeMode('0x01', wrapping.encodedCalls([{ to, value: 0n, data }]))),
  'a Safe': (to, data) => byAccount(wrapping.safe(to, data, 0)),
  'a Safe and multiSend': (to, data) =>
    byAccount(wrapping.safe(wrapping.library, wrapping.multiSend(wrapping.packed(to, data)), 1)),
  'entry point 0.6': (to, data) => ({
    from: bundler,
    to: entryPoint6,
    input: wrapping.handleOps6(wrapping.operation6(accountWallet, wrapping.execute(to, data))),
    through: entryPoint6,
  }),
  'entry point 0.7': (to, data) => ({
    from: bundler,
    to: entryPoint7,
    input: operation7(batch(to, data)),
    through: entryPoint7,
  }),
  'entry point 0.7, a Safe’s module': (to, data) => ({
    from: bundler,
    to: entryPoint7,
    input: operation7(wrapping.safe(to, data, 0, 'executeUserOp')),
    through: entryPoint7,
  }),
  'entry point 0.8': (to, data) => ({
    from: bundler,
    to: entryPoint8,
    input: operation7(wrapping.execute(to, data)),
    through: entryPoint8,
  }),
  'multicall of the vault': (to, data) => ({ from: accountWallet, to, input: wrapping.multicall(data) }),
  itself: (to, data) => ({ from: accountWallet, to, input: data }),
}
