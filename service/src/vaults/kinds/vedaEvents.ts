import { transferTopic } from '../../rpc/abis.js'
import type { RawLog } from '../../rpc/raw.js'
import { making } from '../calls.js'
import { type Around, beside, type EmittingVault, emitted } from '../events.js'
import type { ContractBeside } from '../kind.js'

const exit = beside(
  'event Exit(address indexed to, address indexed asset, uint256 amount, address indexed from, uint256 shares)',
)

/** Of the vault itself: by this a refund, of which the teller tells no amounts, is understood. */
export const vedaEmits = [exit]

type Sold = {
  receiver: string
  depositAsset: string
  depositAmount: bigint
  shareAmount: bigint
  nonce: bigint
  depositTimestamp: bigint
  shareLockPeriodAtTimeOfDeposit: bigint
}

/** Shares go to the receiver, which is the caller but where the teller lets it name another. */
function readDeposit(told: Sold, { asset }: EmittingVault) {
  const { receiver, depositAsset, depositAmount, shareAmount, nonce } = told
  const { depositTimestamp, shareLockPeriodAtTimeOfDeposit: lock } = told
  return {
    ...{ kind: 'deposit' as const, sender: receiver, owner: receiver, assets: depositAmount, shares: shareAmount },
    ...(depositAsset === asset ? {} : { isOtherToken: true as const }),
    // Without a lock there is no time in which it may be given back.
    ...(lock > 0n ? { refundable: { nonce, until: depositTimestamp + lock } } : {}),
  }
}

/** A deposit that is given back: the vault has told of the amounts just before. */
function readRefund({ nonce, user }: { nonce: bigint; user: string }, vault: EmittingVault, { log, logs }: Around) {
  const paid = logs.findLast(
    (each) =>
      each.address === vault.address &&
      isBefore(each, log) &&
      each.topics[0] === exit.topic &&
      each.topics[3]?.slice(26) === user.slice(2) &&
      each.data.length === 130,
  )
  if (!paid) return undefined
  return {
    ...{ kind: 'withdraw' as const, sender: user, receiver: user, owner: user, atOnce: true as const, refunds: nonce },
    assets: BigInt(paid.data.slice(0, 66)),
    shares: BigInt(`0x${paid.data.slice(66)}`),
    ...(paid.topics[2]?.slice(26) === vault.asset.slice(2) ? {} : { isOtherToken: true as const }),
  }
}

const cancelled = 'event OnChainWithdrawCancelled(bytes32 indexed requestId, address indexed user, uint256 timestamp)'
const { topic: cancelledTopic } = beside(cancelled)
const requested = emitted(
  'event OnChainWithdrawRequested(bytes32 indexed requestId, address indexed user, address indexed assetOut, uint96 nonce, uint128 amountOfShares, uint128 amountOfAssets, uint40 creationTime, uint24 secondsToMaturity, uint24 secondsToDeadline)',
  ({ requestId, user, assetOut, amountOfShares, amountOfAssets }, { asset }, { log, logs }) => {
    const replaced = logs.findLast((each) => isBefore(each, log))
    const replaces =
      replaced && isReplaced(replaced, logs) && isSameUser(replaced, log) ? replaced.topics[1] : undefined
    return {
      ...{ kind: 'redeemRequest', controller: user, owner: user, requestId, sender: user, amount: amountOfShares },
      ...(assetOut === asset ? { promised: amountOfAssets } : {}),
      ...(replaces === undefined ? {} : { replaces: BigInt(replaces) }),
    }
  },
)

/** First topic of the logs that a request is read of. */
export const vedaRequestTopic = requested.topic

