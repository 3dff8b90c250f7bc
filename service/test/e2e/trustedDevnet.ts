import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Trust } from '@openearn/sdk'
import { type Dev, makeFolder, runOpenEarn, type Started, startDevnet } from './process.js'

export type TrustedDevnet = {
  dataDir: string
  devnet: Started & { dev: Dev }
  /** The addresses that its operator vouches for, as `openearn trust export` writes them. */
  trust: Trust
  close(): Promise<void>
}

/** A devnet in a folder of its own, and what an app brings along of it. */
export async function startTrustedDevnet(prefix: string): Promise<TrustedDevnet> {
  const dataDir = await makeFolder(prefix)
  const devnet = await startDevnet(dataDir)
  const close = async () => {
    await devnet.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
  try {
    const file = join(dataDir, 'trust.json')
    await runOpenEarn(['trust', 'export', file], { OPENEARN_DATA_DIR: dataDir })
    const trust: Trust = JSON.parse(await readFile(file, 'utf8'))
    return { dataDir, devnet, trust, close }
  } catch (error) {
    await close()
    throw error
  }
}
