// Decides offline whether to sign what a service returned: node sdk/examples/checkBeforeSigning.mjs [FILE]
import { readFileSync } from 'node:fs'
import { verifyPlan } from '@openearn/sdk/verify'

const file = process.argv[2] ?? new URL('deposit.json', import.meta.url)
const { request, plan, context } = JSON.parse(readFileSync(file, 'utf8'))

const verdict = await verifyPlan(request, plan.transactions, context)
console.log(verdict.ok ? 'sign: the plan does exactly what was asked' : verdict.problems.join('\n'))
for (const sentence of verdict.sentences) console.log(`- ${sentence}`)

// The same plan from a service that would rather have the shares itself.
const thief = `${'bad'.repeat(13)}0`
const wallet = request.userAddress.slice(2).toLowerCase()
const stolen = structuredClone(plan.transactions)
for (const { transaction } of stolen) transaction.data = transaction.data.replace(wallet, thief)
const refusal = await verifyPlan(request, stolen, context)
console.log(refusal.ok ? 'sign' : `do not sign: ${refusal.problems.join('; ')}`)
