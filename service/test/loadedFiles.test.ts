import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const main = fileURLToPath(new URL('../dist/program/main.js', import.meta.url))

type Coverage = { result: { url: string }[] }

/** The files that the built program loads until it ends, as Node itself tells them. */
async function listLoaded(words: string[]): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'openearn-loaded-'))
  try {
    const env = { PATH: process.env['PATH'], NODE_V8_COVERAGE: folder }
    await new Promise((resolve) => execFile(process.execPath, [main, ...words], { env }, resolve))
    const texts = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')))
    const urls = texts.flatMap((text) => (JSON.parse(text) as Coverage).result.map(({ url }) => url))
    return urls.filter((url) => url.startsWith('file:'))
  } finally {
    await rm(folder, { recursive: true })
  }
}

it.each(['help', '--version', 'a mistaken call'])(
  'openearn %s loads ten files of its own at most, and none of a package',
  async (word) => {
    const loaded = await listLoaded(word.split(' '))
    expect(loaded.length).toBeGreaterThan(1)
    expect(loaded.length).toBeLessThanOrEqual(10)
    expect(loaded.filter((url) => url.includes('/node_modules/'))).toEqual([])
  },
)
