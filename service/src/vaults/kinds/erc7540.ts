import { encodeFunctionData, erc20Abi, erc4626Abi, parseAbi } from 'viem'
import { combine, combineAll, mapRead, type Read, readContract } from '../../rpc/multicall.js'
import { type MakingCall, making } from '../calls.js'
import { type EmittedEvent, emitted } from '../events.js'
import type {
  DepositAsk,
  Offer,
  PlannedKind,
  RequestAsk,
  RequestOffer,
  Vault,
  VaultCall,
  WithdrawAsk,
  WithdrawOffer,
} from '../kind.js'
import { sayCancelDeposit } from '../sentences.js'
import {
  buildRequestDeposit,
  buildRequestRedeem,
  buildRequestTrial,
  claimSettledDeposits,
  erc7540Abi,
  erc7540Calls,
  erc7540Emits,
  erc7540Errors,
  erc7540Requests,
  readDepositRequests,
} from './asyncRequests.js'
import {
  askErc4626,
  buildRedeem,
  buildTrial,
  decideClosed,
  decideMismatch,
  erc4626,
  erc4626Calls,
  erc4626Emits,
  interfaceIds,
  readErc4626Figures,
  readIdentity,
} from './erc4626.js'

const erc7887Abi = parseAbi([
  'function cancelDepositRequest(uint256 requestId, address controller)',
  'function pendingCancelDepositRequest(uint256 requestId, address controller) view returns (bool)',
  'function claimableCancelDepositRequest(uint256 requestId, address controller) view returns (uint256 assets)',
  'function claimCancelDepositRequest(uint256 requestId, address receiver, address controller)',
])

const erc7887Emits: readonly EmittedEvent[] = [
  emitted(
    'event CancelDepositRequest(address indexed controller, uint256 indexed requestId, address sender)',
    ({ controller, requestId, sender }) => ({ kind: 'cancelDepositRequest', controller, requestId, sender }),
  ),
  emitted(
    'event CancelDepositClaim(address indexed controller, address indexed receiver, uint256 indexed requestId, address sender, uint256 assets)',
    ({ controller, receiver, requestId, sender, assets }) => ({
      kind: 'cancelDepositClaim',
      controller,
      receiver,
      requestId,
      sender,
      amount: assets,
    }),
  ),
  emitted(
    'event CancelRedeemRequest(address indexed controller, uint256 indexed requestId, address sender)',
    ({ controller, requestId, sender }) => ({ kind: 'cancelRedeemRequest', controller, requestId, sender }),
  ),
  emitted(
    'event CancelRedeemClaim(address indexed controller, address indexed receiver, uint256 indexed requestId, address sender, uint256 shares)',
    ({ controller, receiver, requestId, sender, shares }) => ({
      kind: 'cancelRedeemClaim',
      controller,
      receiver,
      requestId,
      sender,
      amount: shares,
    }),
  ),
]

const erc7887Calls: readonly MakingCall[] = [
  making('function cancelDepositRequest(uint256 requestId, address controller)', 'cancelDepositRequest', {}),
  making('function cancelRedeemRequest(uint256 requestId, address controller)', 'cancelRedeemRequest', {}),
  making(
    'function claimCancelDepositRequest(uint256 requestId, address receiver, address controller)',
    'cancelDepositClaim',
    {},
  ),
  making(
    'function claimCancelRedeemRequest(uint256 requestId, address receiver, address controller)',
    'cancelRedeemClaim',
    {},
  ),
]

const cancelGas = 300_000n

/** Both sides are asynchronous. */
export const erc7540 = defineErc7540({ name: 'erc7540', asyncDeposit: true, asyncRedeem: true })
/** Deposits are requested; redemptions complete at once. */
export const erc7540Deposit = defineErc7540({ name: 'erc7540-deposit', asyncDeposit: true, asyncRedeem: false })
/** Redemptions are requested; deposits complete at once. */
export const erc7540Redeem = defineErc7540({ name: 'erc7540-redeem', asyncDeposit: false, asyncRedeem: true })

/**
 * Vaults of ERC-7540. Which sides are asynchronous is configuration, because old events must be read without asking; it
 * is compared with what the vault says by ERC-165 before anything is built. Whether ERC-7887 cancels a pending deposit is
 * asked by ERC-165 too: never guessed from a selector, which other vaults use with other meanings.
 */
