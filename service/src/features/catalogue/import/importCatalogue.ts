import type { Context } from '../../../postgres/context.js'
import { inTransaction, isUniqueViolation, type Transaction } from '../../../postgres/pool.js'
import { recordPeg, recordPegEnds } from '../../../prices/index.js'
import { bumpVersion } from '../store.js'
import { isCatalogueFile, listShapeProblems } from './catalogueFile.js'
import { JsonSyntaxError, type LocatedJson, parseLocatedJson } from './locatedJson.js'
import { formatPath, type ImportRows, type Problem, resolveFile } from './resolveFile.js'
import { readKnown, writeCatalogue } from './storeImport.js'

export type ImportProblem = { line: number; path: string; message: string }

/** A catalogue file that cannot be imported: every problem with its line and the path inside the file. */
export class CatalogueImportError extends Error {
  override readonly name = 'CatalogueImportError'
  constructor(
    readonly fileName: string,
    readonly problems: readonly ImportProblem[],
    options?: ErrorOptions,
  ) {
    super(
      problems.map(({ line, path, message }) => `${fileName}:${line}: ${path ? `${path}: ` : ''}${message}`).join('\n'),
      options,
    )
  }
}

/** How many entries of each kind an import wrote. */
export type ImportCounts = {
  organizations: number
  chains: number
  tokens: number
  opportunities: number
  products: number
  distributors: number
}

/**
 * Imports a catalogue file (docs/catalogue.md) in one transaction: all of it or nothing. Entries are created or
 * replaced by id; pegs become price observations; every process swaps its snapshot. Throws a CatalogueImportError.
 */
export async function importCatalogue(
  ctx: Pick<Context, 'db' | 'clock'>,
  text: string,
  options: { fileName?: string } = {},
): Promise<ImportCounts> {
  const fileName = options.fileName ?? 'catalogue'
  const located = parse(text, fileName)
  const { value } = located
  if (!isCatalogueFile(value)) throw refuse(fileName, located, listShapeProblems(value))
  try {
    return await inTransaction(ctx.db, async (tx: Transaction) => {
      const { rows, pegs, problems } = resolveFile(value, await readKnown(tx))
      if (problems.length > 0) throw refuse(fileName, located, problems)
      await writeCatalogue(tx, rows, ctx.clock.now())
      const now = ctx.clock.now()
      for (const peg of pegs) await recordPeg({ db: tx }, peg, peg.priceUsd, now)
      await recordPegEnds({ db: tx }, listUnpegged(rows), now)
      await bumpVersion(tx)
      return countRows(rows)
    })
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    const message = 'an id or slug of the file is in use by another entry; give it another, or import in two steps'
    throw new CatalogueImportError(fileName, [{ line: 1, path: '', message }], { cause: error })
  }
}

/** Tokens of the file that have no fixed price. */
function listUnpegged({ tokens }: ImportRows): { chainId: number; address: string }[] {
  const unpegged = tokens.filter(({ pegUsd }) => pegUsd === undefined)
  return unpegged.map(({ chainId, address }) => ({ chainId: Number(chainId), address: String(address) }))
}

function countRows(rows: ImportRows): ImportCounts {
  return {
    organizations: rows.organizations.length,
    chains: rows.chains.length,
    tokens: rows.tokens.length,
    opportunities: rows.opportunities.length,
    products: rows.products.length,
    distributors: rows.distributors.length,
  }
}

function parse(text: string, fileName: string): LocatedJson {
  try {
    return parseLocatedJson(text)
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw new CatalogueImportError(fileName, [{ line: error.line, path: '', message: error.message }])
  }
}

const problemsMax = 50

function refuse(fileName: string, located: LocatedJson, problems: readonly Problem[]): CatalogueImportError {
  const shown = problems
    .map(({ pointer, message }) => ({ line: located.lineOf(pointer), path: formatPath(pointer), message }))
    .sort((a, b) => a.line - b.line)
  return new CatalogueImportError(fileName, shown.slice(0, problemsMax))
}
