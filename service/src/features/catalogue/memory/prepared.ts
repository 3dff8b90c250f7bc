import { PreparedBody } from '../../../kernel/operation.js'
import type { CatalogueContext } from '../catalogue.js'

/**
 * The answer to a question asked of the catalogue as it stands; made once and given again, the same object, until it is
 * pushed out by others or the catalogue changes. `name` says the whole question; `make` does not wait, so that the
 * answer is of the catalogue it is kept under.
 */
export function prepare({ catalogue }: CatalogueContext, name: string, make: () => PreparedBody): PreparedBody {
  const known = catalogue.prepared.find(name)
  if (known) return known
  const body = make()
  catalogue.prepared.keep(name, body, sizeOf(body))
  return body
}

/** About the bytes a body takes; the parts of a page belong to its items, which are there anyway. */
function sizeOf({ parts: [first, ...others] }: PreparedBody): number {
  return others.length === 0 ? (first?.byteLength ?? 0) : 16 * (1 + others.length)
}

/** A JSON answer to a question whose whole input is `input`. */
export function prepareJson(ctx: CatalogueContext, operation: string, input: object, make: () => unknown) {
  return prepare(ctx, nameOf(operation, input), () => new PreparedBody([Buffer.from(JSON.stringify(make()))]))
}

/** Members of a parsed input stand in the order of their schema, so equal questions have equal names. */
export function nameOf(operation: string, input: object): string {
  return `${operation} ${JSON.stringify(input)}`
}
