import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** Threads that the service starts are read from source as well. */
const typescriptThreads = fileURLToPath(new URL('service/test/typescriptThreads.mjs', import.meta.url))

/** What starts a chain, a program or a database server of its own, compiles, or fills large tables. */
const chain = [
  '**/*.chain.test.ts',
  'contracts/test/{compile,coverage,forge}.test.ts',
  'sdk/test/examples.test.ts',
  'service/test/{attacks,e2e,fuzz,kill,long,simulation}/**/*.test.ts',
  '**/embedded.test.ts',
  '**/features/ledger/plans.test.ts',
  '**/pipeline/rewindPlans.test.ts',
]
const ignored = ['**/node_modules/**', '**/dist/**']

const shared = {
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'], externalConditions: ['node'] } },
}
const test = {
  pool: 'forks',
  execArgv: ['--import', typescriptThreads],
  maxWorkers: 2,
  testTimeout: 20_000,
  hookTimeout: 60_000,
} as const

export default defineConfig({
  ...shared,
  test: {
    // One PostgreSQL for the run, whichever projects take part in it.
    globalSetup: ['service/test/globalSetup.ts'],
    maxWorkers: 2,
    projects: [
      {
        ...shared,
        // Files of one worker share its modules: reading them anew for each takes longer than all of these tests.
        test: {
          ...test,
          name: 'fast',
          include: ['**/*.test.ts'],
          exclude: [...ignored, ...chain],
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
      {
        ...shared,
        test: { ...test, name: 'chain', include: chain, exclude: ignored, sequence: { groupOrder: 1 } },
      },
    ],
  },
})
