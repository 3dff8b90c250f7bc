/**
 * The differences that an import makes in the catalogue, entry by entry: the look that the log of changes takes before and after a
 * command, and its imports as an operator reads them.
 */
export { lookAtCatalogue, tellImports } from './imports.js'
