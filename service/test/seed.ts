import { createHash } from 'node:crypto'
import { createRandom, type Random } from './simulation/random.js'

/** What everything random in a test follows from. Fixed, so that a failure comes again; `TEST_SEED` tries others. */
export const seed = Number(process.env['TEST_SEED'] ?? 20_261_120)
if (!Number.isSafeInteger(seed)) throw new Error('TEST_SEED must be a whole number')

/** How many times as many cases of a random test are tried; `npm run test:long` tries more. */
export const times = Number(process.env['TEST_TIMES'] ?? 1)
if (!Number.isSafeInteger(times) || times < 1) throw new Error('TEST_TIMES must be a whole number of at least 1')

let drawn = 0

/** Called before each test file, so that what a file draws does not depend on the files before it. */
export function restartSeed(): void {
  drawn = 0
}

/** A source of randomness of one's own. */
export function seededRandom(): Random {
  drawn += 1
  return createRandom(seed + drawn)
}

/** 32 bytes that no other call of the file gives. */
export function seededBytes(): Buffer {
  drawn += 1
  return createHash('sha256').update(`${seed}:${drawn}`).digest()
}

/** A private key that no other call of the file gives. */
export function seededKey(): `0x${string}` {
  return `0x${seededBytes().toString('hex')}`
}
