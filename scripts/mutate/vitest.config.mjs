// How the tests of one room run while its files are changed: no PostgreSQL and no chain is started for them.
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import all from '../../vitest.config.ts'
import { keepThread } from './keptThread.mjs'
import { rooms, testsOf } from './rooms.mjs'

const { test: fast, plugins, resolve, ssr } = all.test.projects.find(({ test }) => test.name === 'fast')
const { setupFiles, env, testTimeout, hookTimeout, exclude } = fast
const setup = fileURLToPath(new URL('setup.mjs', import.meta.url))

export default defineConfig({
  plugins: [...plugins, keepThread],
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
  },
})
