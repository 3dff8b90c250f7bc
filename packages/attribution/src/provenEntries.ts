import { bytesToHex, getAddress, type Hex } from 'viem'
import { findSuffixes, isSigned, listCodes } from './provenCodes.js'
import type { Log, Transaction } from './provenForms.js'
import { findCallData, listOperations } from './provenOperations.js'

/**
 * The entries that a transaction's own bytes decide: the vault's event, whose shares it moved by the Transfers of the receipt,
 * and the code in the calldata of the transaction, or of the operation in which the event was emitted. An event about which
 * the bytes leave a doubt gives no entry.
 */

/** The grounds of an entry: bytes in the block, who called, balances and code, earlier blocks, and the facts the reader trusts. */
export type Ground = 'path' | 'trace' | 'state' | 'history' | 'configuration'

/** An entry as a proof names it. */
export type ProvenEntry = {
  /** The entry's own place: chain, block hash, transaction hash, log, distributor and wallet, by colons. */
  id: string
  /** The place of the vault's event among the logs of the transaction's receipt, from 0. */
  logIndex: number
  distributorId: string
  walletAddress: string
  /** Units of the vault's asset. */
  amountRaw: string
  /** How far the code can be believed: signed for this very call, or written by anybody. */
  rule: 'signed' | 'unsigned'
  restsOn: Ground[]
}

/** An entry that the bytes bear out, with what they do not tell by themselves. */
export type VerifiedEntry = ProvenEntry & {
  kind: 'deposit' | 'withdraw'
  vault: string
  /** Members that the bytes alone fix; the others rest on `restsOn` too. */
  proved: string[]
}

export type Trusted = {
  /** Kinds and shares of the vaults by address. */
  vaults: ReadonlyMap<Hex, { kind: string; share: Hex }>
  signers: readonly Hex[]
  entryPoints: readonly Hex[]
  distributors: readonly string[] | undefined
}

export type Context = {
  chainId: bigint
  blockHash: Hex
  transaction: Omit<Transaction, 'from'> & { from: Hex }
  logs: readonly Log[]
}

const topics = {
  deposit: '0xdcbc1c05240f31ff3ad067ef1ee35ce4997762752e3a095284754544f4c709d7',
  withdraw: '0xfbde797d201c681b91056529119e0b02407c7bb96a4a2c75c01fc9667232c8db',
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
}
const zero: Hex = `0x${'0'.repeat(40)}`

type Event = { at: number; kind: 'deposit' | 'withdraw'; sender: Hex; owner: Hex; assets: bigint; shares: bigint }
type Transfer = { at: number; from: Hex; to: Hex; amount: bigint }

/** The entries of a transaction, by the places of their logs. */
export async function computeEntries(context: Context, trusted: Trusted): Promise<VerifiedEntry[]> {
  const entries: VerifiedEntry[] = []
  for (const [vault, known] of trusted.vaults) {
    const events = context.logs.flatMap((log, at) => (log.address === vault ? (readEvent(log, at) ?? []) : []))
    if (events.length === 0) continue
    const transfers = context.logs.flatMap((log, at) =>
      log.address === known.share ? (readTransfer(log, at) ?? []) : [],
    )
    for (const event of events) {
      const wallet = findWallet(event, { events, transfers, vault, share: known.share })
      const entry = wallet && (await toEntry({ event, vault, wallet, isPlain: events.length === 1 }, context, trusted))
      if (entry) entries.push({ ...entry, restsOn: entry.restsOn.filter((each) => isNeeded(each, known.kind, entry)) })
    }
  }
  return entries.sort((a, b) => a.logIndex - b.logIndex)
}

/** Earlier blocks decide about signatures, which count once, and in vaults with requests. */
function isNeeded(ground: Ground, kind: string, { rule }: VerifiedEntry): boolean {
  return ground !== 'history' || rule === 'signed' || kind !== 'erc4626'
}

const wordAt = (data: Uint8Array, index: number): bigint =>
  BigInt(bytesToHex(data.subarray(index * 32, index * 32 + 32)))
const addressAt = (topic: Hex | undefined): Hex => `0x${topic?.slice(26)}`

/** Deposits and withdrawals of ERC-4626; other events of a vault make no entry. */
function readEvent({ topics: told, data }: Log, at: number): Event | undefined {
  if (data.length !== 64) return undefined
  const [assets, shares] = [wordAt(data, 0), wordAt(data, 1)]
  const common = { at, sender: addressAt(told[1]), assets, shares }
  if (told[0] === topics.deposit && told.length === 3) return { ...common, kind: 'deposit', owner: addressAt(told[2]) }
  if (told[0] === topics.withdraw && told.length === 4)
    return { ...common, kind: 'withdraw', owner: addressAt(told[3]) }
  return undefined
}

