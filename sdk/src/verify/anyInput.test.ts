import { expect, it } from 'vitest'
import { pin } from '../../test/forgeries.js'
import { findWronglyAccepted, findWronglyAcceptedBatch } from '../../test/oracle.js'
import { readPlans } from '../../test/plans.js'
import { createRandom, pick } from '../../test/random.js'
import { type Input, randomInput, toSource } from '../../test/randomInput.js'
import type { PlanVerdict, Verdict } from './types.js'
import { verifyBatch } from './verifyBatch.js'
import { verifyPlan } from './verifyPlan.js'

/** 100,000 in CI; `npm run test:long` asks for ten million. */
const runs = Number(process.env['INPUTS'] ?? 100_000)
const seed = Number(process.env['INPUT_SEED'] ?? 20_261_122)

const sources = readPlans().map(pin).map(toSource)

// biome-ignore lint/suspicious/noExplicitAny: it may be anything
type Anything = any
const verifyAny = ({ request, transactions, context }: Input) =>
  verifyPlan(request as Anything, transactions as Anything, context as Anything)
const verifyAnyBatch = ({ batch, planned, user }: Input) =>
  verifyBatch(batch as Anything, planned as Anything, user as Anything)

/** Says whether something is a verdict that a caller can act on, and of an input that JSON can say. */
function isVerdict({ ok, problems }: Verdict): boolean {
  if (typeof ok !== 'boolean' || ok !== (problems.length === 0)) return false
  return problems.every((problem) => typeof problem === 'string' && problem.length < 1_000 && !/be read/.test(problem))
}

const hasSentences = ({ ok, sentences }: PlanVerdict, count: number): boolean =>
  sentences.length === (ok ? count : 0) && sentences.every((sentence) => /^[A-Z].*\.$/.test(sentence))

it(`gives a verdict on each of ${runs} random JSON inputs, and accepts none that changes what is signed (seed ${seed})`, async () => {
  const random = createRandom(seed)
  let plans = 0
  let batches = 0
  for (let done = 0; done < runs; done++) {
    const source = pick(random, sources)
    const input = randomInput(random, source, sources)
    const show = () => JSON.stringify(input)
    const verdict = await verifyAny(input)
    const count = Array.isArray(input.transactions) ? input.transactions.length : 0
    if (!isVerdict(verdict) || !hasSentences(verdict, count)) expect.fail(`no verdict: ${show()}`)
    const wrong = verdict.ok ? findWronglyAccepted(input, source.plan) : undefined
    if (wrong) expect.fail(`accepted, but ${wrong}: ${show()}`)
    if (verdict.ok) plans += 1

    const ofBatch = verifyAnyBatch(input)
    if (!isVerdict(ofBatch)) expect.fail(`no verdict on the batch: ${show()}`)
    const wrongBatch = ofBatch.ok ? findWronglyAcceptedBatch(input) : undefined
    if (wrongBatch) expect.fail(`accepted a batch, but ${wrongBatch}: ${show()}`)
    if (ofBatch.ok) batches += 1
  }
  console.info(`${runs} inputs, seed ${seed}: ${plans} plans and ${batches} batches accepted, each as it was`)
  // Changes that alter nothing that is signed are taken: the others are refused for what they say, not for being strange.
  expect(plans).toBeGreaterThan(runs / 500)
  expect(batches).toBeGreaterThan(runs / 500)
}, 14_400_000)
