import {
  type Address,
  encodeAbiParameters,
  encodeFunctionData,
  erc4626Abi,
  isAddressEqual,
  parseAbi,
  stringToHex,
  zeroAddress,
} from 'viem'
import { combine, combineAll, mapRead, type Read, readContract } from '../../rpc/multicall.js'
import { gasConstants } from '../gasConstants.js'
import {
  type DepositAsk,
  getContract,
  type Offer,
  type PlannedKind,
  type Recognised,
  type RequestAsk,
  type RequestOffer,
  type Requests,
  type Vault,
  type VaultCall,
  type WithdrawAsk,
  type WithdrawOffer,
} from '../kind.js'
import {
  askErc4626,
  buildDeposit,
  buildRedeem,
  decideClosed,
  decideMismatch,
  readErc4626Figures,
  readIdentity,
} from './erc4626.js'
import { erc4626Errors } from './erc4626Errors.js'
import { mapleErrors } from './mapleErrors.js'
import { mapleBeside, mapleCalls, mapleEmits, mapleRequestTopics } from './mapleEvents.js'

const poolAbi = parseAbi([
  'function manager() view returns (address)',
  'function convertToExitAssets(uint256 shares) view returns (uint256)',
  'function requestRedeem(uint256 shares, address owner) returns (uint256)',
  'function removeShares(uint256 shares, address owner) returns (uint256)',
])
const managerAbi = parseAbi([
  'function pool() view returns (address)',
  'function withdrawalManager() view returns (address)',
  'function canCall(bytes32 functionId, address caller, bytes data) view returns (bool, string)',
])
const queueAbi = parseAbi([
  'function requests(uint128 requestId) view returns (address owner, uint256 shares)',
  'function requestIds(address owner) view returns (uint128)',
  'function manualSharesAvailable(address owner) view returns (uint256)',
])

/**
 * A request is read at the queue: the shares that wait in it, and those it has processed for an owner who redeems by hand,
 * which are one sum of all requests of the owner.
 */
const requests: Requests = {
  topics: mapleRequestTopics,
  view: ({ contracts }, { requestId, controller }) => {
    const target = contracts?.['queue'] ?? zeroAddress
    const request = encodeFunctionData({ abi: queueAbi, functionName: 'requests', args: [requestId] })
    const processed = encodeFunctionData({ abi: queueAbi, functionName: 'manualSharesAvailable', args: [controller] })
    return {
      pending: { target, data: request, word: { at: 1, of: 2 } },
      claimable: { target, data: processed },
    }
  },
}

/**
 * Pools of Maple (syrupUSDC, syrupUSDT): ERC-4626 on the way in, for wallets that Maple has authorised. On the way out shares are
 * requested and wait in a queue, one request of a wallet at a time. When the pool's delegate processes a request, in parts if
 * it is large, the assets are paid without a call of the wallet; a wallet that Maple has set to redeem by hand calls
 * `redeem` then. The wallet may take back what still waits, and the delegate may give it back.
 */
export const maple: PlannedKind = {
  name: 'maple',
  summary: 'Pools of Maple: shares are requested from a queue, which pays their owner when it is processed.',
  asyncDeposit: false,
  asyncRedeem: true,
  cancels: 'redeem',
  requests,
  emits: mapleEmits,
  calls: mapleCalls,
  beside: mapleBeside,
  errors: [...mapleErrors, ...erc4626Errors],
  // Its deposits are not tried: it takes those of authorised wallets alone, and each wallet is told by its own plan.
  plans: { spender: (vault) => vault.address, deposit, withdraw, cancelDeposit: cancelRequest },
  readFigures: readErc4626Figures,
  recognise,
}

type Allowed = readonly [boolean, string] | undefined

/** Whether the pool takes a call with two or three words of arguments, of this wallet. */
function readAllowed(vault: Vault, wallet: Address, name: string, args: readonly (bigint | Address)[]): Read<Allowed> {
  const words = args.map((each) => ({ type: typeof each === 'bigint' ? 'uint256' : 'address' }))
  const what = stringToHex(`P:${name}`, { size: 32 })
  return readContract(getContract(vault, 'manager'), managerAbi, 'canCall', [
    what,
    wallet,
    encodeAbiParameters(words, args),
  ])
}

