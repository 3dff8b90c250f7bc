// Reads, checks and writes the suffixes that say who brought a transaction: node sdk/examples/readAttribution.mjs
import { readFileSync } from 'node:fs'
import { attribution } from '@openearn/sdk/verify'

const { request, plan, context } = JSON.parse(readFileSync(new URL('deposit.json', import.meta.url), 'utf8'))
const { to, data } = plan.transactions[plan.transactions.length - 1].transaction

// What stands at the end of any calldata, outermost first.
const [suffix] = attribution.decode(data)
console.log(`bytes ${suffix.start} to ${suffix.end}: ${attribution.listCodes(suffix).join(', ')}`)

// Whether the service signed it for this wallet, target and call.
const transaction = { chainId: context.chainId, from: request.userAddress, to, input: data }
const { signature } = await attribution.inspect(transaction, context.signers)
console.log(`signed by ${signature.signer ?? 'nobody we know'}`)

// The same suffix on another wallet's transaction proves nothing.
const copied = await attribution.inspect({ ...transaction, from: to }, context.signers)
console.log(`copied: ${copied.problems.join('; ')}`)

// A suffix of codes alone, to append to calldata of your own.
console.log(attribution.encode({ codes: ['acme'] }))
