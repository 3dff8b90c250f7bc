import { contains, type Digits, sizeOf, slice, textOf } from './bytes.js'
import { readCbor, type Value } from './cbor.js'

/** What one suffix behind a call says (STANDARDS §1, §2; SEMANTICS §2 *What we write*). */
export type Suffix = {
  kind: 'erc8021' | 'legacy'
  bytes: Digits
  /** Codes that may name a distributor, in the order in which they are looked at. */
  codes: string[]
  /** What we write beside the code; undefined where the suffix is not of our form. */
  ours: { actionId: Digits; referralCode: string; swaps: boolean; signature: Digits | undefined } | undefined
}
export type Tail = { suffixes: Suffix[]; data: Digits; problem: string | undefined }

const marker = '80218021802180218021802180218021'
const mostSuffixes = 8

const tails = new Map<Digits, Tail>()

/** All suffixes of a call's data, outermost first, and the data without them; remembered. */
export function readTail(input: Digits): Tail {
  const known = tails.get(input)
  if (known) return known
  if (tails.size > 5_000) tails.clear()
  const tail = readAll(input)
  tails.set(input, tail)
  return tail
}

function readAll(input: Digits): Tail {
  const suffixes: Suffix[] = []
  let data = input
  for (let count = 0; count < mostSuffixes; count += 1) {
    const read = readOutermost(data)
    if (read === undefined) return addLegacy(suffixes, data)
    if ('problem' in read) return { suffixes, data, problem: read.problem }
    suffixes.push(read.suffix)
    data = slice(data, 0, sizeOf(data) - sizeOf(read.suffix.bytes))
  }
  return addLegacy(suffixes, data)
}

type One = { suffix: Suffix } | { problem: string } | undefined

function readOutermost(data: Digits): One {
  if (!data.endsWith(marker)) return undefined
  if (sizeOf(data) < 17) return { problem: 'no schema' }
  const rest = slice(data, 0, sizeOf(data) - 17)
  const schema = Number.parseInt(slice(data, sizeOf(data) - 17, sizeOf(data) - 16), 16)
  if (schema === 0 || schema === 1) return readCodes(data, rest, schema)
  if (sizeOf(rest) < 2) return { problem: 'truncated' }
  const length = Number.parseInt(slice(rest, sizeOf(rest) - 2), 16)
  if (length + 2 > sizeOf(rest)) return { problem: 'length overruns' }
  const bytes = slice(data, sizeOf(rest) - 2 - length)
  if (schema > 2) return { suffix: { kind: 'erc8021', bytes, codes: [], ours: undefined } }
  return readMap(bytes, slice(rest, sizeOf(rest) - 2 - length, sizeOf(rest) - 2))
}

function readCodes(data: Digits, rest: Digits, schema: 0 | 1): One {
  if (sizeOf(rest) < 1) return { problem: 'truncated' }
  const length = Number.parseInt(slice(rest, sizeOf(rest) - 1), 16)
  if (length + 1 > sizeOf(rest)) return { problem: 'length overruns' }
  let begin = sizeOf(rest) - 1 - length
  const text = Buffer.from(slice(rest, begin, begin + length), 'hex').toString('latin1')
  const codes = text.split(',').filter((code) => code !== '')
  if (!codes.every(isPrintable)) return { problem: 'bad code character' }
  if (schema === 1) {
    if (begin < 1) return { problem: 'truncated' }
    const wide = Number.parseInt(slice(rest, begin - 1, begin), 16)
    if (wide < 1 || wide > 32) return { problem: 'chain id length' }
    begin -= 1 + wide + 20
    if (begin < 0) return { problem: 'registry overruns' }
  }
  return { suffix: { kind: 'erc8021', bytes: slice(data, begin), codes, ours: undefined } }
}

const isPrintable = (code: string): boolean => /^[\x21-\x2b\x2d-\x7e]{1,255}$/.test(code)

