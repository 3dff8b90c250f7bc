import { type Address, encodeFunctionData, erc20Abi, isAddressEqual, pad, parseAbi, toHex, zeroAddress } from 'viem'
import { combine, combineAll, mapRead, type Read, readAccount, readContract } from '../../rpc/multicall.js'
import { gasConstants } from '../gasConstants.js'
import {
  type DepositAsk,
  type FiguresAnswer,
  getContract,
  type ObservedVault,
  type Offer,
  type PlannedKind,
  type Recognised,
  type RequestAsk,
  type RequestOffer,
  type Vault,
  type VaultCall,
  type WithdrawAsk,
  type WithdrawOffer,
} from '../kind.js'
import { extraDigits } from '../reading.js'
import { sayDeposit } from '../sentences.js'
import { decideClosed, decideMismatch } from './erc4626.js'
import { vedaErrors } from './vedaErrors.js'
import { vedaBeside, vedaEmits, vedaRequestTopic } from './vedaEvents.js'

const partsAbi = parseAbi([
  'function hook() view returns (address)',
  'function vault() view returns (address)',
  'function boringVault() view returns (address)',
  'function accountant() view returns (address)',
  'function base() view returns (address)',
  'function isPaused() view returns (bool)',
])
const tellerAbi = parseAbi([
  'function assetData(address asset) view returns (bool allowDeposits, bool allowWithdraws, uint16 sharePremium)',
  'function shareUnlockTime(address user) view returns (uint256)',
  'function beforeTransferData(address user) view returns (bool, bool, bool, bool, uint256 shareUnlockTime)',
])
const depositAbi = parseAbi([
  'function deposit(address depositAsset, uint256 depositAmount, uint256 minimumMint) payable returns (uint256)',
])
const referredAbi = parseAbi([
  'function deposit(address depositAsset, uint256 depositAmount, uint256 minimumMint, address referralAddress) payable returns (uint256)',
])
const accountantAbi = parseAbi([
  'function getRateInQuoteSafe(address quote) view returns (uint256)',
  'function getRateSafe() view returns (uint256)',
  'function accountantState() view returns (address payout, uint96 mark, uint128 fees, uint128 shares, uint96 rate, uint16 upper, uint16 lower, uint64 lastUpdate)',
])
const queueAbi = parseAbi([
  'function withdrawAssets(address asset) view returns (bool allowWithdraws, uint24 secondsToMaturity, uint24 minimumSecondsToDeadline, uint16 minDiscount, uint16 maxDiscount, uint96 minimumShares)',
  'struct Request { uint96 nonce; address user; address assetOut; uint128 amountOfShares; uint128 amountOfAssets; uint40 creationTime; uint24 secondsToMaturity; uint24 secondsToDeadline; }',
  'function getOnChainWithdraw(bytes32 requestId) view returns (Request)',
  'function requestOnChainWithdraw(address assetOut, uint128 amountOfShares, uint16 discount, uint24 secondsToDeadline) returns (bytes32)',
  'function cancelOnChainWithdrawUsingRequestId(bytes32 requestId)',
])

/**
 * Vaults of Veda (BoringVault). A deposit is a call of the teller, while the vault takes the tokens by allowance; the shares
 * are then locked for a time, in which the teller may give the deposit back. The way out is a request in a queue: the shares
 * go there for assets at the price of that moment, less a discount, and until its deadline others may pay for them. The wallet
 * may take them back at any time.
 */
export const veda: PlannedKind = {
  name: 'veda',
  summary:
    'Vaults of Veda: a teller takes deposits and locks the shares; a queue, whose requests others pay, gives them back.',
  asyncDeposit: false,
  asyncRedeem: true,
  cancels: 'redeem',
  // A queue that keeps no requests on the chain answers nothing, and what waits there is told by its events alone.
  requests: {
    topics: [vedaRequestTopic],
    view: ({ contracts }, { requestId }) => {
      const data = encodeFunctionData({ abi: queueAbi, functionName: 'getOnChainWithdraw', args: [toWord(requestId)] })
      return { pending: { target: contracts?.['queue'] ?? zeroAddress, data, word: { at: 3, of: 8 } } }
    },
  },
  emits: vedaEmits,
  calls: [],
  beside: vedaBeside,
  errors: vedaErrors,
  // Nothing is tried: a deposit locks the shares, and which form of it a teller takes is known by asking it.
  plans: { spender: (vault) => vault.address, deposit, withdraw, cancelDeposit: cancelRequest },
  readFigures,
  readAsset: (_, contracts) => readContract(listedAccountant(contracts), partsAbi, 'base', []),
  recognise,
}

