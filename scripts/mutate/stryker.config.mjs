// How one room is changed: see ../mutate.mjs.
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { filesOf, rooms } from './rooms.mjs'

const room = process.env.MUTATED_ROOM
const patience = Number(process.env.TEST_PATIENCE ?? 1)
const place = `coverage/mutate/${room}`

export default {
  mutate: process.env.MUTATED_FILES ? process.env.MUTATED_FILES.split(',') : filesOf(rooms[room]),
  plugins: ['@stryker-mutator/vitest-runner'],
  testRunner: 'vitest',
  vitest: { configFile: 'scripts/mutate/vitest.config.mjs', related: false },
  coverageAnalysis: 'perTest',
  concurrency: 1,
  // Copied is what tests read; what is built, installed or written about is not.
  ignorePatterns: ['coverage', 'dist', '.openearn*', 'bench', 'contracts/.build'],
  incremental: true,
  incrementalFile: `${place}/incremental.json`,
  reporters: ['json', 'progress-append-only'],
  jsonReporter: { fileName: `${place}/report.json` },
  // Not in the tree, where other runs would take the copies for tests.
  tempDirName: join(tmpdir(), `openearn-mutate-${room}`),
  cleanTempDir: 'always',
  disableTypeChecks: false,
  // Counted by the clock, so on a busy machine more of it must be allowed, or what is only slow counts as noticed.
  timeoutMS: 10_000 * patience,
  dryRunTimeoutMinutes: 5 * patience,
  allowEmpty: false,
}
