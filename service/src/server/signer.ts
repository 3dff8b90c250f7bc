import { readFile } from 'node:fs/promises'
import type { Clock } from '../kernel/clock.js'
import { type Config, ConfigError, isPrivateKey } from '../kernel/config.js'
import type { Outbound } from '../kernel/outbound.js'
import { createKeySigner, createRemoteSigner, type Signer } from '../rpc/signer.js'
import { openFastSign } from './fastSign.js'

type Io = { outbound: Outbound; clock: Clock }

/** The key that signs attributions: from the environment, a file, or a remote signer. Undefined if it is not configured. */
export function openAttributionSigner(
  config: Pick<Config, 'attributionKey' | 'attributionKeyFile' | 'attributionSigner'>,
  io: Io,
): Promise<Signer | undefined> {
  const { attributionKey: key, attributionKeyFile: keyFile, attributionSigner: remote } = config
  return openSigner({ name: 'ATTRIBUTION', key, keyFile, remote }, io)
}

/** The keys of reward streams: of creations and increases, and of withdrawals, the same unless set. */
export async function openStreamSigners(
  { streamsKey, withdrawalsKey }: Pick<Config, 'streamsKey' | 'withdrawalsKey'>,
  io: Io,
): Promise<{ streamsSigner: Signer | undefined; withdrawalsSigner: Signer | undefined }> {
  const streamsSigner = await openSigner(streamsKey, io)
  return { streamsSigner, withdrawalsSigner: (await openSigner(withdrawalsKey, io)) ?? streamsSigner }
}

/** A key by its settings; undefined without settings. */
export async function openSigner(
  { name, key, keyFile, remote }: Config['streamsKey'],
  io: Io,
): Promise<Signer | undefined> {
  if (remote) return createRemoteSigner(remote, io)
  const own = keyFile === undefined ? key : await readKey(name, keyFile)
  return own && createKeySigner(own, openFastSign())
}

async function readKey(name: string, file: string): Promise<`0x${string}`> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new ConfigError(`${name}_KEY_FILE: ${file} cannot be read (${error.code})`)
  })
  const key = text.trim()
  if (!isPrivateKey(key)) throw new ConfigError(`${name}_KEY_FILE: ${file} does not hold 0x and 64 hex digits`)
  return key
}
