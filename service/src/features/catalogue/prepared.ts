import { PreparedBody } from '../../kernel/operation.js'
import type { CatalogueSnapshot } from './snapshot.js'

/** What a snapshot keeps of answers given, least recently used first. */
type Kept = { bodies: Map<string, PreparedBody>; bytes: number }

const bodiesMax = 10_000
const bytesMax = 32 * 1024 * 1024

const kept = new WeakMap<CatalogueSnapshot, Kept>()

/**
 * The answer to a question asked of a snapshot; made once and given again, the same object, until it is pushed out by
 * others or the snapshot goes. `name` says the whole question.
 */
export function prepare(snapshot: CatalogueSnapshot, name: string, make: () => PreparedBody): PreparedBody {
  const memory = kept.get(snapshot) ?? { bodies: new Map<string, PreparedBody>(), bytes: 0 }
  kept.set(snapshot, memory)
  const known = memory.bodies.get(name)
  if (known) {
    memory.bodies.delete(name)
    memory.bodies.set(name, known)
    return known
  }
  const body = make()
  memory.bodies.set(name, body)
  memory.bytes += sizeOf(name, body)
  for (const [oldest, old] of memory.bodies) {
    if (memory.bodies.size <= bodiesMax && memory.bytes <= bytesMax) break
    memory.bodies.delete(oldest)
    memory.bytes -= sizeOf(oldest, old)
  }
  return body
}

/**
 * About the bytes an entry takes: its name, its parts (a page's belong to its items, which are there anyway) and its
 * compressed forms, an eighth of the whole.
 */
function sizeOf(name: string, { parts }: PreparedBody): number {
  const bytes = parts.reduce((sum, part) => sum + part.byteLength, 0)
  return 2 * name.length + 64 * parts.length + (parts.length === 1 ? bytes : 0) + bytes / 8
}

/** A JSON answer to a question whose whole input is `input`. */
export function prepareJson(snapshot: CatalogueSnapshot, operation: string, input: object, make: () => unknown) {
  return prepare(snapshot, nameOf(operation, input), () => new PreparedBody([Buffer.from(JSON.stringify(make()))]))
}

/** Members of a parsed input stand in the order of their schema, so equal questions have equal names. */
export function nameOf(operation: string, input: object): string {
  return `${operation} ${JSON.stringify(input)}`
}
