import { type Address, encodeFunctionData, erc4626Abi, isAddressEqual, maxUint256, parseAbi, zeroAddress } from 'viem'
import { combine, mapRead, type Read, readContract } from '../../rpc/multicall.js'
import { failing, type KnownError } from '../../rpc/revert.js'
import { making } from '../calls.js'
import { emitted } from '../events.js'
import type { DepositAsk, Offer, PlannedKind, RequestOffer, VaultCall, WithdrawAsk, WithdrawOffer } from '../kind.js'
import { sayCancelDeposit, sayDeposit, sayRedeem } from '../sentences.js'
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
  decideClosed,
  decideMismatch,
  erc4626Calls,
  erc4626Emits,
  readErc4626Figures,
  readIdentity,
} from './erc4626.js'
import { readRedemption } from './erc7540.js'

const lagoonAbi = parseAbi([
  'function cancelRequestDeposit()',
  'function syncDeposit(uint256 assets, address receiver, address referral) returns (uint256 shares)',
  'function syncRedeem(uint256 shares, address receiver, uint256 minimumAssets) returns (uint256 assets)',
  'function previewSyncDeposit(uint256 assets) view returns (uint256)',
  'function previewSyncRedeem(uint256 shares) view returns (uint256)',
  'function isTotalAssetsValid() view returns (bool)',
  'function isWhitelisted(address account) view returns (bool)',
  'function isAllowed(address account) view returns (bool)',
  'function safe() view returns (address)',
])

const cancelGas = 300_000n
const syncGas = 500_000n

/** Where vaults of 0.5 and 0.6 keep their silo: the ninth slot of their storage of requests (ERC-7201). */
const siloSlot = '0x5c74d456014b1c0eb4368d944667a568313858a3029a650ff0cb7b56f8b57a08'

const notListed = 'the vault takes listed wallets only, and this wallet is not listed'

const lagoonErrors: readonly KnownError[] = [
  failing('error NotWhitelisted()', notListed, 'closed'),
  failing('error AddressNotAllowed(address account)', notListed, 'closed'),
  failing('error NotOpen(uint8 currentState)', 'the vault is closing or closed', 'closed'),
  failing('error NotClosing(uint8 currentState)', 'the vault is not closing'),
  failing('error Closed()', 'the vault is closed', 'closed'),
  failing('error MaxCapReached()', 'the vault has no room for that much at present', 'capped'),
  failing('error OnlySyncDepositAllowed()', 'the vault takes deposits at once at present, and no requests'),
  failing('error OnlyAsyncDepositAllowed()', 'the vault takes requests at present, and completes nothing at once'),
  failing('error SyncRedeemNotAllowed()', 'the vault takes requests to redeem only'),
  failing('error AsyncOnly()', 'the vault takes requests only'),
  failing(
    'error BelowMinimumAssets(uint256 assets, uint256 minimumAssets)',
    'less would be paid than the least that was asked for',
  ),
  failing(
    'error RequestNotCancelable(uint256 requestId)',
    'the vault settles it already; it is claimed then',
    'waiting',
  ),
  failing('error RequestIdNotClaimable()', 'the vault has not settled it yet', 'waiting'),
  failing('error ERC7540InvalidOperator()', 'only the owner or its operator may do this'),
  failing('error ERC7540PreviewDepositDisabled()', 'the vault tells no price before it settles'),
  failing('error ERC7540PreviewMintDisabled()', 'the vault tells no price before it settles'),
  failing('error ERC7540PreviewRedeemDisabled()', 'the vault tells no price before it settles'),
  failing('error ERC7540PreviewWithdrawDisabled()', 'the vault tells no price before it settles'),
  failing('error CantDepositNativeToken()', 'the vault does not take the native token'),
  failing('error NewTotalAssetsMissing()', 'the vault waits for a valuation', 'waiting'),
  failing('error WrongNewTotalAssets()', 'the valuation is not the one proposed'),
  failing('error ValuationUpdateNotAllowed()', 'the valuation is still valid'),
]

/**
 * Lagoon vaults: ERC-7540 on both sides, one open request of a wallet on each, a deposit cancelled in one step and paid
 * back at once. Request id 0 stands for the wallet's last request. While the vault's valuation is valid, deposits and
 * redemptions complete at once instead; once it is closed, redemptions do. They are not ERC-7887.
 */
