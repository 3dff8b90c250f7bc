import { maxUint256 } from 'viem'
import { parseDecimal, parseRaw } from '../../kernel/amount.js'
import { parseTs } from '../../kernel/clock.js'
import { invalidArgument } from '../../kernel/errors.js'
import type { AdapterArgs, CustomArgs } from './storeStreams.js'
import type { Adapter, Strategy } from './types.js'

/** The request for a new stream; null is absent. */
export type TermsInput = {
  type: number
  startTimestamp: string
  endTimestamp?: string | null
  totalAmount?: string | null
  rewardTokenId?: string | null
  pointId?: string | null
  walletAddress?: string | null
  customArgs: {
    targetTokenId: string
    tokensPerUSD?: string | number | null
    apr?: string | number | null
    tokensPerDay?: string | number | null
  }
  adapters?: readonly AdapterArgs[] | null
}

export type Terms = {
  type: 1 | 2 | 3
  startsAt: Date
  endsAt: Date | null
  /** Net; null: points without an end to them. */
  total: bigint | null
  rewardTokenId: string | undefined
  pointId: string | undefined
  customArgs: CustomArgs
  adapters: AdapterArgs[]
}

const hourMs = 3_600_000
const daySeconds = 86_400n
const zero = `0x${'0'.repeat(40)}`
/** A rate above this is a slip of the pen: 100,000 % a year. */
const aprMax = 1_000n * 10n ** 18n

const rates = { 1: 'tokensPerUSD', 2: 'apr', 3: 'tokensPerDay' } as const

/** Checks what the schema cannot say of a new stream. Pure. Throws 400. */
export function readTerms(input: TermsInput, now: Date): Terms {
  const { type, startTimestamp, customArgs, adapters } = input
  if (type !== 1 && type !== 2 && type !== 3) throw invalidArgument('type must be 1, 2 or 3')
  const startsAt = readInstant(startTimestamp, 'startTimestamp')
  const endsAt = given(input.endTimestamp) === undefined ? null : readInstant(input.endTimestamp ?? '', 'endTimestamp')
  if (startsAt.getTime() < now.getTime() - hourMs)
    throw invalidArgument('startTimestamp must be at most 1 hour in the past')
  if (endsAt && endsAt.getTime() <= startsAt.getTime())
    throw invalidArgument('endTimestamp must be after startTimestamp')
  if (endsAt && endsAt.getTime() <= now.getTime()) throw invalidArgument('endTimestamp must be in the future')
  const [rewardTokenId, pointId] = [given(input.rewardTokenId), given(input.pointId)]
  if ((rewardTokenId === undefined) === (pointId === undefined))
    throw invalidArgument('give either rewardTokenId or pointId, and not both')
  const kept = keepArgs(customArgs)
  const strategy = readStrategy(type, kept)
  const asked = given(input.totalAmount)
  const total = readTotal(strategy, asked, { startsAt, endsAt, isPoints: pointId !== undefined })
  const listed = (adapters ?? []).map(({ type: name, params }) => ({ type: name, params }))
  for (const adapter of listed) readAdapter(adapter)
  return { type, startsAt, endsAt, total, rewardTokenId, pointId, customArgs: kept, adapters: listed }
}

/** The admin of a token stream. */
export function readAdmin(walletAddress: string | null | undefined): string {
  const admin = given(walletAddress)?.toLowerCase()
  if (admin === undefined) throw invalidArgument('walletAddress, the admin of the stream, is required')
  if (admin === zero) throw invalidArgument('walletAddress must not be the zero address')
  return admin
}

export const isZeroAddress = (address: string): boolean => address.toLowerCase() === zero

/** The fee of the creation or increase of a token stream, in its reward token. */
export function computeFee(net: bigint, isPremium: boolean): bigint {
  return isPremium ? 0n : (net * 15n + 999n) / 1_000n
}

/** The strategy of a stored stream; it was validated before it was stored. */
export function readStrategy(type: 1 | 2 | 3, args: CustomArgs): Strategy {
  const name = rates[type]
  for (const other of Object.values(rates))
    if (other !== name && args[other] !== undefined)
      throw invalidArgument(`customArgs.${other} is of another type of stream: one of type ${type} has ${name}`)
  const given = args[name]
  if (given === undefined) throw invalidArgument(`customArgs.${name} is required for a stream of type ${type}`)
  if (type === 2) return { type, aprE18: readApr(given) }
  const rate = typeof given === 'number' && !Number.isSafeInteger(given) ? undefined : parseRaw(String(given))
  if (rate === undefined || rate === 0n || rate > 10n ** 60n)
    throw invalidArgument(`customArgs.${name} must be a whole number of smallest units, from 1 to 10^60`)
  return type === 1 ? { type, tokensPerUsd: rate } : { type, tokensPerDay: rate }
}

function readApr(value: string | number): bigint {
  const text = typeof value === 'number' ? expand(String(value)) : value
  const fits = /^[0-9]{1,30}(\.[0-9]{1,18})?$/.test(text)
  const apr = fits ? parseDecimal(text, 18) : 0n
  if (apr === 0n || apr > aprMax)
    throw invalidArgument(
      'customArgs.apr must be a fraction above 0 and at most 1000, with at most 18 digits after the point',
    )
  return apr
}