function defineErc7540(sides: Pick<PlannedKind, 'name' | 'asyncDeposit' | 'asyncRedeem'>): PlannedKind {
  const { asyncDeposit, asyncRedeem } = sides
  const sync = erc4626.plans
  return {
    ...sides,
    summary: 'ERC-7540: deposits, redemptions or both are requested, settled by the vault, then claimed.',
    requests: erc7540Requests,
    emits: [...erc4626Emits, ...erc7540Emits, ...erc7887Emits],
    calls: [...erc4626Calls, ...erc7540Calls, ...erc7887Calls],
    errors: erc7540Errors,
    plans: {
      spender: (vault) => vault.address,
      deposit: (ask) => (asyncDeposit ? requestDeposit(ask) : stillSync(ask.vault, 'asyncDeposit', sync.deposit(ask))),
      withdraw: (ask) => (asyncRedeem ? withdrawAsync(ask) : stillSync(ask.vault, 'asyncRedeem', sync.withdraw(ask))),
      trial: asyncRedeem ? buildRequestTrial : buildTrial,
      ...(asyncDeposit ? { claimDeposit: claimAll, cancelDeposit: cancelPendingDeposit } : {}),
    },
    readFigures: readErc4626Figures,
    recognise: (address) =>
      mapRead(askErc4626(address), ({ found, ...said }) =>
        found && said.asyncDeposit === asyncDeposit && said.asyncRedeem === asyncRedeem ? found : undefined,
      ),
  }
}

function claimAll(ask: RequestAsk): Read<RequestOffer> {
  return claimSettledDeposits(ask, { byShares: true })
}

function requestDeposit(ask: DepositAsk): Read<Offer> {
  return mapRead(readAsyncIdentity(ask.vault, 'asyncDeposit'), (identity) => ({
    ...identity,
    max: undefined,
    quoted: undefined,
    call: buildRequestDeposit(ask),
  }))
}

function withdrawAsync(ask: WithdrawAsk): Read<WithdrawOffer> {
  return mapRead(
    combine({ identity: readAsyncIdentity(ask.vault, 'asyncRedeem'), redemption: readRedemption(ask) }),
    ({ identity, redemption }) => ({ ...redemption, ...identity }),
  )
}

type Side = 'asyncDeposit' | 'asyncRedeem'

/** Whether the vault is there, and as asynchronous as it is listed; one that does not know ERC-165 is believed. */
function readAsyncIdentity(vault: Vault, side: Side): Read<Pick<Offer, 'closed' | 'mismatch'>> {
  return mapRead(
    combine({ ...readIdentity(vault), asynchronous: supports(vault, interfaceIds[side]) }),
    ({ code, asset, asynchronous }) => ({
      closed: decideClosed(code.codeLength),
      mismatch: asynchronous === false ? 'the vault says it takes no such requests' : decideMismatch(vault, asset),
    }),
  )
}

function stillSync<T extends Offer>(vault: Vault, side: Side, offer: Read<T>): Read<T> {
  return mapRead(combine({ offer, asynchronous: supports(vault, interfaceIds[side]) }), ({ offer, asynchronous }) =>
    asynchronous === true ? { ...offer, mismatch: 'the vault wants requests where it is listed without' } : offer,
  )
}

function cancelPendingDeposit(ask: RequestAsk): Read<RequestOffer> {
  return mapRead(
    combine({
      supported: supports(ask.vault, interfaceIds.cancelDeposit),
      requests: readDepositRequests(ask),
      cancellations: readCancellations(ask),
    }),
    ({ supported, requests, cancellations }): RequestOffer => {
      if (supported !== true) return { refusal: 'NOTHING_PENDING', why: 'deposits of this vault cannot be cancelled' }
      const pending = requests.find((request) => request.pending > 0n)
      if (pending) return offerCancel(ask, pending.requestId, pending.pending)
      const granted = cancellations.find((cancellation) => cancellation.claimable > 0n)
      if (granted) return offerCancelClaim(ask, granted.requestId, granted.claimable)
      if (cancellations.some((cancellation) => cancellation.pending))
        return { refusal: 'NOT_CLAIMABLE', why: 'the cancellation waits for the vault; claim it once it is granted' }
      if (requests.some((request) => request.claimable > 0n))
        return { refusal: 'NOTHING_PENDING', why: 'the deposit is settled already; it can be claimed, not cancelled' }
      return { refusal: 'NOTHING_PENDING', why: 'this wallet has no pending deposit in this vault' }
    },
  )
}

/** Whether the vault says that it has an interface; undefined when it does not answer. */
export function supports(vault: Vault, interfaceId: `0x${string}`): Read<boolean | undefined> {
  return readContract(vault.address, erc7540Abi, 'supportsInterface', [interfaceId])
}

