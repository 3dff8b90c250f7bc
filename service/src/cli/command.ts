import { type Change, type Recorder, recordChanges } from '../features/audit/operator.js'
import { formatHint } from '../features/auth/index.js'
import { systemClock } from '../kernel/clock.js'
import { type Config, parseConfig, readEnv } from '../kernel/config.js'
import { openLog, redactUrls } from '../kernel/log.js'
import type { Context } from '../postgres/context.js'
import { isDatabaseUnavailable } from '../postgres/pool.js'
import { openCommandDatabase } from '../server/database.js'
import { findOsUser } from '../server/osUser.js'
import { createShutdown } from '../server/shutdown.js'

export function readConfig(): Config {
  return parseConfig(readEnv())
}

/** A key's text among words. */
const keyPattern = /\b[ps]k_live_[0-9A-Za-z]{38}\b/g

/**
 * The context of a command that changes something: its transactions also record the change and the user who ran it. `look`
 * reads the changed object.
 */
export function changing(
  ctx: Context,
  words: readonly string[],
  look: Change['look'],
  options: { always?: boolean } = {},
): Context & Pick<Recorder, 'conclude'> {
  const command = words
    .map((word) => redactUrls(word).replace(keyPattern, formatHint))
    .map((word) => (/\s/.test(word) ? JSON.stringify(word) : word))
    .join(' ')
  return { ...ctx, ...recordChanges(ctx, { osUser: findOsUser(), command, look, ...options }) }
}

/**
 * Opens the database, brings it up to this program unless told to leave it, runs the work, closes everything again,
 * whatever happens.
 */
export async function withContext(
  work: (ctx: Context) => Promise<void>,
  options: { asItIs?: boolean; mayMake?: boolean } = {},
): Promise<void> {
  const config = readConfig()
  const log = openLog({ level: 'warn', pretty: true })
  const shutdown = createShutdown(log, isDatabaseUnavailable)
  try {
    const db = await openCommandDatabase(config, log, shutdown, options)
    await work({ db, config, log, clock: systemClock })
  } finally {
    await shutdown.stop()
  }
}
