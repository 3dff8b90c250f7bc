import { encodeFunctionData, erc4626Abi, parseAbi } from 'viem'
import { type Question, reading, together, view } from '../chain/question.js'
import {
  buildRequestDeposit,
  buildRequestRedeem,
  claimSettledDeposits,
  erc7540Abi,
  erc7540Events,
  inOrder,
  readDepositRequests,
} from './asyncRequests.js'
import {
  buildDeposit,
  buildRedeem,
  decideClosed,
  decideMismatch,
  erc4626,
  erc4626Events,
  readIdentity,
} from './erc4626.js'
import type { RequestAsk, RequestOffer, Vault, VaultCall, VaultKind, WithdrawAsk, WithdrawOffer } from './kind.js'

/** ERC-165 ids: which sides of a vault are asynchronous, and whether a pending deposit can be cancelled. */
export const interfaceIds = {
  asyncDeposit: '0xce3bbe50',
  asyncRedeem: '0x620ee8e4',
  cancelDeposit: '0x8bf840e3',
} as const

const erc7887Abi = parseAbi([
  'function cancelDepositRequest(uint256 requestId, address controller)',
  'function pendingCancelDepositRequest(uint256 requestId, address controller) view returns (bool)',
  'function claimableCancelDepositRequest(uint256 requestId, address controller) view returns (uint256 assets)',
  'function claimCancelDepositRequest(uint256 requestId, address receiver, address controller)',
])

const erc7887Events = parseAbi([
  'event CancelDepositRequest(address indexed controller, uint256 indexed requestId, address sender)',
  'event CancelDepositClaim(address indexed controller, address indexed receiver, uint256 indexed requestId, address sender, uint256 assets)',
])

const cancelGas = 300_000n

/**
 * Vaults of ERC-7540. Which sides are asynchronous, and whether ERC-7887 cancels a pending deposit, is asked by ERC-165
 * every time: never guessed from a selector, which other vaults use with other meanings.
 */
export const erc7540: VaultKind = {
  name: 'erc7540',
  summary: 'ERC-7540: deposits, redemptions or both are requested, settled by the vault, then claimed.',
  events: [...erc4626Events, ...erc7540Events, ...erc7887Events],
  errors: parseAbi([
    'error NotOperator(address owner, address caller)',
    'error NothingRequested()',
    'error NotEnoughClaimable(uint256 asked, uint256 claimable)',
    'error RequestsPaused()',
    'error CancellationPending()',
    'error OnlyOneRequestAllowed()',
  ]),
  spender: (vault) => vault.address,
  deposit: (ask) =>
    reading(
      together({
        ...readIdentity(ask.vault),
        asynchronous: supports(ask.vault, interfaceIds.asyncDeposit),
        sync: erc4626.deposit(ask),
      }),
      ({ code, asset, asynchronous, sync }) => {
        if (asynchronous === false) return { ...sync, call: buildDeposit(ask) }
        return {
          closed: decideClosed(code.codeLength, undecided(asynchronous), 'deposit requests'),
          mismatch: decideMismatch(ask.vault, asset),
          max: undefined,
          quoted: undefined,
          call: buildRequestDeposit(ask),
        }
      },
    ),
  withdraw: (ask) =>
    reading(
      together({
        ...readIdentity(ask.vault),
        asynchronous: supports(ask.vault, interfaceIds.asyncRedeem),
        requests: readRedemption(ask),
        sync: erc4626.withdraw(ask),
      }),
      ({ code, asset, asynchronous, requests, sync }) => {
        if (asynchronous === false) return { ...sync, call: buildRedeem(ask, 'redeem') }
        return {
          ...requests,
          closed: decideClosed(code.codeLength, undecided(asynchronous), 'redemption requests'),
          mismatch: decideMismatch(ask.vault, asset),
        }
      },
    ),
  claimDeposit: claimSettledDeposits,
  cancelDeposit: (ask) =>
    reading(
      together({
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
    ),
}

/** Whether the vault says that it has an interface; undefined when it does not answer. */
export function supports(vault: Vault, interfaceId: `0x${string}`): Question<boolean | undefined> {
  return view(vault.address, erc7540Abi, 'supportsInterface', [interfaceId])
}

/** A vault that does not answer ERC-165 cannot be used; one that does is open as far as can be known. */
function undecided(answered: boolean | undefined): bigint | undefined {
  return answered === undefined ? undefined : 1n
}

/**
 * The asynchronous way out: claim settled redemptions where they suffice, else request a new one. `maxRedeem` of such a
 * vault is what can be claimed.
 */
export function readRedemption(ask: WithdrawAsk): Question<WithdrawOffer> {
  const { vault, wallet, shares } = ask
  return reading(
    together({
      claimable: view(vault.address, erc4626Abi, 'maxRedeem', [wallet]),
      held: view(vault.receiptToken, erc4626Abi, 'balanceOf', [wallet]),
      assets: view(vault.address, erc4626Abi, 'convertToAssets', [shares]),
    }),
    ({ claimable, held, assets }) => {
      const open = { closed: undefined, mismatch: undefined, max: undefined, quoted: undefined, assets }
      return claimable !== undefined && claimable >= shares
        ? { ...open, available: claimable, call: buildRedeem(ask, 'claimRedeem') }
        : { ...open, available: held, call: buildRequestRedeem(ask) }
    },
  )
}

type CancellationState = { requestId: bigint; pending: boolean; claimable: bigint }

function readCancellations({ vault, wallet, ...ask }: RequestAsk): Question<CancellationState[]> {
  const ids = ask.requestId === undefined ? ask.requestIds : [ask.requestId]
  return inOrder(
    ids.map((requestId) =>
      reading(
        together({
          pending: view(vault.address, erc7887Abi, 'pendingCancelDepositRequest', [requestId, wallet]),
          claimable: view(vault.address, erc7887Abi, 'claimableCancelDepositRequest', [requestId, wallet]),
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
    verb: 'cancelDeposit',
    gasConstant: cancelGas,
    spends: undefined,
    // Some vaults grant a cancellation at once, but it is still claimed by a call of its own.
    gains: undefined,
  }
  return { refusal: undefined, call, requestId, assets }
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
    verb: 'claimCancelled',
    gasConstant: cancelGas,
    spends: undefined,
    gains: vault.asset,
  }
  return { refusal: undefined, call, requestId, assets }
}