const notAuthorised =
  'the pool deals with wallets that Maple has authorised, and this is not one of them: the first deposit goes through its own page, with an authorisation that Maple signs'

/** Why a wallet is not dealt with at all; what else the manager has against a call its simulation says. */
function decideRefused(allowed: Allowed, isOut: boolean): Offer['refused'] {
  if (!allowed || allowed[0]) return undefined
  if (allowed[1] === 'PM:CC:NOT_ALLOWED') return { reason: 'WALLET_NOT_ALLOWED', why: notAuthorised }
  if (isOut && allowed[1] === 'PM:CC:PAUSED')
    return { reason: 'QUEUE_PAUSED', why: 'the pool is paused: nothing enters or leaves its queue' }
  return undefined
}

function deposit(ask: DepositAsk): Read<Offer> {
  const { vault, wallet, amount } = ask
  return mapRead(
    combine({
      ...readIdentity(vault),
      max: readContract(vault.address, erc4626Abi, 'maxDeposit', [wallet]),
      quoted: readContract(vault.address, erc4626Abi, 'previewDeposit', [amount]),
      allowed: readAllowed(vault, wallet, 'deposit', [amount, wallet]),
    }),
    ({ code, asset, max, quoted, allowed }) => {
      const refused = decideRefused(allowed, false)
      return {
        closed: decideClosed(code.codeLength),
        ...(refused ? { refused } : {}),
        ...{ mismatch: decideMismatch(vault, asset), max, quoted, call: buildDeposit(ask) },
      }
    },
  )
}

/** The request of a wallet that waits in the queue, among the ids it may have, and whether the queue knows an open one at all. */
function readWaiting({ vault, wallet, requestIds = [] }: Pick<WithdrawAsk, 'vault' | 'wallet' | 'requestIds'>) {
  const queue = getContract(vault, 'queue')
  const each = requestIds.map((id) =>
    mapRead(readContract(queue, queueAbi, 'requests', [id]), (told) => {
      const [owner, shares] = told ?? []
      const isOwn = owner !== undefined && isAddressEqual(owner, wallet)
      return { id, shares: isOwn ? (shares ?? 0n) : 0n }
    }),
  )
  return mapRead(
    combine({ all: combineAll(each), open: readContract(queue, queueAbi, 'requestIds', [wallet]) }),
    ({ all, open }) => ({ waits: all.find(({ shares }) => shares > 0n), isOpen: open !== undefined && open > 0n }),
  )
}

function withdraw(ask: WithdrawAsk): Read<WithdrawOffer> {
  const { vault, wallet, shares } = ask
  return mapRead(
    combine({
      ...readIdentity(vault),
      held: readContract(vault.receiptToken, erc4626Abi, 'balanceOf', [wallet]),
      assets: readContract(vault.address, poolAbi, 'convertToExitAssets', [shares]),
      processed: readContract(getContract(vault, 'queue'), queueAbi, 'manualSharesAvailable', [wallet]),
      waiting: readWaiting(ask),
      mayRequest: readAllowed(vault, wallet, 'requestRedeem', [shares, wallet]),
      mayRedeem: readAllowed(vault, wallet, 'redeem', [shares, wallet, wallet]),
    }),
    ({ code, asset, held, assets, processed = 0n, waiting, mayRequest, mayRedeem }) => {
      const isClaim = processed >= shares
      const refused = decideRefused(isClaim ? mayRedeem : mayRequest, true)
      const busy = !isClaim && waiting.isOpen && (held ?? 0n) >= shares ? oneAtATime : undefined
      const refusal = refused ?? busy
      const pending = waiting.waits?.shares ?? 0n
      return {
        closed: decideClosed(code.codeLength),
        ...(refusal ? { refused: refusal } : {}),
        ...{ mismatch: decideMismatch(vault, asset), max: undefined, quoted: undefined, assets },
        awaited: pending > 0n ? pending + processed : 0n,
        ...(isClaim ? { available: processed, call: buildClaim(ask) } : { available: held, call: buildRequest(ask) }),
      }
    },
  )
}

const oneAtATime = {
  reason: 'NOT_CLAIMABLE',
  why: 'the queue takes one request of a wallet at a time: an earlier one waits there, until it is processed or cancelled',
} as const