/**
 * The asynchronous way out: claim settled redemptions where they suffice, else request a new one. `maxRedeem` of such a
 * vault is what can be claimed.
 */
export function readRedemption(ask: WithdrawAsk): Read<WithdrawOffer> {
  const { vault, wallet, shares } = ask
  const pendings = (ask.requestIds ?? [0n]).map((id) =>
    readContract(vault.address, erc7540Abi, 'pendingRedeemRequest', [id, wallet]),
  )
  return mapRead(
    combine({
      claimable: readContract(vault.address, erc4626Abi, 'maxRedeem', [wallet]),
      held: readContract(vault.receiptToken, erc4626Abi, 'balanceOf', [wallet]),
      assets: readContract(vault.address, erc4626Abi, 'convertToAssets', [shares]),
      allowance: readContract(vault.receiptToken, erc20Abi, 'allowance', [wallet, vault.address]),
      pendings: combineAll(pendings),
    }),
    ({ claimable, held, assets, allowance, pendings }) => {
      const pending = pendings.reduce<bigint>((most, each) => (each !== undefined && each > most ? each : most), 0n)
      const awaited = pending > 0n ? pending + (claimable ?? 0n) : 0n
      const open = { closed: undefined, mismatch: undefined, max: undefined, quoted: undefined, assets, awaited }
      return claimable !== undefined && claimable >= shares
        ? { ...open, available: claimable, call: buildClaimRedeem(ask) }
        : { ...open, available: held, ...requestRedemption(ask, allowance) }
    },
  )
}

/** The same call as a redemption; it pays what a request has settled, and takes no more shares. */
function buildClaimRedeem(ask: WithdrawAsk): VaultCall {
  return {
    ...buildRedeem(ask),
    says: ({ amount, vault, out, receiver }) =>
      `Claim the ${out} of ${amount} redeemed at ${vault}; it goes to ${receiver}.`,
    spends: undefined,
  }
}

/**
 * ERC-7540 lets an owner request without an approval. Vaults that pull the shares by allowance all the same, as many do
 * whose share is another token (ERC-7575), get an approval of exactly the shares, once the bare request was seen to revert.
 */
function requestRedemption(ask: WithdrawAsk, allowance: bigint | undefined): Pick<WithdrawOffer, 'call' | 'instead'> {
  const { vault, shares } = ask
  const call = buildRequestRedeem(ask)
  if (allowance === undefined || allowance >= shares) return { call }
  const pulls = { token: vault.receiptToken, spender: vault.address, amount: shares, allowance }
  return { call, instead: { call, pulls } }
}

type CancellationState = { requestId: bigint; pending: boolean; claimable: bigint }

function readCancellations({ vault, wallet, ...ask }: RequestAsk): Read<CancellationState[]> {
  const ids = ask.requestId === undefined ? ask.requestIds : [ask.requestId]
  return combineAll(
    ids.map((requestId) =>
      mapRead(
        combine({
          pending: readContract(vault.address, erc7887Abi, 'pendingCancelDepositRequest', [requestId, wallet]),
          claimable: readContract(vault.address, erc7887Abi, 'claimableCancelDepositRequest', [requestId, wallet]),
        }),
        ({ pending, claimable }) => ({ requestId, pending: pending ?? false, claimable: claimable ?? 0n }),
      ),
    ),
  )
}

function offerCancel({ vault, wallet }: RequestAsk, requestId: bigint, assets: bigint): RequestOffer {
  const data = encodeFunctionData({
    abi: erc7887Abi,
    functionName: 'cancelDepositRequest',
    args: [requestId, wallet],
  })
  const call: VaultCall = {
    to: vault.address,
    data,
    value: 0n,
    says: sayCancelDeposit,
    gasConstant: cancelGas,
    spends: undefined,
    // Some vaults grant a cancellation at once, but it is still claimed by a call of its own.
    gains: undefined,
  }
  return { refusal: undefined, call, requestId, amount: assets }
}

function offerCancelClaim({ vault, wallet }: RequestAsk, requestId: bigint, assets: bigint): RequestOffer {
  const data = encodeFunctionData({
    abi: erc7887Abi,
    functionName: 'claimCancelDepositRequest',
    args: [requestId, wallet, wallet],
  })
  const call: VaultCall = {
    to: vault.address,
    data,
    value: 0n,
    says: ({ amount, vault, receiver }) =>
      `Take back ${amount} of the cancelled deposit in ${vault}; it goes to ${receiver}.`,
    gasConstant: cancelGas,
    spends: undefined,
    gains: vault.asset,
  }
  return { refusal: undefined, call, requestId, amount: assets }
}