/** A price older than the longest time that an accountant may wait for the next one is not dealt at. */
const staleSeconds = 14n * 86_400n

function readParts(vault: Vault) {
  const [teller, accountant] = [getContract(vault, 'teller'), getContract(vault, 'accountant')]
  return {
    code: readAccount(vault.address),
    ofVault: readContract(teller, partsAbi, 'vault', []),
    ofAccountant: readContract(teller, partsAbi, 'accountant', []),
    base: readContract(accountant, partsAbi, 'base', []),
    rate: readContract(accountant, accountantAbi, 'getRateInQuoteSafe', [vault.asset]),
  }
}

/** When the shares of a wallet may move again; a teller of the newer form keeps it with other things. */
function readLock(vault: Vault, wallet: Address) {
  const teller = getContract(vault, 'teller')
  return {
    older: readContract(teller, tellerAbi, 'shareUnlockTime', [wallet]),
    newer: readContract(teller, tellerAbi, 'beforeTransferData', [wallet]),
  }
}

type Parts = {
  code: { codeLength: bigint }
  ofVault: Address | undefined
  ofAccountant: Address | undefined
  base: Address | undefined
  rate: bigint | undefined
}

/** The vault is what it is listed as: teller, vault and accountant name each other. */
function decideParts(vault: Vault, { ofVault, ofAccountant, base }: Parts): string | undefined {
  if (ofVault === undefined || !isAddressEqual(ofVault, vault.address))
    return 'the teller that is listed names another vault, or none'
  if (ofAccountant === undefined || !isAddressEqual(ofAccountant, getContract(vault, 'accountant')))
    return 'the teller now names another accountant than the vault is listed with'
  return decideMismatch(vault, base)
}

function decideRate(rate: bigint | undefined): string | undefined {
  if (rate === undefined)
    return 'the accountant of the vault is paused or names no price: nothing is dealt until it does'
  return rate === 0n ? 'the accountant of the vault names a price of 0' : undefined
}

function deposit(ask: DepositAsk): Read<Offer> {
  const { vault, wallet, amount } = ask
  const [teller, accountant] = [getContract(vault, 'teller'), getContract(vault, 'accountant')]
  const { reads, answer } = combine({
    ...readParts(vault),
    ...readLock(vault, wallet),
    paused: readContract(teller, partsAbi, 'isPaused', []),
    data: readContract(teller, tellerAbi, 'assetData', [vault.asset]),
    state: readContract(accountant, accountantAbi, 'accountantState', []),
  })
  return {
    reads,
    answer: (results, timestamp) => {
      const told = answer(results)
      const { code, rate, paused, data, state, older } = told
      const [allowed, , premium = 0] = data ?? []
      const lastUpdate = state?.[7]
      const isStale = lastUpdate !== undefined && timestamp !== undefined && timestamp > lastUpdate + staleSeconds
      const shares = rate ? (amount * 10n ** BigInt(vault.receiptDecimals)) / rate : undefined
      const quoted = shares === undefined ? undefined : (shares * BigInt(10_000 - premium)) / 10_000n
      return {
        closed:
          decideClosed(code.codeLength) ??
          (paused === true ? 'the teller is paused' : undefined) ??
          (allowed === false ? 'the teller takes no deposits of the asset at present' : undefined) ??
          decideRate(rate) ??
          (isStale ? `the price of a share was last set ${toDate(lastUpdate)}, more than 14 days ago` : undefined),
        mismatch: decideParts(vault, told),
        max: undefined,
        quoted,
        call: buildDeposit(ask, quoted ?? 0n, older === undefined),
      }
    },
  }
}

const toDate = (seconds: bigint): string => `${new Date(Number(seconds) * 1_000).toISOString().slice(0, 19)}Z`

function buildDeposit({ vault, amount, slippageBps }: DepositAsk, quoted: bigint, isReferred: boolean): VaultCall {
  const leastOut = (quoted * BigInt(10_000 - slippageBps)) / 10_000n
  const args = [vault.asset, amount, leastOut] as const
  return {
    to: getContract(vault, 'teller'),
    data: isReferred
      ? encodeFunctionData({ abi: referredAbi, args: [...args, zeroAddress] })
      : encodeFunctionData({ abi: depositAbi, args }),
    value: 0n,
    says: sayDeposit,
    gasConstant: gasConstants.deposit,
    spends: { token: vault.asset, amount },
    gains: vault.receiptToken,
    leastOut,
  }
}

/** A request is paid until then; a queue that wants more gets its most, of 30 days. */
const deadlineSeconds = { usual: 7 * 86_400, most: 30 * 86_400 }

