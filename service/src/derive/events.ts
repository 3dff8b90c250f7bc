import { maxUint256 } from 'viem'
import type { RawLog } from '../rpc/raw.js'

/** First topics of the events read, from ERC-20, ERC-4626, ERC-5115, ERC-7540, ERC-7887 and Lagoon. */
export const topics = {
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  deposit: '0xdcbc1c05240f31ff3ad067ef1ee35ce4997762752e3a095284754544f4c709d7',
  withdraw: '0xfbde797d201c681b91056529119e0b02407c7bb96a4a2c75c01fc9667232c8db',
  depositRequest: '0xbb58420bb8ce44e11b84e214cc0de10ce5e7c24d0355b2815c3d758b514cae72',
  redeemRequest: '0x1fdc681a13d8c5da54e301c7ce6542dcde4581e4725043fdab2db12ddc574506',
  cancelDepositRequest: '0x4ae0134aad5d0e98e82f45680facd628ee6b5aa85ad9a85248a7ef47319f8c50',
  cancelDepositClaim: '0x295a9a8b44c0ac92394b0da92ef469784ff064156f08dab8316760c064c6cd2f',
  cancelRedeemRequest: '0xa16c0f2cab616ed5d17cd544655b00d7062a1df7c457960cc8b9bf60770f9236',
  cancelRedeemClaim: '0x9c133d4657dc9cd12f4c08cef86ef778dbbe03f3ad3b661ff14d36bc3febb1fb',
  tokenDeposit: '0x5fe47ed6d4225326d3303476197d782ded5a4e9c14f479dc9ec4992af4e85d59',
  tokenRedeem: '0xaee47cdf925cf525fdae94f9777ee5a06cac37e1c41220d0a8a89ed154f62d1c',
  depositRequestCanceled: '0xf3df774413906479e4aa6d20ad2ad938e10990d517dc9d29909f6eaa4981ad43',
} as const

/** Events that make a transaction's calldata worth keeping. */
export const vaultTopics: readonly string[] = [
  topics.deposit,
  topics.withdraw,
  topics.depositRequest,
  topics.redeemRequest,
  topics.cancelDepositRequest,
  topics.cancelDepositClaim,
  topics.cancelRedeemRequest,
  topics.cancelRedeemClaim,
  topics.depositRequestCanceled,
  topics.tokenDeposit,
  topics.tokenRedeem,
]

/** All first topics asked of a node for watched contracts. */
export const watchedTopics: readonly string[] = [topics.transfer, ...vaultTopics]

export type Transfer = { logIndex: number; from: string; to: string; amount: bigint }

export type VaultEvent = { logIndex: number } & (
  | { kind: 'deposit'; sender: string; owner: string; assets: bigint; shares: bigint; isOtherToken?: true }
  | {
      kind: 'withdraw'
      sender: string
      receiver: string
      owner: string
      assets: bigint
      shares: bigint
      /** `assets` are of another token than the vault's asset: shares move, but the amount fits no ledger. */
      isOtherToken?: true
    }
  | {
      kind: 'depositRequest' | 'redeemRequest'
      controller: string
      owner: string
      requestId: bigint
      sender: string
      amount: bigint
    }
  | {
      kind: 'cancelDepositRequest' | 'cancelRedeemRequest'
      controller: string
      requestId: bigint
      sender: string
    }
  | {
      kind: 'cancelDepositClaim' | 'cancelRedeemClaim'
      controller: string
      receiver: string
      requestId: bigint
      sender: string
      amount: bigint
    }
)

const topicAddress = (topic: string): string => `0x${topic.slice(26)}`
const word = (data: string, index: number): string => data.slice(2 + index * 64, 66 + index * 64)
const wordAddress = (data: string, index: number): string => `0x${word(data, index).slice(24)}`
const wordUint = (data: string, index: number): bigint => BigInt(`0x${word(data, index)}`)
const hasShape = (log: RawLog, topicCount: number, words: number): boolean =>
  log.topics.length === topicCount && log.data.length === 2 + words * 64

/** An ERC-20 Transfer, or undefined when the log is another or has another shape. */
export function decodeTransfer(log: RawLog): Transfer | undefined {
  const [first, from, to] = log.topics
  if (first !== topics.transfer || from === undefined || to === undefined || !hasShape(log, 3, 1)) return undefined
  return { logIndex: log.logIndex, from: topicAddress(from), to: topicAddress(to), amount: BigInt(log.data) }
}

