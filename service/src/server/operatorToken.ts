import { randomBytes } from 'node:crypto'
import { chmod, link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Config, ConfigError } from '../kernel/config.js'
import type { Log } from '../kernel/log.js'

/** The token that the operator's lists ask for, and where it is kept. `isNew`: it was made just now, so nobody knows it yet. */
export type OperatorToken = { text: string; file: string; isNew: boolean }

/** The settings with an operator's token: their own, else the one kept in the data folder. `made`: nobody knows it yet. */
export async function withOperatorToken(config: Config, log: Log): Promise<{ config: Config; made?: OperatorToken }> {
  if (config.operatorToken !== undefined) return { config }
  const token = await openOperatorToken(config, log)
  if (!token) return { config }
  return { config: { ...config, operatorToken: token.text }, ...(token.isNew ? { made: token } : {}) }
}

/**
 * The token of an installation whose settings name none: 256 random bits, made at its first start and kept in the data folder,
 * where only its owner reads it. Undefined, with a warning, where nothing can be written there. @throws ConfigError where the
 * file holds something else.
 */
export async function openOperatorToken(
  { dataDir }: Pick<Config, 'dataDir'>,
  log: Log,
): Promise<OperatorToken | undefined> {
  const file = join(dataDir, 'operator-token')
  try {
    const isNew = !(await isThere(file)) && (await make(file, dataDir))
    // A copy or an editor may have changed its mode.
    if (((await stat(file)).mode & 0o077) !== 0) await chmod(file, 0o600)
    const text = (await readFile(file, 'utf8')).trim()
    if (/^[!-~]{32,}$/.test(text)) return { text, file, isNew }
  } catch (error) {
    log.warn({ err: error }, `no operator token: ${file} cannot be written or read; make it so, or set OPERATOR_TOKEN`)
    return undefined
  }
  throw new ConfigError(
    `${file} does not hold at least 32 visible characters of ASCII: remove it, and the next start makes a new token`,
  )
}

const isThere = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false
      throw error
    },
  )

/** Processes of one folder may start at once: the file comes there whole, and the first of them counts. */
async function make(file: string, folder: string): Promise<boolean> {
  await mkdir(folder, { recursive: true })
  const text = randomBytes(32).toString('base64url')
  const own = `${file}.${randomBytes(8).toString('hex')}`
  await writeFile(own, `${text}\n`, { mode: 0o600 })
  try {
    await link(own, file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    await rm(own)
  }
}
