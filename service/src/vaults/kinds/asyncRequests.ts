import { type Address, encodeFunctionData, erc4626Abi, isAddressEqual, parseAbi } from 'viem'
import { combine, combineAll, mapRead, type Read, readContract } from '../../rpc/multicall.js'
import { failing, type KnownError } from '../../rpc/revert.js'
import { type MakingCall, making } from '../calls.js'
import { type EmittedEvent, emitted } from '../events.js'
import { gasConstants } from '../gasConstants.js'
import type { DepositAsk, RequestAsk, RequestOffer, Requests, Trial, Vault, VaultCall, WithdrawAsk } from '../kind.js'
import { buildDeposit } from './erc4626.js'

/** ERC-7540, both sides. */
export const erc7540Abi = parseAbi([
  'function requestDeposit(uint256 assets, address controller, address owner) returns (uint256 requestId)',
  'function pendingDepositRequest(uint256 requestId, address controller) view returns (uint256 assets)',
  'function claimableDepositRequest(uint256 requestId, address controller) view returns (uint256 assets)',
  'function deposit(uint256 assets, address receiver, address controller) returns (uint256 shares)',
  'function mint(uint256 shares, address receiver, address controller) returns (uint256 assets)',
  'function requestRedeem(uint256 shares, address controller, address owner) returns (uint256 requestId)',
  'function pendingRedeemRequest(uint256 requestId, address controller) view returns (uint256 shares)',
  'function claimableRedeemRequest(uint256 requestId, address controller) view returns (uint256 shares)',
  'function supportsInterface(bytes4 interfaceId) view returns (bool)',
])

export const erc7540Emits: readonly EmittedEvent[] = [
  emitted(
    'event DepositRequest(address indexed controller, address indexed owner, uint256 indexed requestId, address sender, uint256 assets)',
    ({ controller, owner, requestId, sender, assets }) => ({
      kind: 'depositRequest',
      controller,
      owner,
      requestId,
      sender,
      amount: assets,
    }),
  ),
  emitted(
    'event RedeemRequest(address indexed controller, address indexed owner, uint256 indexed requestId, address sender, uint256 shares)',
    ({ controller, owner, requestId, sender, shares }) => ({
      kind: 'redeemRequest',
      controller,
      owner,
      requestId,
      sender,
      amount: shares,
    }),
  ),
]

export const erc7540Calls: readonly MakingCall[] = [
  making(
    'function deposit(uint256 assets, address receiver, address controller)',
    'deposit',
    { assets: 'assets', owner: 'receiver', sender: 'controller' },
    { isClaim: true },
  ),
  making(
    'function mint(uint256 shares, address receiver, address controller)',
    'deposit',
    { shares: 'shares', owner: 'receiver', sender: 'controller' },
    { isClaim: true },
  ),
  making('function requestDeposit(uint256 assets, address controller, address owner)', 'depositRequest', {
    amount: 'assets',
    controller: 'controller',
    owner: 'owner',
  }),
  making('function requestRedeem(uint256 shares, address controller, address owner)', 'redeemRequest', {
    amount: 'shares',
    controller: 'controller',
    owner: 'owner',
  }),
]

/** Errors of vaults that take requests. */
export const erc7540Errors: readonly KnownError[] = [
  failing('error NotOperator(address owner, address caller)', 'only the owner or its operator may do this'),
  failing('error NothingRequested()', 'there is no request of that kind', 'tooSmall'),
  failing(
    'error NotEnoughClaimable(uint256 asked, uint256 claimable)',
    'the settled amount is less than requested',
    'waiting',
  ),
  failing('error RequestsPaused()', 'the vault takes no requests at present', 'closed'),
  failing('error CancellationPending()', 'a cancellation is pending; the vault grants it first'),
  failing('error OnlyVault()', 'only the vault may do this with its shares'),
  failing('error NotAsynchronous()', 'the vault takes no such requests'),
  failing('error NoPreview()', 'the vault tells no price before it settles'),
  failing('error OnlyOneRequestAllowed()', 'an earlier request has to be settled or cancelled first'),
  // Centrifuge, by its vault and its manager.
  failing('error ZeroAmountNotAllowed()', 'the amount is 0', 'tooSmall'),
  failing('error TransferNotAllowed()', 'the share token lets this wallet hold or move nothing', 'closed'),
  failing('error InvalidController()', 'only the controller or its operator may do this'),
  failing('error InvalidOwner()', 'only the owner or its operator may do this'),
  failing('error ExceedsMaxDeposit()', 'the settled amount is less than requested', 'waiting'),
  failing('error ExceedsMaxRedeem()', 'the settled amount is less than requested', 'waiting'),
  failing('error ExceedsDepositLimits()', 'the settled amount is less than requested', 'waiting'),
  failing('error ExceedsRedeemLimits()', 'the settled amount is less than requested', 'waiting'),
  failing('error CancellationIsPending()', 'a cancellation is pending; the vault grants it first'),
  failing('error NoPendingRequest()', 'nothing is pending'),
  failing('error RequestNotFound()', 'there is no request of that kind'),
]

/** `requestDeposit(assets, controller, owner)`: the assets leave now, the shares are claimed once it is settled. */
export function buildRequestDeposit({ vault, wallet, amount }: DepositAsk): VaultCall {
  return {
    to: vault.address,
    data: encodeFunctionData({ abi: erc7540Abi, functionName: 'requestDeposit', args: [amount, wallet, wallet] }),
    value: 0n,
    says: ({ amount, vault, receiver }) =>
      `Request to deposit ${amount} into ${vault}; once it is settled, ${receiver} claims the shares.`,
    gasConstant: gasConstants.request,
    spends: { token: vault.asset, amount },
    gains: undefined,
  }
}

