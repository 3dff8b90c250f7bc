import { toEventSelector } from 'viem'
import type { DeriveVault } from '../../src/derive/config.js'
import type { RawLog } from '../../src/rpc/raw.js'
import { addressOf, digitsOf, slice } from './bytes.js'
import type { Move, Told } from './types.js'

/** The first topics by what they mean (STANDARDS §3). */
export const firstTopics = {
  transfer: toEventSelector('Transfer(address,address,uint256)'),
  deposit: toEventSelector('Deposit(address,address,uint256,uint256)'),
  withdraw: toEventSelector('Withdraw(address,address,address,uint256,uint256)'),
  depositRequest: toEventSelector('DepositRequest(address,address,uint256,address,uint256)'),
  redeemRequest: toEventSelector('RedeemRequest(address,address,uint256,address,uint256)'),
  cancelDepositRequest: toEventSelector('CancelDepositRequest(address,uint256,address)'),
  cancelRedeemRequest: toEventSelector('CancelRedeemRequest(address,uint256,address)'),
  cancelDepositClaim: toEventSelector('CancelDepositClaim(address,address,uint256,address,uint256)'),
  cancelRedeemClaim: toEventSelector('CancelRedeemClaim(address,address,uint256,address,uint256)'),
} as const

/** A Transfer of a vault's receipt token. */
export function readMove(log: RawLog, vault: DeriveVault): Move | undefined {
  if (log.address !== vault.receiptToken || log.topics[0] !== firstTopics.transfer) return undefined
  const value = BigInt(`0x0${digitsOf(log.data)}`)
  return { logIndex: log.logIndex, from: addressOf(log.topics[1]!), to: addressOf(log.topics[2]!), value }
}

/** What a log of a vault says; only asynchronous kinds tell of requests. */
export function readTold(log: RawLog, vault: DeriveVault): Told | undefined {
  if (log.address !== vault.address) return undefined
  const { logIndex } = log
  const common = { logIndex, vaultId: vault.id }
  const address = (index: number) => addressOf(log.topics[index]!)
  const topic = (index: number) => BigInt(log.topics[index]!)
  const word = (index: number) => BigInt(`0x0${slice(digitsOf(log.data), 32 * index, 32 * index + 32)}`)
  const said = (index: number) => addressOf(slice(digitsOf(log.data), 32 * index, 32 * index + 32))
  const kind = Object.entries(firstTopics).find(([, first]) => first === log.topics[0])?.[0]
  if (kind === 'deposit')
    return { ...common, kind, sender: address(1), owner: address(2), assets: word(0), shares: word(1) }
  if (kind === 'withdraw')
    return {
      ...common,
      kind,
      sender: address(1),
      receiver: address(2),
      owner: address(3),
      assets: word(0),
      shares: word(1),
    }
  if (vault.kind === 'erc4626') return undefined
  if (kind === 'depositRequest' || kind === 'redeemRequest')
    return {
      ...common,
      kind,
      controller: address(1),
      owner: address(2),
      id: topic(3),
      sender: said(0),
      amount: word(1),
    }
  if (kind === 'cancelDepositRequest' || kind === 'cancelRedeemRequest')
    return { ...common, kind, controller: address(1), id: topic(2), sender: said(0) }
  if (kind === 'cancelDepositClaim' || kind === 'cancelRedeemClaim')
    return {
      ...common,
      kind,
      controller: address(1),
      receiver: address(2),
      id: topic(3),
      sender: said(0),
      amount: word(1),
    }
  return undefined
}
