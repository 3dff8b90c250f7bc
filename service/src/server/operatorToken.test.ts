import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Log, silentLog } from '../kernel/log.js'
import { openOperatorToken } from './operatorToken.js'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'openearn-token-'))
})
afterEach(() => rm(folder, { recursive: true }))

const open = (log: Log = silentLog, dataDir = join(folder, 'data')) => openOperatorToken({ dataDir }, log)

it('a token is made once, in a file that only its owner reads, and is the same at each later start', async () => {
  const made = await open()
  expect(made).toEqual({
    text: expect.stringMatching(/^[\w-]{43}$/),
    file: join(folder, 'data/operator-token'),
    isNew: true,
  })
  expect((await stat(made!.file)).mode & 0o777).toBe(0o600)
  expect(await open()).toEqual({ ...made, isNew: false })
  expect(await readdir(join(folder, 'data'))).toEqual(['operator-token'])
})

it('processes that start at once on one folder have one token, of which one says that it is new', async () => {
  const opened = await Promise.all(Array.from({ length: 8 }, () => open()))
  expect(new Set(opened.map((each) => each?.text)).size).toBe(1)
  expect(opened.filter((each) => each?.isNew)).toHaveLength(1)
})

it('a file that others may read is taken from them, and one that holds no token stops the start', async () => {
  const { file } = (await open())!
  await writeFile(file, `${'t'.repeat(32)}\n`, { mode: 0o644 })
  expect(await open()).toMatchObject({ text: 't'.repeat(32), isNew: false })
  expect((await stat(file)).mode & 0o077).toBe(0)
  await writeFile(file, 'short')
  await expect(open()).rejects.toThrow(
    'operator-token does not hold at least 32 visible characters of ASCII: remove it',
  )
  expect(await readFile(file, 'utf8')).toBe('short')
})

it('a folder that cannot be written is told of, and the service goes on without a token', async () => {
  await writeFile(join(folder, 'file'), '')
  const warned: unknown[] = []
  const log = { ...silentLog, warn: (...words: unknown[]) => warned.push(words.at(-1)) } as never
  expect(await open(log, join(folder, 'file'))).toBeUndefined()
  expect(warned).toEqual([expect.stringMatching(/^no operator token: .*set OPERATOR_TOKEN$/)])
})
