import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const typescriptThreads = fileURLToPath(new URL('service/test/typescriptThreads.mjs', import.meta.url))

export default defineConfig({
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'], externalConditions: ['node'] } },
  test: {
    include: ['**/*.test.ts'],
    globalSetup: ['service/test/globalSetup.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    pool: 'forks',
    // Threads that the service starts are read from source as well.
    execArgv: ['--import', typescriptThreads],
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
})
