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
  // Lagoon: at once while its valuation is valid, and cancels of one step.
  depositSync: toEventSelector('DepositSync(address,address,uint256,uint256)'),
  withdrawSync: toEventSelector('WithdrawSync(address,address,address,uint256,uint256)'),
  depositCanceled: toEventSelector('DepositRequestCanceled(uint256,address)'),
  redeemCanceled: toEventSelector('RedeemRequestCanceled(uint256,address,uint256)'),
  // Stakes with a window.
  staked: toEventSelector('Staked(address,address,uint256,uint256)'),
  stakeRedeemed: toEventSelector('Redeem(address,address,uint256,uint256)'),
  // ERC-5115 names the token it took or paid.
  yieldDeposit: toEventSelector('Deposit(address,address,address,uint256,uint256)'),
  yieldRedeem: toEventSelector('Redeem(address,address,address,uint256,uint256)'),
  // Maple: the pool tells of a request, its queue of the id, and of what it processes or gives back.
  redemptionRequested: toEventSelector('RedemptionRequested(address,uint256,uint256)'),
  requestCreated: toEventSelector('RequestCreated(uint128,address,uint256)'),
  requestProcessed: toEventSelector('RequestProcessed(uint128,address,uint256,uint256)'),
  requestDecreased: toEventSelector('RequestDecreased(uint128,uint256)'),
  requestRemoved: toEventSelector('RequestRemoved(uint128)'),
  sharesRemoved: toEventSelector('SharesRemoved(address,uint256)'),
  // Veda: the teller tells of deposits in two forms, the vault of what it pays out, the queue of requests.
  tellerDeposit: toEventSelector('Deposit(uint256,address,address,uint256,uint256,uint256,uint256)'),
  referredDeposit: toEventSelector('Deposit(uint256,address,address,uint256,uint256,uint256,uint256,address)'),
  depositRefunded: toEventSelector('DepositRefunded(uint256,bytes32,address)'),
  exit: toEventSelector('Exit(address,address,uint256,address,uint256)'),
  orderMade: toEventSelector(
    'OnChainWithdrawRequested(bytes32,address,address,uint96,uint128,uint128,uint40,uint24,uint24)',
  ),
  orderCancelled: toEventSelector('OnChainWithdrawCancelled(bytes32,address,uint256)'),
  orderSolved: toEventSelector('OnChainWithdrawSolved(bytes32,address,uint256)'),
  // GPv2 tells of each order it fills.
  trade: toEventSelector('Trade(address,address,address,uint256,uint256,uint256,bytes)'),
  // A forwarder tells whose the accounts of a prefix are.
  ownerRegistered: toEventSelector('OwnerRegistered(bytes19,address)'),
} as const

/** What a cancel gives back that names no amount: all that is pending. */
const everything = 2n ** 256n - 1n

/** A Transfer of a vault's receipt token. */
export function readMove(log: RawLog, vault: DeriveVault): Move | undefined {
  if (log.address !== vault.receiptToken || log.topics[0] !== firstTopics.transfer) return undefined
  const value = BigInt(`0x0${digitsOf(log.data)}`)
  return { logIndex: log.logIndex, from: addressOf(log.topics[1]!), to: addressOf(log.topics[2]!), value }
}

/**
 * What a log of a vault says; only asynchronous kinds tell of requests. `logs`: at least those of its transaction, which the
 * contracts of Maple and Veda are read by.
 */