/** A number as JavaScript writes it, without its exponent. */
function expand(text: string): string {
  const match = /^([0-9]+)(?:\.([0-9]+))?e-([0-9]+)$/.exec(text)
  if (!match) return text
  const [, whole = '', fraction = '', exponent = '0'] = match
  return `0.${(whole + fraction).padStart(Number(exponent) - 1 + whole.length + fraction.length, '0')}`
}

function readTotal(
  strategy: Strategy,
  asked: string | undefined,
  { startsAt, endsAt, isPoints }: { startsAt: Date; endsAt: Date | null; isPoints: boolean },
): bigint | null {
  if (strategy.type === 2 && isPoints)
    throw invalidArgument('a stream of a fixed APR pays a token: points have no price')
  if (strategy.type === 3) {
    if (asked !== undefined)
      throw invalidArgument('totalAmount of a daily budget follows from tokensPerDay and the time')
    if (!endsAt) throw invalidArgument('endTimestamp is required for a daily budget')
    const seconds = BigInt(Math.floor((endsAt.getTime() - startsAt.getTime()) / 1_000))
    return readAmount((strategy.tokensPerDay * seconds) / daySeconds, 'what tokensPerDay comes to')
  }
  if (asked === undefined) {
    if (isPoints) return null
    throw invalidArgument('totalAmount is required for a stream that pays a token')
  }
  return readAmount(parseRaw(asked), 'totalAmount')
}

/** An amount that has its fee added: both together must fit the token. */
export function readAmount(amount: bigint | undefined, what: string): bigint {
  if (amount === undefined || amount <= 0n) throw invalidArgument(`${what} must be more than 0`)
  if (amount + computeFee(amount, false) > maxUint256) throw invalidArgument(`${what} with its fee must be below 2^256`)
  return amount
}

function readInstant(text: string, name: string): Date {
  const at = parseTs(text)
  if (!at) throw invalidArgument(`${name} must be an RFC 3339 date-time with Z or an offset`)
  return new Date(Math.floor(at.getTime() / 1_000) * 1_000)
}

function keepArgs(args: TermsInput['customArgs']): CustomArgs {
  const kept: CustomArgs = { targetTokenId: args.targetTokenId.toLowerCase() }
  for (const name of Object.values(rates)) {
    const value = given(args[name])
    if (value !== undefined) kept[name] = value
  }
  return kept
}

const members: Readonly<Record<string, readonly string[]>> = {
  allowlist: ['wallets'],
  blocklist: ['wallets'],
  boost: ['multiplierBps', 'wallets', 'distributorIds'],
  'min-balance': ['shares'],
}

/** An adapter as accrual takes it. Throws 400 for a type or member there is not. */
export function readAdapter({ type, params }: AdapterArgs): Adapter {
  const known = Object.hasOwn(members, type) ? members[type] : undefined
  if (!known) throw invalidArgument(`adapters: there is no type "${type}"; use ${Object.keys(members).join(', ')}`)
  const stranger = Object.keys(params).find((name) => !known.includes(name))
  if (stranger !== undefined) throw invalidArgument(`adapters: ${type} has no member "${stranger}"`)
  if (type === 'min-balance') {
    const { shares } = params
    const floor = typeof shares === 'string' ? parseRaw(shares) : undefined
    if (floor === undefined) throw invalidArgument('adapters: shares of min-balance must be a text of decimal digits')
    return { type, shares: floor }
  }
  if (type !== 'boost') {
    const wallets = readList(params, 'wallets', walletForm, 1_000)
    if (!wallets) throw invalidArgument(`adapters: ${type} needs wallets`)
    return { type: type === 'allowlist' ? 'allowlist' : 'blocklist', wallets: wallets.map(lower) }
  }
  const { multiplierBps } = params
  const isWhole = typeof multiplierBps === 'number' && Number.isInteger(multiplierBps)
  if (!isWhole || multiplierBps < 1 || multiplierBps > 100_000)
    throw invalidArgument('adapters: multiplierBps of boost must be a whole number from 1 to 100000')
  const wallets = readList(params, 'wallets', walletForm, 1_000)
  const distributorIds = readList(params, 'distributorIds', /^[A-Za-z0-9_-]{1,32}$/, 200)
  return { type, multiplierBps, wallets: wallets?.map(lower), distributorIds }
}

const walletForm = /^0[xX][0-9a-fA-F]{40}$/
const lower = (text: string): string => text.toLowerCase()

function readList(params: Record<string, unknown>, name: string, form: RegExp, max: number): string[] | undefined {
  const value = params[name]
  if (value === undefined) return undefined
  const isList = Array.isArray(value) && value.length > 0 && value.length <= max
  if (!isList || !value.every((each) => typeof each === 'string' && form.test(each)))
    throw invalidArgument(`adapters: ${name} must be a list of 1 to ${max} of them, each well-formed`)
  return [...new Set(value as string[])]
}

const given = <V>(value: V | null | undefined): V | undefined => value ?? undefined
