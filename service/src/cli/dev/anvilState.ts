import { copyFile, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Clock } from '../../kernel/clock.js'

/** Where anvil keeps its chain. It writes the file in place, so a kill may leave it half-written. */
export const statePath = (folder: string) => join(folder, 'state.json')
const copyPath = (folder: string) => join(folder, 'state.kept.json')

const copyEveryMs = 30_000
/** Folders whose state is being copied: that of a long chain takes longer than the wait between two calls. */
const copying = new Set<string>()

/** Copies a whole state aside now and then; does nothing while that is under way. */
export async function keepStateCopy(folder: string, clock: Clock): Promise<void> {
  if (copying.has(folder)) return
  copying.add(folder)
  await copyWhole(folder, clock).finally(() => copying.delete(folder))
}

async function copyWhole(folder: string, clock: Clock): Promise<void> {
  const found = await modifiedMs(statePath(folder))
  const kept = (await modifiedMs(copyPath(folder))) ?? 0
  if (found === undefined || found <= kept || clock.now().getTime() - kept < copyEveryMs) return
  if (!(await endsWhole(statePath(folder)))) return
  const half = `${copyPath(folder)}.copied`
  await copyFile(statePath(folder), half)
  if (await endsWhole(half)) await rename(half, copyPath(folder))
}

/** Puts the copy in the place of a state that is half-written, or nothing where there is no copy. True when it did. */
export async function restoreState(folder: string): Promise<boolean> {
  const isThere = (await modifiedMs(statePath(folder))) !== undefined
  if (isThere && (await isWhole(statePath(folder)))) return false
  if (await isWhole(copyPath(folder))) await copyFile(copyPath(folder), statePath(folder))
  else await rm(statePath(folder), { force: true })
  return isThere
}

/** Writes what the node has now, at once: it writes by itself every few seconds only. */
export async function writeState(folder: string, chain: { request(method: string): Promise<unknown> }): Promise<void> {
  const dump = Buffer.from(String(await chain.request('anvil_dumpState')).slice(2), 'hex')
  const state = await promisify(gunzip)(dump)
  for (const path of [copyPath(folder), statePath(folder)]) {
    await writeFile(`${path}.half`, state)
    await rename(`${path}.half`, path)
  }
}

async function modifiedMs(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.mtimeMs
}

async function isWhole(path: string): Promise<boolean> {
  try {
    return typeof JSON.parse(await readFile(path, 'utf8')) === 'object'
  } catch {
    // Not there, or half-written.
    return false
  }
}

/** A look at the last byte, which is all a file written from front to end lacks when it is not whole. */
async function endsWhole(path: string): Promise<boolean> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1))
    return size > 0 && buffer.toString() === '}'
  } finally {
    await file.close()
  }
}