/** Further contracts of a vault. No contract names the queue, so the probe finds it only where it is asked about it. */
export const vedaBeside: Readonly<Record<'teller' | 'accountant' | 'queue', ContractBeside>> = {
  teller: {
    summary: 'It takes deposits, locks the shares for a time, and may give a deposit back in that time.',
    emits: [
      emitted(
        'event Deposit(uint256 indexed nonce, address indexed receiver, address indexed depositAsset, uint256 depositAmount, uint256 shareAmount, uint256 depositTimestamp, uint256 shareLockPeriodAtTimeOfDeposit)',
        (told, vault) => readDeposit(told, vault),
      ),
      emitted(
        'event Deposit(uint256 nonce, address indexed receiver, address indexed depositAsset, uint256 depositAmount, uint256 shareAmount, uint256 depositTimestamp, uint256 shareLockPeriodAtTimeOfDeposit, address indexed referralAddress)',
        (told, vault) => readDeposit(told, vault),
      ),
      emitted('event DepositRefunded(uint256 indexed nonce, bytes32 depositHash, address indexed user)', readRefund),
    ],
    calls: [
      making('function deposit(address depositAsset, uint256 depositAmount, uint256 minimumMint)', 'deposit', {
        assets: 'depositAmount',
      }),
      making(
        'function deposit(address depositAsset, uint256 depositAmount, uint256 minimumMint, address referralAddress)',
        'deposit',
        { assets: 'depositAmount' },
      ),
      making(
        'function depositWithPermit(address depositAsset, uint256 depositAmount, uint256 minimumMint, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
        'deposit',
        { assets: 'depositAmount' },
      ),
      making(
        'function deposit(address depositAsset, uint256 depositAmount, uint256 minimumMint, address to, address referralAddress)',
        'deposit',
        { assets: 'depositAmount', owner: 'to' },
        { isClaim: true },
      ),
      making(
        'function refundDeposit(uint256 nonce, address receiver, address depositAsset, uint256 depositAmount, uint256 shareAmount, uint256 depositTimestamp, uint256 lock)',
        'withdraw',
        { owner: 'receiver', assets: 'depositAmount', shares: 'shareAmount' },
      ),
      making(
        'function refundDeposit(uint256 nonce, address receiver, address depositAsset, uint256 depositAmount, uint256 shareAmount, uint256 depositTimestamp, uint256 lock, address referralAddress)',
        'withdraw',
        { owner: 'receiver', assets: 'depositAmount', shares: 'shareAmount' },
      ),
    ],
  },
  accountant: { summary: 'It keeps the price of a share.', emits: [], calls: [] },
  queue: {
    summary: 'The queue of withdrawals: it holds the shares of requests until others pay for them.',
    emits: [
      requested,
      emitted(cancelled, ({ requestId, user }, vault, around) => {
        // A request that is replaced keeps its shares in the queue, and its new form says so.
        if (isReplaced(around.log, around.logs)) return undefined
        const amount = findReturn(user, vault, around)
        if (amount === undefined) return undefined
        return { kind: 'cancelRedeemClaim', controller: user, receiver: user, requestId, sender: user, amount }
      }),
      // How much was paid for how many shares stands in the request.
      emitted(
        'event OnChainWithdrawSolved(bytes32 indexed requestId, address indexed user, uint256 timestamp)',
        ({ requestId, user }) => ({
          ...{ kind: 'withdraw', sender: user, receiver: user, owner: user, assets: 0n, shares: 0n, pays: requestId },
        }),
      ),
    ],
    calls: [
      making(
        'function requestOnChainWithdraw(address assetOut, uint128 amountOfShares, uint16 discount, uint24 secondsToDeadline)',
        'redeemRequest',
        { amount: 'amountOfShares' },
      ),
      making(
        'function requestOnChainWithdrawWithPermit(address assetOut, uint128 amountOfShares, uint16 discount, uint24 secondsToDeadline, uint256 permitDeadline, uint8 v, bytes32 r, bytes32 s)',
        'redeemRequest',
        { amount: 'amountOfShares' },
      ),
      making(
        'function replaceOnChainWithdrawUsingRequestId(bytes32 oldRequestId, uint16 discount, uint24 secondsToDeadline)',
        'redeemRequest',
        { replaces: 'oldRequestId' },
      ),
      making('function cancelOnChainWithdrawUsingRequestId(bytes32 requestId)', 'cancelRedeemClaim', {
        requestId: 'requestId',
      }),
    ],
    isOptional: true,
  },
}

const isBefore = (log: RawLog, { transactionHash, logIndex }: RawLog) =>
  log.transactionHash === transactionHash && log.logIndex < logIndex

const isSameUser = ({ topics }: RawLog, other: RawLog) => topics[2] === other.topics[2]

/** A cancellation whose next log is a new request of the same user, of the same queue. */
function isReplaced(log: RawLog, logs: readonly RawLog[]): boolean {
  if (log.topics[0] !== cancelledTopic) return false
  const next = logs.find((each) => isBefore(log, each))
  return next?.address === log.address && next.topics[0] === requested.topic && isSameUser(log, next)
}

/** The shares that a queue returned just before it told of a cancellation. */
function findReturn(user: string, { receiptToken }: EmittingVault, { log, logs }: Around): bigint | undefined {
  const moved = logs.findLast(
    (each) =>
      each.address === receiptToken &&
      isBefore(each, log) &&
      each.topics[0] === transferTopic &&
      each.topics[1]?.slice(26) === log.address.slice(2) &&
      each.topics[2]?.slice(26) === user.slice(2),
  )
  return moved?.data.length === 66 ? BigInt(moved.data) : undefined
}
