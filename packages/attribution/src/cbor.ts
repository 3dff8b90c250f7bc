import { type DecodeOptions, decode, encode, type Token, Tokenizer, Type } from 'cborg'
import { parseUtf8, plainBytes } from './bytes.js'

/** The value of a CBOR item: maps keep their order and their keys, byte strings stay bytes. */
export type CborValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | undefined
  | Uint8Array
  | CborValue[]
  | Map<CborValue, CborValue>

/** Deeper than any map someone writes on purpose, far from what the stack of the reader holds. */
const depthMax = 512

const options: DecodeOptions = {
  useMaps: true,
  rejectDuplicateMapKeys: true,
  retainStringBytes: true,
  allowBigInt: true,
  allowIndefinite: true,
}

/** A container whose items are still being read. `left` counts items (a map entry is two), Infinity when a break ends it. */
type Open = { isMap: boolean; left: number; read: number }

/**
 * One CBOR item (RFC 8949) that fills `bytes` exactly: maps become Map, byte strings Uint8Array, integers beyond 2^53
 * bigint. Undefined when it is anything else: truncated, followed by more bytes, a repeated map key, text that is not
 * UTF-8, a chunked string, a tag, a break out of place, or more than 512 containers inside each other.
 */
export function decodeCbor(bytes: Uint8Array): { value: CborValue } | undefined {
  try {
    return { value: decode(bytes, { ...options, tokenizer: guardedTokenizer(plainBytes(bytes)) }) }
  } catch (error) {
    // The reader reports every defect of the bytes by throwing; nothing else can go wrong on bytes we hold.
    if (error instanceof Error) return undefined
    throw error
  }
}

/** CBOR of a value with the shortest lengths and keys ordered by length, then bytes. */
export function encodeCbor(value: unknown): Uint8Array {
  return plainBytes(encode(value))
}

/**
 * The token reader of cborg with what it leaves to its caller: depth, UTF-8, the byte order mark, and breaks, which it
 * would otherwise hand out as the value of a map entry.
 */
function guardedTokenizer(bytes: Uint8Array) {
  const inner = new Tokenizer(bytes, options)
  const open: Open[] = []

  const itemRead = () => {
    for (let top = open.at(-1); top; top = open.at(-1)) {
      top.read += 1
      if (top.read < top.left) return
      // A finished container is itself one item of the one around it.
      open.pop()
    }
  }

  const next = (): Token => {
    const token = inner.next()
    if (Type.equals(token.type, Type.break)) {
      const top = open.pop()
      if (top?.left !== Number.POSITIVE_INFINITY || (top.isMap && top.read % 2 === 1))
        throw new RangeError('stray break')
      itemRead()
      return token
    }
    if (Type.equals(token.type, Type.array) || Type.equals(token.type, Type.map)) {
      const isMap = Type.equals(token.type, Type.map)
      const left = Number(token.value) * (isMap ? 2 : 1)
      if (left === 0) itemRead()
      else open.push({ isMap, left, read: 0 })
      if (open.length > depthMax) throw new RangeError('too deep')
      return token
    }
    if (Type.equals(token.type, Type.string) && token.byteValue !== undefined) {
      const text = parseUtf8(token.byteValue)
      if (text === undefined) throw new RangeError('not UTF-8')
      token.value = text
    }
    itemRead()
    return token
  }

  return { next, done: () => inner.done(), pos: () => inner.pos() }
}