function readMap(bytes: Digits, cbor: Digits): One {
  const map = readCbor(cbor)
  if (map?.is !== 'map') return { problem: 'not a map' }
  if (!map.entries.every(([key]) => key.is === 'text')) return { problem: 'a key that is no text' }
  const [a, w, s, m, r] = ['a', 'w', 's', 'm', 'r'].map((name) => memberOf(map, name))
  for (const code of [a, w]) if (code && !(code.is === 'text' && isPrintable(code.text))) return { problem: 'bad code' }
  if (s && !isListOfCodes(s)) return { problem: 'bad services' }
  if (m && m.is !== 'map') return { problem: 'bad metadata' }
  if (r && !isRegistries(r)) return { problem: 'bad registries' }
  const codes = a?.is === 'text' ? [a.text] : w?.is === 'text' ? [w.text, ...textsOf(s)] : textsOf(s)
  return { suffix: { kind: 'erc8021', bytes, codes, ours: m ? readOurs(m) : undefined } }
}

const memberOf = (map: Value, name: string): Value | undefined =>
  map.is === 'map' ? map.entries.find(([key]) => key.is === 'text' && key.text === name)?.[1] : undefined
const textsOf = (value: Value | undefined): string[] =>
  value?.is === 'text' ? [value.text] : value?.is === 'list' ? value.items.flatMap(textsOf) : []
const isListOfCodes = (value: Value): boolean =>
  (value.is === 'text' && isPrintable(value.text)) ||
  (value.is === 'list' && value.items.every((item) => item.is === 'text' && isPrintable(item.text)))

/** `{ a?, w? }`, each `{ c: chain id, a: address }`. */
function isRegistries(value: Value): boolean {
  if (value.is !== 'map') return false
  return ['a', 'w'].every((name) => {
    const one = memberOf(value, name)
    if (!one) return true
    const [chain, address] = [memberOf(one, 'c'), memberOf(one, 'a')]
    const isChain =
      (chain?.is === 'text' && /^0x[0-9a-fA-F]+$/.test(chain.text)) ||
      (chain?.is === 'plain' && typeof chain.value === 'bigint' && chain.value >= 0n)
    return isChain && address?.is === 'text' && /^0x[0-9a-fA-F]{40}$/.test(address.text)
  })
}

function readOurs(m: Value): Suffix['ours'] {
  const [i, r, s, g] = ['i', 'r', 's', 'g'].map((name) => memberOf(m, name))
  if (i?.is !== 'bytes' || sizeOf(i.bytes) !== 16) return undefined
  return {
    actionId: i.bytes,
    referralCode: r?.is === 'text' ? r.text : '',
    swaps: s?.is === 'plain' && s.value === true,
    signature: g?.is === 'bytes' && sizeOf(g.bytes) === 65 ? g.bytes : undefined,
  }
}

/** The tracker of before: `deadbeef`, a tag or one JSON object, perhaps 65 bytes of signature; never in the selector. */
function addLegacy(suffixes: Suffix[], data: Digits): Tail {
  for (let at = sizeOf(data) - 4; at >= 4; at -= 1) {
    if (slice(data, at, at + 4) !== 'deadbeef') continue
    const payload = slice(data, at + 4)
    const id = readPayload(payload) ?? (sizeOf(payload) > 65 ? readPayload(payload.slice(0, -130)) : undefined)
    if (id === undefined) continue
    suffixes.push({ kind: 'legacy', bytes: slice(data, at), codes: [id], ours: undefined })
    return { suffixes, data: slice(data, 0, at), problem: undefined }
  }
  return { suffixes, data, problem: undefined }
}

function readPayload(payload: Digits): string | undefined {
  const text = textOf(payload)
  if (text === undefined || contains(payload, '00')) return undefined
  const tag = /^[a-z0-9-]+:v1:([A-Za-z0-9_-]{1,32}):[^:]*$/.exec(text)
  if (tag) return tag[1]
  if (!text.startsWith('{')) return undefined
  try {
    const parsed: unknown = JSON.parse(text)
    const id = (parsed as { distributorId?: unknown }).distributorId
    return typeof id === 'string' ? id : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