function readTransfer({ topics: told, data }: Log, at: number): Transfer | undefined {
  if (told[0] !== topics.transfer || told.length !== 3 || data.length !== 32) return undefined
  const transfer = { at, from: addressAt(told[1]), to: addressAt(told[2]), amount: wordAt(data, 0) }
  return transfer.from === transfer.to ? undefined : transfer
}

/**
 * The wallet that keeps the shares of a deposit, or that lost those of a withdrawal: undefined where the Transfers do not tell
 * it of all of them, as where shares are split, go through the wallet's older ones, or come and go in one transaction.
 */
function findWallet(
  event: Event,
  { events, transfers, vault, share }: { events: Event[]; transfers: Transfer[]; vault: Hex; share: Hex },
): Hex | undefined {
  if (event.shares === 0n || event.assets === 0n) return undefined
  const own = [zero, vault, share]
  const index = events.indexOf(event)
  const [low, high] = [events[index - 1]?.at ?? -1, events[index + 1]?.at ?? Number.POSITIVE_INFINITY]
  const moves = transfers.filter(({ at, from, to }) => {
    const isOwn =
      event.kind === 'deposit' ? to === event.owner && own.includes(from) : from === event.owner && own.includes(to)
    return isOwn && at > low && at < high
  })
  const [move, ...others] = moves
  if (!move || others.length > 0 || move.amount !== event.shares || own.includes(event.owner)) return undefined
  const sent = (wallet: Hex) => transfers.filter(({ from }) => from === wallet)
  const got = (wallet: Hex) => transfers.filter(({ to }) => to === wallet)
  if (event.kind === 'withdraw') return got(event.owner).length === 0 ? event.owner : undefined
  const [onward, ...more] = sent(event.owner)
  if (!onward) return event.owner
  const isPassedOn =
    more.length === 0 && got(event.owner).length === 1 && onward.at > move.at && onward.amount === move.amount
  const isKept = !own.includes(onward.to) && sent(onward.to).length === 0
  return isPassedOn && isKept ? onward.to : undefined
}

async function toEntry(
  { event, vault, wallet, isPlain }: { event: Event; vault: Hex; wallet: Hex; isPlain: boolean },
  { chainId, blockHash, transaction, logs }: Context,
  trusted: Trusted,
): Promise<VerifiedEntry | undefined> {
  const { from, to, input, hash } = transaction
  const operations = listOperations(logs, trusted.entryPoints)
  const operation = operations.find((each) => each.from < event.at && event.at < each.to)
  // Who brought one operation says nothing of what stands between operations.
  if (!operation && logs.some(({ address }) => trusted.entryPoints.includes(address))) return undefined
  const data = operation ? findCallData(input, operation, chainId) : input
  const found = data && findSuffixes(data)
  const { distributors } = trusted
  const codes = found ? listCodes(found).filter((code) => !distributors || distributors.includes(code)) : []
  const [code, ...others] = codes
  if (!data || !found || code === undefined || others.length > 0) return undefined
  const caller = operation?.sender ?? from
  // Who called what, as far as the bytes tell: the vault's caller the vault, and each sender what it was sent to.
  const calls: [Hex, Hex][] = [[event.sender, vault]]
  if (caller !== event.sender) calls.push([caller, vault])
  if (to && to !== vault) calls.push([from, to])
  const said = { code, chainId, calls, signers: trusted.signers }
  const rule = (await isSigned(data, found, said)) ? 'signed' : 'unsigned'
  const isDirect = isPlain && !operation && to === vault && event.sender === from && found[0]?.end === input.length
  const isCaller = wallet === from || wallet === event.sender
  const restsOn: Ground[] = ['path', 'trace', 'state', 'history', 'configuration']
  const shown = getAddress(wallet)
  return {
    id: [chainId, blockHash, hash, event.at, code, wallet].join(':'),
    logIndex: event.at,
    distributorId: code,
    walletAddress: shown,
    amountRaw: String(event.assets),
    rule,
    restsOn: restsOn.filter((each) => !(each === 'trace' && isDirect) && !(each === 'state' && isCaller)),
    kind: event.kind,
    vault: getAddress(vault),
    proved: [
      ...['logIndex', 'amountRaw', 'kind', 'vault'],
      ...(isCaller ? ['walletAddress'] : []),
      ...(isDirect ? ['distributorId'] : []),
    ],
  }
}