function withdraw(ask: WithdrawAsk): Read<WithdrawOffer> {
  const { vault, wallet, shares } = ask
  const queue = getContract(vault, 'queue')
  const { reads, answer } = combine({
    ...readParts(vault),
    ...readLock(vault, wallet),
    queued: readContract(queue, partsAbi, 'boringVault', []),
    paused: readContract(queue, partsAbi, 'isPaused', []),
    terms: readContract(queue, queueAbi, 'withdrawAssets', [vault.asset]),
    held: readContract(vault.receiptToken, erc20Abi, 'balanceOf', [wallet]),
    allowance: readContract(vault.receiptToken, erc20Abi, 'allowance', [wallet, queue]),
  })
  return {
    reads,
    answer: (results, timestamp) => {
      const told = answer(results)
      const { code, rate, queued, terms, held, allowance = 0n } = told
      const [allowed = false, , minimumSeconds = 0, discount = 0] = terms ?? []
      const price = ((rate ?? 0n) * BigInt(10_000 - discount)) / 10_000n
      const assets = (shares * price) / 10n ** BigInt(vault.receiptDecimals)
      const refused = decideRefused(ask, told, timestamp)
      const isOwn = queued !== undefined && isAddressEqual(queued, vault.address)
      return {
        closed:
          decideClosed(code.codeLength) ??
          (queue === zeroAddress ? noQueue : undefined) ??
          (isOwn && !allowed ? 'the queue pays no requests in the asset at present' : undefined) ??
          decideRate(rate),
        ...(refused ? { refused } : {}),
        mismatch: isOwn ? decideParts(vault, told) : 'the queue that is listed names another vault, or none',
        ...{ max: undefined, quoted: assets, assets, available: held },
        call: buildRequest(ask, discount, minimumSeconds),
        pulls: { token: vault.receiptToken, spender: queue, amount: shares, allowance },
      }
    },
  }
}

const noQueue =
  'no queue of withdrawals is listed for this vault, so nothing is built to leave it: its own page does, and the operator may name the queue as vault.contracts.queue'

type Told = {
  older: bigint | undefined
  newer: readonly [boolean, boolean, boolean, boolean, bigint] | undefined
  paused: boolean | undefined
  terms: readonly [boolean, number, number, number, number, bigint] | undefined
}

/** Why this wallet cannot ask now, though the queue is open. */
function decideRefused(
  { shares, slippageBps }: WithdrawAsk,
  { older, newer, paused, terms }: Told,
  timestamp: bigint | undefined,
): Offer['refused'] {
  if (paused === true)
    return { reason: 'QUEUE_PAUSED', why: 'the queue is paused: it takes no requests and pays none until it is not' }
  const until = older ?? newer?.[4] ?? 0n
  if (timestamp !== undefined && until > timestamp) {
    const at = toDate(until)
    const why = `all shares of this wallet are locked until ${at}, since its last deposit`
    return { reason: 'SHARES_LOCKED', why, context: { until: at } }
  }
  const [, , , discount = 0, , minimum = 0n] = terms ?? []
  if (shares < minimum)
    return {
      ...{ reason: 'BELOW_MINIMUM', why: `the queue takes requests of at least ${minimum} units of shares` },
      context: { minimum: String(minimum) },
    }
  if (discount > slippageBps)
    return {
      reason: 'WITHDRAW_DISABLED',
      why: `the queue takes requests at a discount of at least ${discount / 100} %, which is more than slippageBps allows: raise it to ${discount}`,
    }
  if (shares >= 1n << 128n) return { reason: 'INSUFFICIENT_BALANCE', why: 'no wallet has that many shares' }
  return undefined
}

/** The shares leave for the queue now; others pay the wallet, or it takes them back. */
function buildRequest({ vault, shares }: WithdrawAsk, discount: number, minimumSeconds: number): VaultCall {
  const seconds = minimumSeconds > deadlineSeconds.usual ? deadlineSeconds.most : deadlineSeconds.usual
  const amount = shares >= 1n << 128n ? 0n : shares
  return {
    to: getContract(vault, 'queue'),
    data: encodeFunctionData({
      abi: queueAbi,
      functionName: 'requestOnChainWithdraw',
      args: [vault.asset, amount, discount, seconds],
    }),
    value: 0n,
    says: ({ amount, vault, out, receiver }) =>
      `Request to redeem ${amount} at ${vault}, at a discount of ${discount / 100} %; once others have paid for them, within ${seconds / 86_400} days, the ${out} goes to ${receiver}, who may take the shares back until then.`,
    gasConstant: gasConstants.request,
    spends: { token: vault.receiptToken, amount: shares },
    gains: undefined,
  }
}