/** An event of a vault, or undefined when the log is another or has another shape. Never throws. */
export function decodeVaultEvent(log: RawLog, asset?: string): VaultEvent | undefined {
  const [first, a = '', b = '', c = ''] = log.topics
  const { logIndex, data } = log
  switch (first) {
    case topics.deposit:
      if (!hasShape(log, 3, 2)) return undefined
      return {
        kind: 'deposit',
        logIndex,
        sender: topicAddress(a),
        owner: topicAddress(b),
        assets: wordUint(data, 0),
        shares: wordUint(data, 1),
      }
    case topics.withdraw:
      if (!hasShape(log, 4, 2)) return undefined
      return {
        kind: 'withdraw',
        logIndex,
        sender: topicAddress(a),
        receiver: topicAddress(b),
        owner: topicAddress(c),
        assets: wordUint(data, 0),
        shares: wordUint(data, 1),
      }
    case topics.depositRequest:
    case topics.redeemRequest:
      if (!hasShape(log, 4, 2)) return undefined
      return {
        kind: first === topics.depositRequest ? 'depositRequest' : 'redeemRequest',
        logIndex,
        controller: topicAddress(a),
        owner: topicAddress(b),
        requestId: BigInt(c),
        sender: wordAddress(data, 0),
        amount: wordUint(data, 1),
      }
    case topics.cancelDepositRequest:
    case topics.cancelRedeemRequest:
      if (!hasShape(log, 3, 1)) return undefined
      return {
        kind: first === topics.cancelDepositRequest ? 'cancelDepositRequest' : 'cancelRedeemRequest',
        logIndex,
        controller: topicAddress(a),
        requestId: BigInt(b),
        sender: wordAddress(data, 0),
      }
    case topics.cancelDepositClaim:
    case topics.cancelRedeemClaim:
      if (!hasShape(log, 4, 2)) return undefined
      return {
        kind: first === topics.cancelDepositClaim ? 'cancelDepositClaim' : 'cancelRedeemClaim',
        logIndex,
        controller: topicAddress(a),
        receiver: topicAddress(b),
        requestId: BigInt(c),
        sender: wordAddress(data, 0),
        amount: wordUint(data, 1),
      }
    case topics.tokenDeposit:
      if (!hasShape(log, 4, 2)) return undefined
      return {
        kind: 'deposit',
        logIndex,
        sender: topicAddress(a),
        owner: topicAddress(b),
        assets: wordUint(data, 0),
        shares: wordUint(data, 1),
        ...markOtherToken(topicAddress(c), asset),
      }
    case topics.tokenRedeem:
      if (!hasShape(log, 4, 2)) return undefined
      return {
        kind: 'withdraw',
        logIndex,
        sender: topicAddress(a),
        receiver: topicAddress(b),
        owner: topicAddress(a),
        assets: wordUint(data, 1),
        shares: wordUint(data, 0),
        ...markOtherToken(topicAddress(c), asset),
      }
    case topics.depositRequestCanceled:
      // Lagoon cancels all that is pending of a request and pays it back at once; the event names no amount.
      if (!hasShape(log, 3, 0)) return undefined
      return {
        kind: 'cancelDepositClaim',
        logIndex,
        controller: topicAddress(b),
        receiver: topicAddress(b),
        requestId: BigInt(a),
        sender: topicAddress(b),
        amount: maxUint256,
      }
    default:
      return undefined
  }
}

/** ERC-5115 takes and pays several tokens; the ledger is in the vault's asset. */
function markOtherToken(token: string, asset: string | undefined): { isOtherToken?: true } {
  return token === asset ? {} : { isOtherToken: true }
}

/** Whose event it is: a frame whose caller is one of these counts for all wallets the event is about. */
export function eventParties(event: VaultEvent): readonly string[] {
  if (event.kind === 'deposit' || event.kind === 'withdraw') return [event.sender, event.owner]
  if (event.kind === 'depositRequest' || event.kind === 'redeemRequest')
    return [event.sender, event.owner, event.controller]
  return [event.sender, event.controller]
}
