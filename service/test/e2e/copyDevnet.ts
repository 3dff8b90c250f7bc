import { spawnSync } from 'node:child_process'
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { inject } from 'vitest'
import { until } from '../../../contracts/test/until.js'
import { allThere } from '../../src/cli/dev/reading.js'
import type { Dev, Started } from './started.js'

/** Starts a new devnet in a folder. */
type StartNew = (folder: string) => Promise<Started & { dev: Dev }>

const looksMax = 12_000

/**
 * Fills a data folder with a devnet whose sixty days were played and read: the first file of a run that asks makes it, the others
 * get copies. A devnet that starts on it has no state of blocks before that start: whatever is not read by then never will be, and
 * tests that read the past of the chain start a new one.
 */
export async function copyDevnet(dataDir: string, startNew: StartNew): Promise<void> {
  const kept = join(inject('devnets'), 'kept')
  const failed = join(inject('devnets'), 'failed')
  if (await isFirst(join(inject('devnets'), 'begun')))
    await makeDevnet(kept, startNew).catch(async (error: unknown) => {
      await writeFile(failed, '')
      throw error
    })
  await until(
    'the devnet that the files of this run share',
    async () => {
      if (await isThere(failed)) throw new Error('another test file could not make it; see there')
      return isThere(kept)
    },
    looksMax,
  )
  await mkdir(dirname(dataDir), { recursive: true })
  // The files of the database belong to the user its server runs as.
  const { status, stderr } = spawnSync('cp', ['-a', `${kept}/.`, dataDir], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`the devnet could not be copied: ${stderr}`)
}

const isThere = async (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

async function isFirst(path: string): Promise<boolean> {
  return mkdir(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return false
      throw error
    },
  )
}

async function makeDevnet(kept: string, startNew: StartNew): Promise<void> {
  const folder = `${kept}.making`
  const devnet = await startNew(folder)
  try {
    await until('its past to be read', () => devnet.output().includes(allThere), looksMax)
  } finally {
    await devnet.stop()
  }
  // Old states, which a chain that starts anew does not use.
  await rm(join(folder, 'anvil', 'cache'), { recursive: true, force: true })
  await rename(folder, kept)
}