export const lagoon: PlannedKind = {
  name: 'lagoon',
  summary:
    'Lagoon: ERC-7540 with one open deposit request a wallet, cancelled in one step; at once while its valuation is valid.',
  asyncDeposit: true,
  asyncRedeem: true,
  requests: erc7540Requests,
  emits: [
    ...erc4626Emits,
    ...erc7540Emits,
    // All that is pending of the request is paid back at once; the event names no amount.
    emitted(
      'event DepositRequestCanceled(uint256 indexed requestId, address indexed controller)',
      ({ requestId, controller }) => ({
        kind: 'cancelDepositClaim',
        controller,
        receiver: controller,
        requestId,
        sender: controller,
        amount: maxUint256,
      }),
    ),
    emitted(
      'event RedeemRequestCanceled(uint256 indexed requestId, address indexed controller, uint256 requestedAmount)',
      ({ requestId, controller, requestedAmount }) => ({
        kind: 'cancelRedeemClaim',
        controller,
        receiver: controller,
        requestId,
        sender: controller,
        amount: requestedAmount,
      }),
    ),
    emitted(
      'event DepositSync(address indexed sender, address indexed owner, uint256 assets, uint256 shares)',
      ({ sender, owner, assets, shares }) => ({ kind: 'deposit', sender, owner, assets, shares, atOnce: true }),
    ),
    emitted(
      'event WithdrawSync(address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares)',
      ({ sender, receiver, owner, assets, shares }) => ({
        kind: 'withdraw',
        sender,
        receiver,
        owner,
        assets,
        shares,
        atOnce: true,
      }),
    ),
  ],
  calls: [
    ...erc4626Calls,
    ...erc7540Calls,
    making(
      'function requestDeposit(uint256 assets, address controller, address owner, address referral)',
      'depositRequest',
      { amount: 'assets', controller: 'controller', owner: 'owner' },
    ),
    making('function syncDeposit(uint256 assets, address receiver, address referral)', 'deposit', {
      assets: 'assets',
      owner: 'receiver',
    }),
    making('function syncRedeem(uint256 shares, address receiver, uint256 minimumAssets)', 'withdraw', {
      shares: 'shares',
      receiver: 'receiver',
    }),
    making('function claimSharesAndRequestRedeem(uint256 sharesToRedeem)', 'redeemRequest', {
      amount: 'sharesToRedeem',
    }),
    making('function cancelRequestDeposit()', 'cancelDepositClaim', {}),
    making('function cancelRequestDeposit(address controller)', 'cancelDepositClaim', { controller: 'controller' }),
    making('function cancelRequestRedeem(address controller)', 'cancelRedeemClaim', { controller: 'controller' }),
  ],
  errors: [...lagoonErrors, ...erc7540Errors],
  plans: {
    spender: (vault) => vault.address,
    deposit,
    withdraw,
    // Asked for; at once while the valuation is valid, or once it is closed.
    trial: (vault, wallet, amount) => {
      const ask = { vault, wallet, shares: 0n, tokenOut: vault.asset, slippageBps: 0 }
      const trial = buildRequestTrial(vault, wallet, amount)
      const valid = readContract(vault.address, lagoonAbi, 'isTotalAssetsValid', [])
      const atOnce = { ...buildSyncRedeem(ask, 0n), onlyIf: mapRead(valid, (answer) => answer === true) }
      return { ...trial, instead: [atOnce] }
    },
    claimDeposit: (ask) => claimSettledDeposits(ask),
    cancelDeposit: (ask) =>
      mapRead(readDepositRequests(ask), (requests): RequestOffer => {
        const pending = requests.find((request) => request.pending > 0n)
        if (pending) {
          const call: VaultCall = {
            to: ask.vault.address,
            data: encodeFunctionData({ abi: lagoonAbi, functionName: 'cancelRequestDeposit' }),
            value: 0n,
            says: sayCancelDeposit,
            gasConstant: cancelGas,
            spends: undefined,
            gains: ask.vault.asset,
          }
          return { refusal: undefined, call, requestId: pending.requestId, amount: pending.pending }
        }
        const settled = requests.some((request) => request.claimable > 0n)
        const why = settled
          ? 'the deposit is settled already; it can be claimed, not cancelled'
          : 'this wallet has no pending deposit in this vault'
        return { refusal: 'NOTHING_PENDING', why }
      }),
  },
  readFigures: readErc4626Figures,
  // A version that redeems at once tells what it pays; one that does not, or has nothing to pay, is asked for a request.
  readAtOnce: ({ address: at, receiptDecimals }) => {
    const address = at as Address
    return mapRead(
      combine({
        valid: readContract(address, lagoonAbi, 'isTotalAssetsValid', []),
        quoted: readContract(address, lagoonAbi, 'previewSyncRedeem', [10n ** BigInt(receiptDecimals)]),
      }),
      ({ valid, quoted = 0n }) => ({ deposit: valid === true, withdraw: valid === true && quoted > 0n }),
    )
  },
  recognise: (address) =>
    mapRead(
      combine({
        said: askErc4626(address),
        valid: readContract(address, lagoonAbi, 'isTotalAssetsValid', []),
        safe: readContract(address, lagoonAbi, 'safe', []),
      }),
      ({ said: { found, asyncDeposit, asyncRedeem }, valid, safe }) =>
        found && asyncDeposit && asyncRedeem && valid !== undefined && safe !== undefined
          ? isAddressEqual(found.receiptToken, address)
            ? found
            : undefined
          : undefined,
    ),
  escrowSlot: siloSlot,
}

