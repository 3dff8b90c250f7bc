import { readFile } from 'node:fs/promises'

const manifest = new URL('../../package.json', import.meta.url)

/** The version of this program, as its package says it. */
export async function readVersion(): Promise<string> {
  const { version }: { version: string } = JSON.parse(await readFile(manifest, 'utf8'))
  return version
}
