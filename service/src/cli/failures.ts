import { CatalogueImportError } from '../features/catalogue/import/index.js'
import { ConfigError } from '../kernel/config.js'
import { EarnError } from '../kernel/errors.js'
import { redactUrls } from '../kernel/log.js'
import { MigrationError } from '../postgres/migrate.js'
import { explainRefusal, isReadOnly } from '../postgres/pool.js'
import { Stopping } from '../server/shutdown.js'

/** Failures whose message was written for the person at the terminal. */
const sayable = [ConfigError, EarnError, CatalogueImportError, MigrationError]

/** Whether the process was told to stop while it started. */
export const isAbandoned = (error: unknown): boolean => error instanceof Stopping

/**
 * The sentence for a command that failed, without urls, and the code the process ends with: 2 where a person has to change
 * something first, 1 where the same call may succeed later.
 */
export function sentenceOf(error: unknown): { text: string; code: 1 | 2 } {
  const refusal = explainRefusal(error)
  // A replica may be made the primary, so a supervisor should try again.
  if (refusal !== undefined) return { text: redactUrls(refusal), code: isReadOnly(error) ? 1 : 2 }
  if (!(error instanceof Error)) return { text: redactUrls(String(error)), code: 1 }
  const said = sayable.some((kind) => error instanceof kind)
  return { text: redactUrls(said ? error.message : `${error.name}: ${error.message}`), code: said ? 2 : 1 }
}