/** Reads terms of a vault for a wallet at the time: version 0.5 knows listed wallets, 0.6 allowed ones, earlier ones neither. */
function readTerms({ vault, wallet }: Pick<DepositAsk, 'vault' | 'wallet'>) {
  return {
    ...readIdentity(vault),
    whitelisted: readContract(vault.address, lagoonAbi, 'isWhitelisted', [wallet]),
    allowed: readContract(vault.address, lagoonAbi, 'isAllowed', [wallet]),
    valid: readContract(vault.address, lagoonAbi, 'isTotalAssetsValid', []),
  }
}

/** A vault that knows no lists does not answer, and takes everybody. */
function decideListed(whitelisted: boolean | undefined, allowed: boolean | undefined): string | undefined {
  return whitelisted === false || allowed === false ? 'the vault takes no requests of this wallet' : undefined
}

function deposit(ask: DepositAsk): Read<Offer> {
  return mapRead(
    combine({
      ...readTerms(ask),
      quoted: readContract(ask.vault.address, lagoonAbi, 'previewSyncDeposit', [ask.amount]),
    }),
    ({ code, asset, whitelisted, allowed, valid, quoted }) => ({
      closed: decideClosed(code.codeLength) ?? decideListed(whitelisted, allowed),
      mismatch: decideMismatch(ask.vault, asset),
      max: undefined,
      quoted: valid === true ? quoted : undefined,
      call: valid === true ? buildSyncDeposit(ask) : buildRequestDeposit(ask),
    }),
  )
}

/**
 * Settled requests are claimed first. A closed vault redeems at once; its `maxRedeem` is the balance. While the valuation is
 * valid, the vault also redeems at once if it has assets to pay; otherwise it takes a request.
 */
function withdraw(ask: WithdrawAsk): Read<WithdrawOffer> {
  const { vault, wallet, shares } = ask
  return mapRead(
    combine({
      ...readIdentity(vault),
      valid: readContract(vault.address, lagoonAbi, 'isTotalAssetsValid', []),
      redemption: readRedemption(ask),
      claimable: readContract(vault.address, erc7540Abi, 'claimableRedeemRequest', [0n, wallet]),
      held: readContract(vault.address, erc4626Abi, 'balanceOf', [wallet]),
      quoted: readContract(vault.address, lagoonAbi, 'previewSyncRedeem', [shares]),
    }),
    ({ code, asset, valid, redemption, claimable, held, quoted }) => {
      const offer = {
        ...redemption,
        // A wallet that is no longer listed may still claim settled requests: the simulation decides.
        closed: decideClosed(code.codeLength),
        mismatch: decideMismatch(vault, asset),
      }
      // A claim takes no shares: the request took them.
      if (redemption.call.spends === undefined)
        return claimable === 0n && redemption.available === held ? { ...offer, call: buildRedeem(ask) } : offer
      if (valid !== true || !quoted) return offer
      return { ...offer, call: buildSyncRedeem(ask, quoted), instead: { call: buildRequestRedeem(ask) } }
    },
  )
}

/** `syncDeposit(assets, receiver, referral)`, of nobody's referral: the suffix says who brought it. */
function buildSyncDeposit({ vault, wallet, amount }: DepositAsk): VaultCall {
  return {
    to: vault.address,
    data: encodeFunctionData({
      abi: lagoonAbi,
      functionName: 'syncDeposit',
      args: [amount, wallet, zeroAddress],
    }),
    value: 0n,
    says: sayDeposit,
    gasConstant: syncGas,
    spends: { token: vault.asset, amount },
    gains: vault.receiptToken,
  }
}

/** `syncRedeem(shares, receiver, minimumAssets)`: the quote less the slippage allowed. */
function buildSyncRedeem({ vault, wallet, shares, slippageBps }: WithdrawAsk, quoted: bigint): VaultCall {
  const leastOut = (quoted * BigInt(10_000 - slippageBps)) / 10_000n
  return {
    to: vault.address,
    data: encodeFunctionData({ abi: lagoonAbi, functionName: 'syncRedeem', args: [shares, wallet, leastOut] }),
    value: 0n,
    says: sayRedeem,
    gasConstant: syncGas,
    spends: { token: vault.receiptToken, amount: shares },
    gains: vault.asset,
    leastOut,
  }
}