/** Takes back a request that nobody has paid, also one whose deadline has passed. */
function cancelRequest({ vault, wallet, requestIds, requestId }: RequestAsk): Read<RequestOffer> {
  const queue = getContract(vault, 'queue')
  const named = requestIds.filter((id) => requestId === undefined || id === requestId)
  const each = named.map((id) =>
    mapRead(readContract(queue, queueAbi, 'getOnChainWithdraw', [toWord(id)]), (told) => ({ id, told })),
  )
  return mapRead(combineAll(each), (all): RequestOffer => {
    const open = all.find(({ told }) => told !== undefined && isAddressEqual(told.user, wallet))
    if (open?.told)
      return {
        ...{ refusal: undefined, requestId: open.id, amount: open.told.amountOfShares },
        call: buildCancel(vault, open.id),
      }
    if (all.some(({ id }) => id > 0n))
      return {
        refusal: 'REQUEST_NOT_CANCELLABLE',
        why: 'the queue does not keep this request on the chain, or it was paid or taken back just now: take it back at the page of the vault',
      }
    return { refusal: 'NOTHING_PENDING', why: 'this wallet has no such request in the queue of this vault' }
  })
}

const toWord = (id: bigint) => pad(toHex(id), { size: 32 })

function buildCancel(vault: Vault, id: bigint): VaultCall {
  return {
    to: getContract(vault, 'queue'),
    data: encodeFunctionData({
      abi: queueAbi,
      functionName: 'cancelOnChainWithdrawUsingRequestId',
      args: [toWord(id)],
    }),
    value: 0n,
    says: ({ amount, vault, receiver }) =>
      `Take back ${amount} that wait for their redemption at ${vault}; they go to ${receiver}.`,
    gasConstant: gasConstants.claim,
    spends: undefined,
    gains: vault.receiptToken,
  }
}

const listedAccountant = (contracts: ObservedVault['contracts']) =>
  (contracts?.['accountant'] ?? zeroAddress) as Address

/** A vault keeps no sum of its assets: they are what its shares are worth. A paused accountant names no price. */
function readFigures({ receiptToken, receiptDecimals, contracts }: ObservedVault): Read<FiguresAnswer> {
  const accountant = listedAccountant(contracts)
  return mapRead(
    combine({
      totalSupply: readContract(receiptToken as Address, erc20Abi, 'totalSupply', []),
      rate: readContract(accountant, accountantAbi, 'getRateSafe', []),
    }),
    ({ totalSupply, rate }) => {
      if (totalSupply === undefined || !rate) return { maxDeposit: undefined, figures: undefined }
      const unit = 10n ** BigInt(receiptDecimals)
      const priceExponent = receiptDecimals + extraDigits
      const priceNumerator = 10n ** BigInt(extraDigits) * rate
      const figures = { totalAssets: (totalSupply * rate) / unit, totalSupply, priceNumerator, priceExponent }
      return { maxDeposit: undefined, figures }
    },
  )
}

/** The vault names its teller as the hook of transfers, the teller the vault again and the accountant, and that the asset. */
function recognise(address: Address): Read<Recognised | undefined> {
  return mapRead(readContract(address, partsAbi, 'hook', []), (teller) =>
    teller === undefined || isAddressEqual(teller, zeroAddress)
      ? undefined
      : { asset: zeroAddress, receiptToken: address, next: askTeller(address, teller) },
  )
}

function askTeller(address: Address, teller: Address): Read<Recognised | undefined> {
  return mapRead(
    combine({
      vault: readContract(teller, partsAbi, 'vault', []),
      accountant: readContract(teller, partsAbi, 'accountant', []),
    }),
    ({ vault, accountant }) =>
      vault !== undefined && accountant !== undefined && isAddressEqual(vault, address)
        ? { asset: zeroAddress, receiptToken: address, next: askAccountant(address, { teller, accountant }) }
        : undefined,
  )
}

function askAccountant(
  address: Address,
  contracts: { teller: Address; accountant: Address },
): Read<Recognised | undefined> {
  return mapRead(readContract(contracts.accountant, partsAbi, 'base', []), (asset) =>
    asset === undefined ? undefined : { asset, receiptToken: address, contracts, notes: vedaNotes },
  )
}

const vedaNotes: readonly string[] = [
  'a vault of Veda (BoringVault): a deposit locks the shares for a time, so nothing is tried here; no contract names its queue of withdrawals: ask the probe about the queue, or name it as vault.contracts.queue and vault.escrow',
]
