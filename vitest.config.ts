import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { patience, patient, scaleLimits } from './contracts/test/patience.js'

/** Threads that the service starts are read from source as well. */
const typescriptThreads = fileURLToPath(new URL('service/test/typescriptThreads.mjs', import.meta.url))

/** What starts a chain, a program or a database server of its own, compiles, fills large tables, or tries thousands. */
const chain = [
  '**/*.{chain,long}.test.ts',
  'contracts/test/{compile,coverage,forge}.test.ts',
  'sdk/src/{flows/interruptions,wallet/lies}.test.ts',
  'sdk/src/verify/{anyInput,changes,mutations,strangeInput}.test.ts',
  'sdk/test/{examples,packed}.test.ts',
  '{react,widget}/test/{packed,size}.test.ts',
  'service/test/packed.test.ts',
  'service/test/{attacks,e2e,fuzz,kill,projections,simulation}/**/*.test.ts',
  '**/embedded{,Role}.test.ts',
  '**/features/ledger/plans.test.ts',
  'service/test/workedExample.test.ts',
  '**/sync/{rebuild,rewindPlans}.test.ts',
  '**/features/attribution/judge.test.ts',
  '**/features/history/randomSeries.test.ts',
  '**/features/metrics/recompute.test.ts',
  '**/features/portfolio/plans.test.ts',
  '**/cli/dev/store.test.ts',
  '**/http/databaseDown.test.ts',
  '**/actions/hangingNode.test.ts',
  '**/features/membership/createMembershipRace.test.ts',
  'sdk/src/verify/swapMutations.test.ts',
  'service/test/{badInput,packages,recorded/recorded}.test.ts',
  'service/test/{keyLives,recount}/**/*.test.ts',
]
/** What takes longest begins first, so that no worker is left with it at the end; the rest by size. */
const longest = [
  // Makes the devnet that others copy.
  'test/attacks/crediting',
  'simulation/schedules',
  'contracts/test/forge.test.ts',
  'features/ledger/plans.test.ts',
  'sync/rewindPlans.test.ts',
  'service/test/workedExample.test.ts',
  'test/e2e/cli.test.ts',
  'test/simulation/actions',
  'test/e2e/kill.test.ts',
  'test/e2e/limits.test.ts',
  'test/fuzz/',
  'embedded.test.ts',
  'test/kill/',
  'test/attacks/',
  'test/e2e/',
  'server/watchFaults',
  'server/watchLies',
  'contracts/test/',
  'sdk/src/verify/anyInput.test.ts',
  'sdk/src/verify/mutations.test.ts',
  'attribution/judge.test.ts',
  'actions/hangingNode.test.ts',
  'http/databaseDown.test.ts',
  'cli/dev/store.test.ts',
  'sync/rebuild.test.ts',
  'http/idempotency.test.ts',
  'test/recorded/',
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification) => {
      const place = longest.findIndex((part) => moduleId.includes(part))
      return place === -1 ? longest.length : place
    }
    return (await super.sort(files)).sort((a, b) => placeOf(a) - placeOf(b))
  }
}

/** What installs from the registry runs with `npm run test:long` only. */
const long = process.env['INSTALL'] === undefined ? ['**/*.long.test.ts'] : []
const ignored = ['**/node_modules/**', '**/dist/**', ...long]

/** Where programs that tests start tell what they ran; see scripts/coverage.mjs. */
const programs = process.env['COVERAGE_OF_PROGRAMS']

/** Scales the limits that single tests name on a machine that is said to be busy. */
const patientTests = {
  name: 'patient-tests',
  enforce: 'pre',
  transform: (code: string, id: string) =>
    patience > 1 && id.endsWith('.test.ts') ? scaleLimits(code, patience) : undefined,
} as const

/**
 * How many cases the long tests try in `npm test`: enough to see each kind of them. A variable that is set wins; those of
 * `npm run test:long` are greater.
 */
const shortForm = {
  ACTIONS: '60',
  AUDIT_MONTHS: '12',
  DRIPS: '200',
  FUZZ_REQUESTS: '6000',
  HOSTILE_REQUESTS: '2000',
  INPUTS: '10000',
  INVARIANT_RUNS: '20',
  KILLS: '3',
  METRICS_SEEDS: '2',
  MUTATIONS: '3000',
  PLAN_ROWS: '50000',
  POINTS: '40',
  RECOUNT_SCHEDULES: '12',
  REPLICATED: '20000',
  SIMULATION_SCHEDULES: '60',
  SOLVER_KILLS: '2',
  STOPS: '1',
  TOLD_SEEDS: '4',
  WATCHER_KILLS: '2',
}
const unset = Object.fromEntries(Object.entries(shortForm).filter(([name]) => process.env[name] === undefined))

const shared = {
  plugins: [patientTests],
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'], externalConditions: ['node'] } },
}
const test = {
  pool: 'forks',
  setupFiles: [fileURLToPath(new URL('service/test/seeded.ts', import.meta.url))],
  execArgv: ['--import', typescriptThreads],
  env: { ...unset, ...(programs === undefined ? {} : { NODE_V8_COVERAGE: programs }) },
  maxWorkers: 2,
  testTimeout: patient(20_000),
  hookTimeout: patient(60_000),
  expect: { poll: { timeout: patient(10_000) } },
  // Files of one worker share its modules: reading them anew for each takes longer than most of the tests.
  isolate: false,
} as const

export default defineConfig({
  ...shared,
  test: {
    // One PostgreSQL for the run, whichever projects take part in it.
    globalSetup: ['service/test/globalSetup.ts'],
    sequence: { sequencer: LongestFirst },
    maxWorkers: 3,
    projects: [
      {
        ...shared,
        test: {
          ...test,
          name: 'fast',
          include: ['**/*.test.ts'],
          exclude: [...ignored, ...chain],
          sequence: { groupOrder: 0 },
        },
      },
      {
        ...shared,
        // Many of them wait: for blocks, for a process that ends.
        test: { ...test, name: 'chain', include: chain, exclude: ignored, maxWorkers: 3, sequence: { groupOrder: 1 } },
      },
    ],
  },
})
