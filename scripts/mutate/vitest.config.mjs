// How the tests of one room run while its files are changed: no PostgreSQL and no chain is started for them.
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer } from 'vitest/node'
import all from '../../vitest.config.ts'
import { keepThread } from './keptThread.mjs'
import { rooms, testsOf } from './rooms.mjs'

const { test: fast, plugins, resolve, ssr } = all.test.projects.find(({ test }) => test.name === 'fast')
const { setupFiles, env, testTimeout, hookTimeout, exclude } = fast
const setup = fileURLToPath(new URL('setup.mjs', import.meta.url))

/** A run ends with the first test that fails: first come the files that failed last time, then the quickest. */
class QuickestFirst extends BaseSequencer {
  async sort(files) {
    const { cache, config } = this.ctx
    const placed = files.map((file) => {
      const last = cache.getFileTestResults(`${file.project.name}:${relative(config.root, file.moduleId)}`)
      return { file, isFailed: last?.failed === true, duration: last?.duration ?? 0 }
    })
    placed.sort((a, b) => Number(b.isFailed) - Number(a.isFailed) || a.duration - b.duration)
    return placed.map(({ file }) => file)
  }
}

/** Properties are tried with this many draws: thousands of changes run them. */
const draws = 20
const fewDraws = {
  name: 'few-draws',
  enforce: 'pre',
  transform: (code, id) =>
    id.endsWith('.test.ts')
      ? code.replace(/\bnumRuns: ([\d_]+)( \* times)?/g, `numRuns: Math.min($1, ${draws})`)
      : null,
}

export default defineConfig({
  plugins: [...plugins, fewDraws, keepThread],
  resolve,
  ssr,
  test: {
    setupFiles: [setup, ...setupFiles],
    env,
    testTimeout,
    hookTimeout,
    exclude,
    include: testsOf(rooms[process.env.MUTATED_ROOM]),
    isolate: false,
    sequence: { sequencer: QuickestFirst },
  },
})
