import fc from 'fast-check'
import { beforeEach } from 'vitest'
import { restartSeed, seed } from './seed.js'
import { createRandom } from './simulation/random.js'

// Runs before each test file: what is random in a test, or in the program it runs, follows from the seed.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed })
Math.random = createRandom(seed).next
restartSeed()

beforeEach(({ onTestFailed }) => {
  onTestFailed(() => console.error(`to draw the same again: TEST_SEED=${seed}`))
})
