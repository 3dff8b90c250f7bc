import { TypeOverrides, types } from 'pg'

type Read = (text: string) => unknown

/**
 * How columns read: `bigint` as a number, `numeric` as text, so that amounts go through BigInt and never through a float;
 * an instant as a Date; JSON parsed; bytes as a Buffer; arrays likewise, item by item. Whatever is not named is text.
 */
export const columnTypes = new TypeOverrides(types)

const textArray: number = 1009
const readTexts = types.getTypeParser(textArray, 'text') as (text: string) => (string | null)[]
const readEach = (read: Read) => (text: string) => readTexts(text).map((item) => (item === null ? null : read(item)))

const readers: [oid: number, read: Read, arrayOid: number][] = [
  [20, readBigint, 1016],
  [1700, (text) => text, 1231],
  [19, (text) => text, 1003],
  [1184, readInstant, 1185],
]
for (const [oid, read, arrayOid] of readers) {
  columnTypes.setTypeParser(oid, read)
  columnTypes.setTypeParser(arrayOid, readEach(read))
}

function readBigint(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`a bigint column holds ${text}, beyond 2^53`)
  return value
}

const readAnyInstant = types.getTypeParser(1184, 'text') as (text: string) => unknown

/** Sessions are in UTC, so nearly every instant is `2026-01-01 00:00:00.123456+00`. */
function readInstant(text: string): unknown {
  if (!text.endsWith('+00')) return readAnyInstant(text)
  const at = new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`)
  return Number.isNaN(at.getTime()) ? readAnyInstant(text) : at
}
