import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { systemClock } from '../../kernel/clock.js'
import { keepStateCopy, statePath } from './anvilState.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'openearn-state-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

it('a copy of the state that takes longer than the wait for the next is made once and whole', async () => {
  const state = `{"accounts":"${'0'.repeat(1 << 24)}"}`
  await writeFile(statePath(folder), state)
  await Promise.all(Array.from({ length: 5 }, () => keepStateCopy(folder, systemClock)))
  expect(await readFile(join(folder, 'state.kept.json'), 'utf8')).toBe(state)
  expect((await readdir(folder)).sort()).toEqual(['state.json', 'state.kept.json'])
})
