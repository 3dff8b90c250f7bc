import { buildSuffix, operationTopics, signerAddress } from '@openearn/attribution'
import { type Address, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { createDerivation, type Derivation, type DeriveConfig, type DerivedRows, derive } from '../src/derive/index.js'
import { type DeriveState, emptyState } from '../src/derive/rows.js'
import type { ReadBlock as RawBlock, RequestReading } from '../src/derive/settled.js'
import type { Evidence } from '../src/rpc/callPaths.js'
import type { RawLog } from '../src/rpc/raw.js'
import { topics } from './topics.js'

/** Blocks of one transaction written by hand, and what derivation makes of them told in short lines. */

export const who = (text: string): Address => `0x${text.padStart(40, '0')}`
export const [zero, vault, other, asynchronous, tokenized, silo] = ['', 'f0', 'f1', 'f2', 'f3', '5110'].map(who) as [
  Address,
  Address,
  Address,
  Address,
  Address,
  Address,
]
export const [ann, bob, cat, router, treasury] = ['a1', 'b2', 'c3', '9000', 'fee'].map(who) as [
  Address,
  Address,
  Address,
  Address,
  Address,
]
export const chainId = 31_337
const privateKey: Hex = `0x${'07'.repeat(32)}`
const signer = signerAddress(Buffer.from(privateKey.slice(2), 'hex'))

const pad = (value: string | bigint) =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0')
const marker = '80218021802180218021802180218021'
/** A schema 0 suffix of codes, to be put behind calldata. */
export const codes = (...list: string[]): string => {
  const text = list.join(',')
  return `${Buffer.from(text).toString('hex')}${text.length.toString(16).padStart(2, '0')}00${marker}`
}
/** The suffix this service writes for one call. */
export const signedBy = (code: string, wallet: Address, target: Address, data: Hex): string =>
  buildSuffix({ code, actionId: `0x${'11'.repeat(16)}`, chainId, wallet, target, data, privateKey }).slice(2)
const callTo =
  (selector: string) =>
  (amount: bigint, ...wallets: Address[]): Hex =>
    `0x${selector}${pad(amount)}${wallets.map(pad).join('')}`
/** Calldata of calls users make; the arguments decide nothing. */
export const call = {
  deposit: callTo('6e553f65'),
  claim: callTo('2e2d2984'),
  redeem: callTo('ba087652'),
  requestDeposit: callTo('85b77f45'),
  requestRedeem: callTo('7d41c86e'),
  zap: callTo('5eed0001'),
  approve: callTo('095ea7b3'),
  transfer: (to: Address, amount: bigint): Hex => `0xa9059cbb${pad(to)}${pad(amount)}`,
  setOperator: (operator: Address): Hex => `0x558a7297${pad(operator)}${pad(1n)}`,
  /** ERC-5115. */
  depositToken: (receiver: Address, token: Address, amount: bigint): Hex =>
    `0x20e8c565${pad(receiver)}${pad(token)}${pad(amount)}${pad(0n)}`,
  redeemToken: (receiver: Address, shares: bigint, token: Address): Hex =>
    `0x769f8e5d${pad(receiver)}${pad(shares)}${pad(token)}${pad(0n)}${pad(0n)}`,
}

type Log = Pick<RawLog, 'address' | 'topics' | 'data'>
const log = (address: string, first: string, indexed: (string | bigint)[], data: (string | bigint)[]): Log => ({
  address,
  topics: [first, ...indexed.map((value) => `0x${pad(value)}`)],
  data: `0x${data.map(pad).join('')}`,
})
/** What a vault tells; shares are those of `on`, the vault unless said otherwise. */
export const say = {
  move: (from: string, to: string, amount: bigint, on: string = vault) =>
    log(on, topics.transfer, [from, to], [amount]),
  deposit: (sender: string, owner: string, assets: bigint, shares: bigint, on: string = vault) =>
    log(on, topics.deposit, [sender, owner], [assets, shares]),
  /** ERC-5115. */
  tokenDeposit: (sender: string, receiver: string, token: string, assets: bigint, shares: bigint) =>
    log(tokenized, topics.tokenDeposit, [sender, receiver, token], [assets, shares]),
  tokenRedeem: (sender: string, receiver: string, token: string, shares: bigint, assets: bigint) =>
    log(tokenized, topics.tokenRedeem, [sender, receiver, token], [shares, assets]),
  withdraw: (sender: string, owner: string, assets: bigint, shares: bigint, on: string = vault) =>
    log(on, topics.withdraw, [sender, owner, owner], [assets, shares]),
  requestDeposit: (controller: string, owner: string, sender: string, assets: bigint, id = 0n) =>
    log(asynchronous, topics.depositRequest, [controller, owner, id], [sender, assets]),
  requestRedeem: (controller: string, owner: string, sender: string, shares: bigint, id = 0n) =>
    log(asynchronous, topics.redeemRequest, [controller, owner, id], [sender, shares]),
  cancelDeposit: (controller: string, id = 0n) =>
    log(asynchronous, topics.cancelDepositRequest, [controller, id], [controller]),
  cancelledDeposit: (controller: string, assets: bigint, id = 0n) =>
    log(asynchronous, topics.cancelDepositClaim, [controller, controller, id], [controller, assets]),
  cancelledRedeem: (controller: string, receiver: string, shares: bigint, id = 0n) =>
    log(asynchronous, topics.cancelRedeemClaim, [controller, receiver, id], [controller, shares]),
  operationEnd: (entryPoint: string, sender: string) =>
    log(entryPoint, operationTopics.ended, [1n, sender, zero], [1n, 1n, 1n, 1n]),
  execution: (entryPoint: string) => log(entryPoint, operationTopics.execution, [], []),
}

export const asset = who('a55e7')

const vaultOf = (id: number, address: string, kind = 'erc4626') => ({
  id,
  address,
  kind,
  receiptToken: address,
  asset,
  assetDecimals: 6,
  escrow: null as string | null,
  startBlock: 0,
  activeFrom: 0,
})

/**
 * A chain of two plain vaults, an asynchronous one and one of several tokens, and the distributors alpha, beta and gamma,
 * from time 0 on.
 */
export function openHandChain(more: Partial<DeriveConfig> = {}) {
  const config: DeriveConfig = {
    chainId,
    vaults: [
      vaultOf(1, vault),
      vaultOf(2, other),
      { ...vaultOf(3, asynchronous, 'erc7540'), escrow: silo },
      vaultOf(4, tokenized, 'erc5115'),
    ],
    distributors: new Map(['alpha', 'beta', 'gamma'].map((code) => [code, 0])),
    signedOnly: new Map(),
    signers: new Set([signer]),
    entryPoints: ['0x0000000071727de22e5e9d8baf0edac6f37da032', '0x4337084d9e255ff0702461cf8895ce9e3b5ff108'],
    ...more,
  }
  const derivation: Derivation = createDerivation(config)
  const state: DeriveState = emptyState()
  let number = 0
  return {
    config,
    vaults: config.vaults,
    /** Mines one transaction and answers its rows. */
    mine: (transaction: {
      from: Address
      to: Address
      input: string
      logs: Log[]
      timestamp?: number
      evidence?: Evidence
      contracts?: readonly string[]
      requestReadings?: readonly RequestReading[]
    }): DerivedRows => {
      number += 1
      const place = { blockNumber: number, transactionIndex: 0 }
      const hash = `0x${pad(BigInt(number) << 8n)}`
      const { from, to, input, logs, timestamp = number, evidence, contracts } = transaction
      const known = { ...(evidence ? { evidence } : {}), ...(contracts ? { contracts } : {}) }
      const block: RawBlock = {
        number,
        hash: `0x${pad(BigInt(number))}`,
        parentHash: '0x',
        timestamp,
        logs: logs.map((each, logIndex) => ({ ...place, ...each, logIndex, transactionHash: hash })),
        ...(transaction.requestReadings ? { requestReadings: transaction.requestReadings } : {}),
        transactions: [{ ...place, hash, from, to, input: input.toLowerCase(), ...known }],
      }
      return derive(block, derivation, state)
    },
    /** Parts of what a wallet holds; `free` is unattributed. */
    lots: (wallet: string, of: string = vault): Record<string, bigint> => {
      const id = config.vaults.find(({ address }) => address === of)?.id
      const holder = state.holders.get(`${id}:${wallet}`)
      if (!holder) return {}
      const parts = [...holder.lots, ['free', holder.shares - holder.attributed] as const]
      return Object.fromEntries(parts.filter(([, part]) => part !== 0n))
    },
    /** Holders of all vaults that are kept in memory, those without shares among them. */
    countHolders: (): number => state.holders.size,
    /** Requests of all controllers that are kept in memory, and those that time will close. */
    countRequests: () => ({
      controllers: state.requests.size,
      open: [...state.requests.values()].reduce((sum, lots) => sum + lots.length, 0),
      closing: state.closing.length,
    }),
    /** What is left of the requests of a controller, oldest first. */
    open: (controller: string, kind: 'deposit' | 'redeem' = 'deposit'): string[] =>
      (state.requests.get(`3:${kind}:${controller}`) ?? []).map(
        ({ distributorId, remaining }) => `${distributorId ?? 'nobody'} ${remaining}`,
      ),
  }
}

/** Ledger entries as lines: kind, distributor, how, whose, assets, shares. */
export function entries({ interactions }: DerivedRows): string[] {
  return interactions.map(({ kind, distributorId, attribution, wallet, assets, shares, isSwap }) =>
    [kind, distributorId, attribution, wallet.replace(/^0x0+/, ''), assets, shares, ...(isSwap ? ['swap'] : [])].join(
      ' ',
    ),
  )
}

const batchAbi = parseAbi([
  'struct Call { address to; uint256 value; bytes data; }',
  'function executeBatch(Call[] calls)',
])
/** Calldata of an account that makes several calls. */
export const batch = (...list: [Address, string][]): Hex =>
  encodeFunctionData({
    abi: batchAbi,
    functionName: 'executeBatch',
    args: [list.map(([to, data]) => ({ to, value: 0n, data: data as Hex }))],
  })

/** A plain deposit as a vault tells it: the mint, then the event. */
export const deposited = (sender: string, owner: string, amount: bigint, on: string = vault) => [
  say.move(zero, owner, amount, on),
  say.deposit(sender, owner, amount, amount, on),
]

/** What an ERC-5115 vault tells of a deposit and of a redemption, a share for a unit. */
export const bought = (wallet: string, amount: bigint, token: string = asset) => [
  say.move(zero, wallet, amount, tokenized),
  say.tokenDeposit(wallet, wallet, token, amount, amount),
]
export const redeemed = (wallet: string, amount: bigint, token: string = asset) => [
  say.move(wallet, zero, amount, tokenized),
  say.tokenRedeem(wallet, wallet, token, amount, amount),
]

/** What a batch of an account, sent by another wallet, is credited for on a chain of its own. */
export function sendBatch(account: Address, list: [Address, string][], logs: Log[], more: Partial<DeriveConfig> = {}) {
  const chain = openHandChain(more)
  const rows = chain.mine({ from: bob, to: account, input: batch(...list), logs })
  return { chain, rows, entries: entries(rows), problems: rows.attributions[0]?.problems }
}
