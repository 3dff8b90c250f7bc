import { transferTopic } from '../../rpc/abis.js'
import type { RawLog } from '../../rpc/raw.js'
import { making } from '../calls.js'
import { type Around, beside, type EmittedEvent, type EmittingVault, emitted } from '../events.js'
import type { ContractBeside } from '../kind.js'
import { erc4626Calls } from './erc4626.js'

const created = beside('event RequestCreated(uint128 indexed requestId, address indexed owner, uint256 shares)')
const processed = beside(
  'event RequestProcessed(uint128 indexed requestId, address indexed owner, uint256 shares, uint256 assets)',
)
/** Told by the pool, whose call moves the shares; the queue has told the id before. */
const requested = emitted(
  'event RedemptionRequested(address indexed owner, uint256 shares, uint256 escrowedShares)',
  ({ owner, escrowedShares }, { contracts }, around) => {
    const ids = listBefore(around, contracts?.['queue']).flatMap(({ topics: [topic, id = '0x0', of] }) =>
      topic === created.topic && of?.slice(26) === owner.slice(2) ? [BigInt(id)] : [],
    )
    const requestId = ids.at(-1)
    if (requestId === undefined) return undefined
    return { kind: 'redeemRequest', controller: owner, owner, requestId, sender: owner, amount: escrowedShares }
  },
)

/** First topics of the logs that a request is read of. */
export const mapleRequestTopics: readonly string[] = [requested.topic, created.topic]

/**
 * Of the pool itself. The queue redeems what it has processed as the owner, and pays the wallet whose request it was: that is
 * the wallet's withdrawal.
 */
export const mapleEmits: readonly EmittedEvent[] = [
  emitted(
    'event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares)',
    ({ sender, owner, assets, shares }) => ({ kind: 'deposit', sender, owner, assets, shares }),
  ),
  emitted(
    'event Withdraw(address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares)',
    ({ sender, receiver, owner, assets, shares }, { contracts }) => ({
      ...{ kind: 'withdraw', sender, receiver, assets, shares },
      owner: owner === contracts?.['queue'] ? receiver : owner,
    }),
  ),
  requested,
]

export const mapleCalls = [
  ...erc4626Calls,
  making('function requestRedeem(uint256 shares, address owner)', 'redeemRequest', {
    amount: 'shares',
    controller: 'owner',
  }),
  making('function removeShares(uint256 shares, address owner)', 'cancelRedeemClaim', {
    amount: 'shares',
    controller: 'owner',
  }),
]

/** Further contracts of a pool: its manager, its queue, and the router, which no other names. */
export const mapleBeside: Readonly<Record<'queue' | 'manager' | 'router', ContractBeside>> = {
  queue: {
    summary: 'The queue of redemptions: it holds the shares that wait.',
    emits: [
      created,
      processed,
      // The same two events tell of what is processed and of what is given back.
      emitted('event RequestDecreased(uint128 indexed requestId, uint256 shares)', ({ requestId }, vault, around) =>
        readReturn(requestId, vault, around),
      ),
      emitted('event RequestRemoved(uint128 indexed requestId)', ({ requestId }, vault, around) =>
        readReturn(requestId, vault, around),
      ),
    ],
    calls: [],
  },
  manager: { summary: 'It says who may deal with the pool, and names the queue.', emits: [], calls: [] },
  router: {
    summary: 'It deposits for wallets that Maple has authorised, and hands them the shares.',
    emits: [],
    // The pool names the router as sender and owner, for every caller.
    calls: [
      making(
        'function deposit(uint256 amount, bytes32 depositData)',
        'deposit',
        { assets: 'amount' },
        { isClaim: true },
      ),
      making(
        'function authorizeAndDeposit(uint256 bitmap, uint256 deadline, uint8 v, bytes32 r, bytes32 s, uint256 amount, bytes32 depositData)',
        'deposit',
        { assets: 'amount' },
        { isClaim: true },
      ),
    ],
    isOptional: true,
  },
}

/**
 * Shares that leave the queue unpaid: taken out by their owner or by the delegate, which the queue tells alike. A request that
 * shrinks because it was processed says so just before. The Transfer that follows says to whom the shares go, and how many.
 */
function readReturn(requestId: bigint, { receiptToken }: EmittingVault, around: Around) {
  const { log, logs } = around
  if (isProcessed(listBefore(around, log.address).at(-1), requestId)) return undefined
  const moved = logs.find(
    (each) => isOf(log, each) && each.logIndex > log.logIndex && isMoveFrom(each, log.address, receiptToken),
  )
  if (!moved) return undefined
  const controller = `0x${moved.topics[2]?.slice(26)}`
  return {
    ...{ kind: 'cancelRedeemClaim' as const, controller, receiver: controller, requestId, sender: controller },
    amount: BigInt(moved.data),
  }
}

const isOf = (log: RawLog, { transactionHash }: RawLog) => transactionHash === log.transactionHash

/** Earlier logs of a contract in the same transaction. */
function listBefore({ log, logs }: Around, contract: string | undefined): RawLog[] {
  return logs.filter((each) => each.address === contract && isOf(log, each) && each.logIndex < log.logIndex)
}

function isProcessed(log: RawLog | undefined, requestId: bigint): boolean {
  return log?.topics[0] === processed.topic && BigInt(log.topics[1] ?? '0x0') === requestId
}

function isMoveFrom({ address, topics, data }: RawLog, sender: string, receiptToken: string): boolean {
  if (address !== receiptToken || topics[0] !== transferTopic || topics.length !== 3 || data.length !== 66) return false
  return topics[1]?.slice(26) === sender.slice(2)
}