/** `requestRedeem(shares, controller, owner)`: the shares leave now, the assets are claimed once it is settled. */
export function buildRequestRedeem({ vault, wallet, shares }: WithdrawAsk): VaultCall {
  return {
    to: vault.address,
    data: encodeFunctionData({ abi: erc7540Abi, functionName: 'requestRedeem', args: [shares, wallet, wallet] }),
    value: 0n,
    says: ({ amount, vault, out, receiver }) =>
      `Request to redeem ${amount} at ${vault}; once it is settled, ${receiver} claims the ${out}.`,
    gasConstant: gasConstants.request,
    spends: { token: vault.receiptToken, amount: shares },
    gains: undefined,
  }
}

/** How a vault whose redemptions wait is tried: they are asked for. */
export function buildRequestTrial(vault: Vault, wallet: Address, amount: bigint): Trial {
  const ask = { vault, wallet, shares: 0n, tokenOut: vault.asset, slippageBps: 0 }
  return { deposit: buildDeposit({ vault, wallet, amount }), redeem: buildRequestRedeem(ask), sharesAt: 4n }
}

/** `deposit(assets, receiver, controller)`: the shares of a settled deposit go to the wallet. */
export function buildClaimDeposit(vault: Vault, wallet: RequestAsk['wallet'], assets: bigint): VaultCall {
  return {
    to: vault.address,
    data: encodeFunctionData({ abi: erc7540Abi, functionName: 'deposit', args: [assets, wallet, wallet] }),
    value: 0n,
    says: ({ amount, vault, receiver }) =>
      `Claim the shares of ${amount} deposited into ${vault}; they go to ${receiver}.`,
    gasConstant: gasConstants.claim,
    spends: undefined,
    gains: vault.receiptToken,
  }
}

/** `mint(shares, receiver, controller)`: all that is settled, in shares. */
function buildClaimShares(vault: Vault, wallet: RequestAsk['wallet'], shares: bigint): VaultCall {
  const data = encodeFunctionData({ abi: erc7540Abi, functionName: 'mint', args: [shares, wallet, wallet] })
  return { ...buildClaimDeposit(vault, wallet, 0n), data }
}

/** Requests are read by their id and controller; id 0 may stand for all of a controller. */
export const erc7540Requests: Requests = {
  topics: erc7540Emits.map(({ topic }) => topic),
  view: ({ address }, { kind, requestId, controller }) => {
    const side = kind === 'deposit' ? 'Deposit' : 'Redeem'
    const view = (functionName: ViewName) => ({
      target: address,
      data: encodeFunctionData({ abi: erc7540Abi, functionName, args: [requestId, controller] }),
    })
    return { pending: view(`pending${side}Request`), claimable: view(`claimable${side}Request`) }
  },
}
type ViewName = `${'pending' | 'claimable'}${'Deposit' | 'Redeem'}Request`

export type DepositRequestState = { requestId: bigint; pending: bigint; claimable: bigint }

/** Pending and claimable amounts of each request that may be the wallet's. */
export function readDepositRequests(ask: RequestAsk): Read<DepositRequestState[]> {
  const { vault, wallet } = ask
  const ids = ask.requestId === undefined ? ask.requestIds : [ask.requestId]
  const each = ids.map((requestId) =>
    mapRead(
      combine({
        pending: readContract(vault.address, erc7540Abi, 'pendingDepositRequest', [requestId, wallet]),
        claimable: readContract(vault.address, erc7540Abi, 'claimableDepositRequest', [requestId, wallet]),
      }),
      ({ pending, claimable }) => ({ requestId, pending: pending ?? 0n, claimable: claimable ?? 0n }),
    ),
  )
  return combineAll(each)
}

/**
 * Claims everything that is claimable, or what is of the request named. The vault's own sum (`maxDeposit`) decides where
 * no request is named: requests with ids of their own are claimed together. With `byShares` all is claimed in shares where
 * they are another token: vaults that pool several share classes keep what is settled in shares, and tell it in assets
 * rounded down, so that a claim of all assets leaves a unit that can never be claimed.
 */
export function claimSettledDeposits(ask: RequestAsk, { byShares = false } = {}): Read<RequestOffer> {
  const { vault, wallet } = ask
  return mapRead(
    combine({
      requests: readDepositRequests(ask),
      total: readContract(vault.address, erc4626Abi, 'maxDeposit', [wallet]),
      shares: readContract(vault.address, erc4626Abi, 'maxMint', [wallet]),
    }),
    ({ requests, total, shares }): RequestOffer => {
      const first = requests.find((request) => request.claimable > 0n)
      const ofRequests = requests.reduce((sum, request) => sum + request.claimable, 0n)
      const assets = ask.requestId === undefined ? (total ?? ofRequests) : ofRequests
      const inShares = byShares && ask.requestId === undefined && !isAddressEqual(vault.receiptToken, vault.address)
      if (assets > 0n)
        return {
          refusal: undefined,
          call: inShares && shares ? buildClaimShares(vault, wallet, shares) : buildClaimDeposit(vault, wallet, assets),
          requestId: first?.requestId ?? 0n,
          amount: assets,
        }
      if (requests.some((request) => request.pending > 0n))
        return { refusal: 'NOT_CLAIMABLE', why: 'the deposit is still pending; the vault has not settled it yet' }
      return { refusal: 'NOTHING_PENDING', why: 'this wallet has no pending deposit in this vault' }
    },
  )
}
