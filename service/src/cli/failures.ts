import { CatalogueImportError } from '../features/catalogue/import/index.js'
import { ConfigError } from '../kernel/config.js'
import { EarnError } from '../kernel/errors.js'
import { redactUrls } from '../kernel/log.js'
import { Stopping } from '../kernel/shutdown.js'
import { MigrationError } from '../postgres/migrate.js'
import { explainRefusal } from '../postgres/pool.js'

/** Failures whose message was written for the person at the terminal. */
const sayable = [ConfigError, EarnError, CatalogueImportError, MigrationError]

/** Whether the process was told to stop while it started. */
export const isAbandoned = (error: unknown): boolean => error instanceof Stopping

/** The sentence for a command that failed, without urls; `said` where the failure was written for a person. */
export function sentenceOf(error: unknown): { text: string; said: boolean } {
  const refusal = explainRefusal(error)
  if (refusal !== undefined) return { text: redactUrls(refusal), said: true }
  if (!(error instanceof Error)) return { text: redactUrls(String(error)), said: false }
  const said = sayable.some((kind) => error instanceof kind)
  return { text: redactUrls(said ? error.message : `${error.name}: ${error.message}`), said }
}
