import { readFile } from 'node:fs/promises'
import { openFastSign } from '../features/plans/index.js'
import type { Clock } from '../kernel/clock.js'
import { type Config, ConfigError, isPrivateKey } from '../kernel/config.js'
import type { Outbound } from '../kernel/outbound.js'
import { createKeySigner, createRemoteSigner, type Signer } from '../rpc/signer.js'

/** The key that signs attributions: of the environment, of a file, or elsewhere. Undefined where none is configured. */
export async function openAttributionSigner(
  config: Pick<Config, 'attributionKey' | 'attributionKeyFile' | 'attributionSigner'>,
  io: { outbound: Outbound; clock: Clock },
): Promise<Signer | undefined> {
  const { attributionKey, attributionKeyFile, attributionSigner } = config
  if (attributionSigner) return createRemoteSigner(attributionSigner, io)
  const key = attributionKeyFile === undefined ? attributionKey : await readKey(attributionKeyFile)
  return key && createKeySigner(key, openFastSign())
}

async function readKey(file: string): Promise<`0x${string}`> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new ConfigError(`ATTRIBUTION_KEY_FILE: ${file} cannot be read (${error.code})`)
  })
  const key = text.trim()
  if (!isPrivateKey(key)) throw new ConfigError(`ATTRIBUTION_KEY_FILE: ${file} does not hold 0x and 64 hex digits`)
  return key
}
