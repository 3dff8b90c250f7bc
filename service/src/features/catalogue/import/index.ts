/**
 * The catalogue file: how one is read and written to the tables, and how an entry for it is drafted of a probed vault. The
 * commands of an operator and the devnet import by it.
 */
export { describeProbe, draftEntry } from './draftEntry.js'
export { CatalogueImportError, importCatalogue } from './importCatalogue.js'
