import { encodeFunctionData, erc4626Abi, parseAbi } from 'viem'
import { combine, combineAll, mapRead, type Read, readContract } from '../../rpc/multicall.js'
import { type MakingCall, making } from '../calls.js'
import { type EmittedEvent, emitted } from '../events.js'
import type { DepositAsk, RequestAsk, RequestOffer, Vault, VaultCall, WithdrawAsk } from '../kind.js'

/** ERC-7540, both sides. */
export const erc7540Abi = parseAbi([
  'function requestDeposit(uint256 assets, address controller, address owner) returns (uint256 requestId)',
  'function pendingDepositRequest(uint256 requestId, address controller) view returns (uint256 assets)',
  'function claimableDepositRequest(uint256 requestId, address controller) view returns (uint256 assets)',
  'function deposit(uint256 assets, address receiver, address controller) returns (uint256 shares)',
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

const gasConstants = { request: 400_000n, claim: 500_000n }

/** `requestDeposit(assets, controller, owner)`: the assets leave now, the shares are claimed once it is settled. */
export function buildRequestDeposit({ vault, wallet, amount }: DepositAsk): VaultCall {
  return {
    to: vault.address,
    data: encodeFunctionData({ abi: erc7540Abi, functionName: 'requestDeposit', args: [amount, wallet, wallet] }),
    value: 0n,
    verb: 'requestDeposit',
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
    verb: 'requestRedeem',
    gasConstant: gasConstants.request,
    spends: { token: vault.receiptToken, amount: shares },
    gains: undefined,
  }
}

/** `deposit(assets, receiver, controller)`: the shares of a settled deposit go to the wallet. */
export function buildClaimDeposit(vault: Vault, wallet: RequestAsk['wallet'], assets: bigint): VaultCall {
  return {
    to: vault.address,
    data: encodeFunctionData({ abi: erc7540Abi, functionName: 'deposit', args: [assets, wallet, wallet] }),
    value: 0n,
    verb: 'claimDeposit',
    gasConstant: gasConstants.claim,
    spends: undefined,
    gains: vault.receiptToken,
  }
}

export type DepositRequestState = { requestId: bigint; pending: bigint; claimable: bigint }

/** What is pending and what can be claimed of each request that may be the wallet's. */
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
 * no request is named: requests with ids of their own are claimed together.
 */
export function claimSettledDeposits(ask: RequestAsk): Read<RequestOffer> {
  const { vault, wallet } = ask
  return mapRead(
    combine({
      requests: readDepositRequests(ask),
      total: readContract(vault.address, erc4626Abi, 'maxDeposit', [wallet]),
    }),
    ({ requests, total }): RequestOffer => {
      const first = requests.find((request) => request.claimable > 0n)
      const ofRequests = requests.reduce((sum, request) => sum + request.claimable, 0n)
      const assets = ask.requestId === undefined ? (total ?? ofRequests) : ofRequests
      if (assets > 0n)
        return {
          refusal: undefined,
          call: buildClaimDeposit(vault, wallet, assets),
          requestId: first?.requestId ?? 0n,
          assets,
        }
      if (requests.some((request) => request.pending > 0n))
        return { refusal: 'NOT_CLAIMABLE', why: 'the deposit is still pending; the vault has not settled it yet' }
      return { refusal: 'NOTHING_PENDING', why: 'this wallet has no pending deposit in this vault' }
    },
  )
}