export function readTold(log: RawLog, vault: DeriveVault, logs: readonly RawLog[]): Told | undefined {
  if (vault.kind === 'maple') return readMaple(log, vault, logs)
  if (vault.kind === 'veda') return readVeda(log, vault, logs)
  if (log.address !== vault.address) return undefined
  const { logIndex } = log
  const common = { logIndex, vaultId: vault.id }
  const address = (index: number) => addressOf(log.topics[index]!)
  const topic = (index: number) => BigInt(log.topics[index]!)
  const word = (index: number) => BigInt(`0x0${slice(digitsOf(log.data), 32 * index, 32 * index + 32)}`)
  const said = (index: number) => addressOf(slice(digitsOf(log.data), 32 * index, 32 * index + 32))
  const kind = Object.entries(firstTopics).find(([, first]) => first === log.topics[0])?.[0]
  if (vault.kind === 'window-stake' || vault.kind === 'erc5115') {
    const [sender, receiver] = [address(1), address(2)]
    const amounts = { assets: word(0), shares: word(1) }
    if (vault.kind === 'window-stake') {
      if (kind === 'staked') return { ...common, kind: 'deposit', sender, owner: receiver, ...amounts }
      if (kind === 'stakeRedeemed') return { ...common, kind: 'withdraw', sender, receiver, owner: sender, ...amounts }
      return undefined
    }
    if (kind === 'yieldDeposit') {
      const other = address(3) === vault.asset ? {} : { ofOtherToken: true as const }
      return { ...common, kind: 'deposit', sender, owner: receiver, ...amounts, ...other }
    }
    if (kind !== 'yieldRedeem') return undefined
    // Here shares stand before what is paid.
    const [shares, assets] = [word(0), word(1)]
    const other = address(3) === vault.asset ? {} : { ofOtherToken: true as const }
    return { ...common, kind: 'withdraw', sender, receiver, owner: sender, assets, shares, ...other }
  }
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
  if (vault.kind === 'lagoon') {
    const parties = { sender: address(1), owner: address(2) }
    if (kind === 'depositSync')
      return { ...common, kind: 'deposit', ...parties, assets: word(0), shares: word(1), atOnce: true }
    if (kind === 'withdrawSync')
      return {
        ...common,
        kind: 'withdraw',
        sender: address(1),
        receiver: address(2),
        owner: address(3),
        assets: word(0),
        shares: word(1),
        atOnce: true,
      }
    if (kind === 'depositCanceled' || kind === 'redeemCanceled') {
      const controller = address(2)
      const cancelled = { ...common, sender: controller, controller, receiver: controller, id: topic(1) }
      if (kind === 'depositCanceled') return { ...cancelled, kind: 'cancelDepositClaim', amount: everything }
      return { ...cancelled, kind: 'cancelRedeemClaim', amount: word(0) }
    }
  }
  if (!(vault.kind === 'lagoon' || vault.kind.startsWith('erc7540'))) return undefined
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
  if (vault.kind === 'lagoon') return undefined
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

/** SEMANTICS §3a, maple: the queue's payout is its wallet's withdrawal; shares the queue sends back unpaid are a cancel. */
function readMaple(log: RawLog, vault: DeriveVault, logs: readonly RawLog[]): Told | undefined {
  const { queue } = vault.contracts!
  const common = { logIndex: log.logIndex, vaultId: vault.id }
  const address = (index: number) => addressOf(log.topics[index]!)
  const word = (index: number) => BigInt(`0x0${slice(digitsOf(log.data), 32 * index, 32 * index + 32)}`)
  const own = logs.filter(({ transactionHash }) => transactionHash === log.transactionHash)
  const earlier = own.filter((each) => each.logIndex < log.logIndex).toReversed()
  const [first] = log.topics
  if (log.address === vault.address) {
    if (first === firstTopics.deposit)
      return { ...common, kind: 'deposit', sender: address(1), owner: address(2), assets: word(0), shares: word(1) }
    if (first === firstTopics.withdraw) {
      const [sender, receiver, named] = [address(1), address(2), address(3)]
      const owner = named === queue ? receiver : named
      return { ...common, kind: 'withdraw', sender, receiver, owner, assets: word(0), shares: word(1) }
    }
    if (first !== firstTopics.redemptionRequested) return undefined
    const owner = address(1)
    const created = earlier.find(
      ({ address: by, topics }) =>
        by === queue && topics[0] === firstTopics.requestCreated && addressOf(topics[2]!) === owner,
    )
    const parties = { sender: owner, owner, controller: owner }
    return created && { ...common, kind: 'redeemRequest', ...parties, id: BigInt(created.topics[1]!), amount: word(1) }
  }
  const isLess = first === firstTopics.requestDecreased || first === firstTopics.requestRemoved
  if (log.address !== queue || !isLess) return undefined
  const id = BigInt(log.topics[1]!)
  const last = earlier.find(({ address: by }) => by === queue)
  if (last?.topics[0] === firstTopics.requestProcessed && BigInt(last.topics[1]!) === id) return undefined
  const later = own.filter((each) => each.logIndex > log.logIndex).flatMap((each) => readMove(each, vault) ?? [])
  const back = later.find(({ from }) => from === queue)
  if (!back) return undefined
  const { to, value: amount } = back
  return { ...common, kind: 'cancelRedeemClaim', sender: to, receiver: to, controller: to, id, amount }
}

/** SEMANTICS §3a, veda: a deposit is one at once, what is given back is its withdrawal; an order is a request, solved its claim. */
function readVeda(log: RawLog, vault: DeriveVault, logs: readonly RawLog[]): Told | undefined {
  const { teller, queue } = vault.contracts!
  const common = { logIndex: log.logIndex, vaultId: vault.id }
  const address = (index: number) => addressOf(log.topics[index]!)
  const topic = (index: number) => BigInt(log.topics[index]!)
  const wordOf = (of: RawLog, index: number) => BigInt(`0x0${slice(digitsOf(of.data), 32 * index, 32 * index + 32)}`)
  const word = (index: number) => wordOf(log, index)
  const own = logs.filter(({ transactionHash }) => transactionHash === log.transactionHash)
  const earlier = own.filter((each) => each.logIndex < log.logIndex).toReversed()
  const later = own.filter((each) => each.logIndex > log.logIndex)
  const other = (token: string) => (token === vault.asset ? {} : { ofOtherToken: true as const })
  const [first] = log.topics
  if (log.address === teller && (first === firstTopics.tellerDeposit || first === firstTopics.referredDeposit)) {
    // The newer form has the number among the words.
    const [at, nonce] = first === firstTopics.tellerDeposit ? [2, topic(1)] : [1, word(0)]
    const from = at === 2 ? 0 : 1
    const [owner, lock] = [address(at), word(from + 3)]
    const amounts = { assets: word(from), shares: word(from + 1), ...other(address(at + 1)) }
    const refundable = lock > 0n ? { refundable: { nonce, until: word(from + 2) + lock } } : {}
    return { ...common, kind: 'deposit', sender: owner, owner, ...amounts, ...refundable }
  }
  if (log.address === teller && first === firstTopics.depositRefunded) {
    const user = address(2)
    const exit = earlier.find(
      ({ address: by, topics }) =>
        by === vault.address && topics[0] === firstTopics.exit && addressOf(topics[3]!) === user,
    )
    if (!exit) return undefined
    const amounts = { assets: wordOf(exit, 0), shares: wordOf(exit, 1), ...other(addressOf(exit.topics[2]!)) }
    const parties = { sender: user, receiver: user, owner: user }
    return { ...common, kind: 'withdraw', ...parties, ...amounts, atOnce: true, refunds: topic(1) }
  }
  if (log.address !== queue) return undefined
  const isOf = (each: RawLog | undefined, what: string) =>
    each?.address === queue && each.topics[0] === what && addressOf(each.topics[2]!) === address(2)
  const user = address(2)
  if (first === firstTopics.orderMade) {
    const promised = address(3) === vault.asset ? { promised: word(2) } : {}
    const replaces = isOf(earlier[0], firstTopics.orderCancelled) ? { replaces: BigInt(earlier[0]!.topics[1]!) } : {}
    const parties = { sender: user, owner: user, controller: user, id: topic(1) }
    return { ...common, kind: 'redeemRequest', ...parties, amount: word(1), ...promised, ...replaces }
  }
  if (first === firstTopics.orderSolved) {
    const parties = { sender: user, receiver: user, owner: user }
    return { ...common, kind: 'withdraw', ...parties, assets: 0n, shares: 0n, pays: topic(1) }
  }
  // One that is replaced keeps its shares in the queue: its new form says so.
  if (first !== firstTopics.orderCancelled || isOf(later[0], firstTopics.orderMade)) return undefined
  const back = earlier
    .flatMap((each) => readMove(each, vault) ?? [])
    .find(({ from, to }) => from === queue && to === user)
  if (!back) return undefined
  const parties = { sender: user, receiver: user, controller: user, id: topic(1) }
  return { ...common, kind: 'cancelRedeemClaim', ...parties, amount: back.value }
}