/** `requestRedeem(shares, owner)`: the shares leave now, the queue pays the wallet once it has processed them. */
function buildRequest({ vault, wallet, shares }: WithdrawAsk): VaultCall {
  return {
    to: vault.address,
    data: encodeFunctionData({ abi: poolAbi, functionName: 'requestRedeem', args: [shares, wallet] }),
    value: 0n,
    says: ({ amount, vault, out, receiver }) =>
      `Request to redeem ${amount} at ${vault}; once its queue has processed it, the ${out} goes to ${receiver}.`,
    gasConstant: gasConstants.request,
    spends: { token: vault.receiptToken, amount: shares },
    gains: undefined,
  }
}

/** The call of a redemption; it pays what was processed, and takes no more shares. */
function buildClaim(ask: WithdrawAsk): VaultCall {
  return {
    ...buildRedeem(ask),
    says: ({ amount, vault, out, receiver }) =>
      `Claim the ${out} of ${amount} redeemed at ${vault}; it goes to ${receiver}.`,
    spends: undefined,
  }
}

/** Takes back all that waits of the wallet's request; what was processed of it is paid. */
function cancelRequest(ask: RequestAsk): Read<RequestOffer> {
  const { vault, wallet, requestId } = ask
  return mapRead(
    combine({
      waiting: readWaiting(ask),
      allowed: readAllowed(vault, wallet, 'removeShares', [1n, wallet]),
    }),
    ({ waiting: { waits, isOpen }, allowed }): RequestOffer => {
      const refused = decideRefused(allowed, true)
      if (refused && isOpen) return { refusal: refused.reason, why: refused.why }
      if (waits && (requestId === undefined || requestId === waits.id))
        return { refusal: undefined, call: buildCancel(ask, waits.shares), requestId: waits.id, amount: waits.shares }
      if (isOpen && !waits)
        return { refusal: 'NOT_CLAIMABLE', why: 'a request of this wallet waits, and was not seen here yet: ask again' }
      return { refusal: 'NOTHING_PENDING', why: 'this wallet has no such request in the queue of this vault' }
    },
  )
}

function buildCancel({ vault, wallet }: RequestAsk, shares: bigint): VaultCall {
  return {
    to: vault.address,
    data: encodeFunctionData({ abi: poolAbi, functionName: 'removeShares', args: [shares, wallet] }),
    value: 0n,
    says: ({ amount, vault, receiver }) =>
      `Take back ${amount} that wait for their redemption at ${vault}; they go to ${receiver}.`,
    gasConstant: gasConstants.claim,
    spends: undefined,
    gains: vault.receiptToken,
  }
}

/** A pool names its manager; the manager names the pool again, and a queue that knows requests by their owner. */
function recognise(address: Address): Read<Recognised | undefined> {
  return mapRead(
    combine({ said: askErc4626(address), manager: readContract(address, poolAbi, 'manager', []) }),
    ({ said: { found }, manager }) =>
      found && manager !== undefined ? { ...found, next: askManager(address, found, manager) } : undefined,
  )
}

function askManager(address: Address, found: Recognised, manager: Address): Read<Recognised | undefined> {
  return mapRead(
    combine({
      pool: readContract(manager, managerAbi, 'pool', []),
      queue: readContract(manager, managerAbi, 'withdrawalManager', []),
    }),
    ({ pool, queue }) =>
      queue !== undefined && pool !== undefined && isAddressEqual(pool, address)
        ? { ...found, next: askQueue(found, { queue, manager }) }
        : undefined,
  )
}

/** Older pools of Maple have a manager of withdrawals that is no queue. */
function askQueue(found: Recognised, contracts: { queue: Address; manager: Address }): Read<Recognised | undefined> {
  return mapRead(
    combine({
      open: readContract(contracts.queue, queueAbi, 'requestIds', [contracts.queue]),
      processed: readContract(contracts.queue, queueAbi, 'manualSharesAvailable', [contracts.queue]),
    }),
    ({ open, processed }) =>
      open === undefined || processed === undefined ? undefined : { ...found, contracts, notes },
  )
}

const notes = [
  'a pool of Maple: it takes deposits of wallets that Maple has authorised, and redemptions wait in its queue, so neither is tried here; name its SyrupRouter as vault.contracts.router',
]
