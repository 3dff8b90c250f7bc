import { type Address, getAddress, type Hex } from 'viem'

/**
 * Readers of unknown values. They never call a method of the value, and never put a text of unknown length into a problem. Some
 * throw if a proxy does: the caller catches once.
 */

export type Complain = (problem: string) => void

/** Whether a response is an object as in JSON: neither a list nor null. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A member of the caller's own value; undefined if that is not an object. */
export function getMember(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined
}

/**
 * A member of a service's response: data of the object itself. A getter may return something else the next time and is not
 * called; inherited members are not sent to a wallet by every program.
 */
export function getOwnMember(value: object, name: PropertyKey): unknown {
  return Reflect.getOwnPropertyDescriptor(value, name)?.value
}

/** The items of a list in a response, at most `countMax`; undefined if it is not a list, is longer, or has other members. */
export function readList(value: unknown, countMax: number): readonly unknown[] | undefined {
  if (!Array.isArray(value)) return undefined
  const length = Number(getOwnMember(value, 'length'))
  // Its members and its length.
  if (length > countMax || Reflect.ownKeys(value).length !== length + 1) return undefined
  return Array.from({ length }, (_, at) => getOwnMember(value, String(at)))
}

/** Prototypes deeper than this are no prototypes of data. */
const prototypesMax = 8

/** Lists the members of an object other than the known ones, inherited and hidden ones included; undefined if it has no others. */
export function listOthers(value: object, known: readonly string[]): string | undefined {
  const others: PropertyKey[] = Reflect.ownKeys(value).filter((name) => !isOneOf(known, name))
  let at = Object.getPrototypeOf(value)
  for (let depth = 0; at !== null; depth++) {
    if (depth === prototypesMax) throw new RangeError('there are too many prototypes')
    // Another window's objects inherit from another Object.prototype with the same members.
    for (const name of Reflect.ownKeys(at)) if (!Object.hasOwn(Object.prototype, name)) others.push(name)
    at = Object.getPrototypeOf(at)
  }
  if (others.length === 0) return undefined
  const shown = others.slice(0, 5).map((name) => (typeof name === 'symbol' ? 'a symbol' : quote(name)))
  return others.length > shown.length ? `${shown.join(', ')} and more` : shown.join(', ')
}

const isOneOf = (known: readonly string[], name: PropertyKey): boolean =>
  typeof name === 'string' && known.includes(name)

const quotedMax = 80

/** Something as a problem names it: short, on one line, and without asking it for its text. */
export function quote(value: unknown): string {
  if (typeof value === 'string') {
    const text = value.length > quotedMax ? `${value.slice(0, quotedMax)}…` : value
    return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?')
  }
  if (value === null || ['number', 'boolean', 'undefined'].includes(typeof value)) return String(value)
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** An address in any case of letters, its prefix included. */
export function parseAddress(value: unknown): Address | undefined {
  return typeof value === 'string' && /^0[xX][0-9a-fA-F]{40}$/.test(value) ? getAddress(value.toLowerCase()) : undefined
}

const amountMax = 2n ** 256n

/** A raw amount: an integer as text, below 2^256. */
export function parseRaw(value: unknown): bigint | undefined {
  if (typeof value !== 'string' || !/^[0-9]{1,78}$/.test(value)) return undefined
  const amount = BigInt(value)
  return amount < amountMax ? amount : undefined
}

/** An amount a caller gives: raw, or a bigint. */
export function parseAmount(value: unknown): bigint | undefined {
  if (typeof value !== 'bigint') return parseRaw(value)
  return value >= 0n && value < amountMax ? value : undefined
}

/** Calldata beyond this no node takes into a block. */
const dataBytesMax = 131_072

/** Calldata, lower-case. */
export function parseData(value: unknown): Hex | undefined {
  if (typeof value !== 'string' || value.length % 2 === 1 || value.length > 2 + 2 * dataBytesMax) return undefined
  return /^0x[0-9a-fA-F]*$/.test(value) ? (value.toLowerCase() as Hex) : undefined
}
