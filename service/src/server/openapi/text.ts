/** One sentence for each group of operations. */
export const tagTexts: Record<string, string> = {
  Actions: 'Ready-to-sign transactions for deposits, withdrawals, claims and cancellations.',
  Attribution: 'Who brought a transaction, with the evidence.',
  Chains: 'The chains of this installation.',
  Events: 'What became true and what stopped being true, in order.',
  History: 'TVL, share price, APR, APY and LPs of a vault over time.',
  Indexing: 'How far each chain and vault is read.',
  Keys: 'The key of a call and its budget.',
  Ledger: 'Verified deposits and withdrawals.',
  Membership: 'Wallets that joined by signature.',
  Metrics: 'TVL and LPs that a distributor brought.',
  Opportunities: 'The yield vaults of the catalogue.',
  Protocols: 'The protocols behind the vaults.',
  Streams: 'Reward streams, their snapshots and Merkle proofs.',
  Swap: 'Swaps and signed swap orders.',
  Tokens: 'The tokens of this installation.',
  Wallets: 'The portfolio, activity and requests of a wallet.',
}

/** The text about all operations together. Markdown. */
export const introduction = `Yield vaults, ready-to-sign deposits and withdrawals, and attribution anyone can check.

## Keys
A key is sent as \`X-API-Key\`; \`Authorization: Bearer <key>\` is the same where the operator allows it. A publishable key (\`pk_live_…\`) may be used in browsers and apps: it calls everything but operations marked \`x-access: secret\`, and may be limited to origins. A secret key (\`sk_live_…\`) belongs on a server: sent with an \`Origin\` outside its list it is refused. A key belongs to an organization and may be bound to one distributor; on actions a distributor of another organization is 403. GetAttribution needs no key.

## Units and limits
Every call costs units of an hourly budget of its key (\`x-cost\`); \`X-Request-Cost\` states the cost of a response, \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Used\` the budget of the hour (UTC), \`X-Monthly-Limit\`, \`X-Monthly-Usage\` and \`X-Monthly-Remaining\` that of the month, if the key has a cap. The rest must cover the whole cost; a request that does not fit its schema pays 1, and 401, 403 by the key, 413, 415, 429 and 431 pay nothing. A 429 names the used-up limit in \`context.limit\` (\`hourly\`, \`monthly\`, \`ip\` or \`streams\`) and the seconds to wait in \`Retry-After\`. \`ip\` is the limit of one address: calls a minute of GetAttribution, of CreateMembershipAgreement with a publishable key and of requests answered 401, or its share of the hour where the key has one.

## Sending again
Every POST takes an \`Idempotency-Key\`. A response of 200 is stored and repeated with \`Idempotency-Replayed: true\`, for 1 unit, until the \`validUntil\` or \`expiresAt\` it names, else for 24 hours. A refusal is never stored. The same key with another request is 409; with the same request while that runs, 409 with \`Retry-After\`.

## Pages
\`page\` counts from 1 (less is 1) and \`limit\` is 20 unless given, at most 100 (less than 1 is 20); \`pageSize\` and \`pageLimit\` are other names of \`limit\`. \`pagination\` tells \`page\`, \`limit\`, \`total\` and \`totalPages\`. Past the end a page is empty. The order is total, so that pages of unchanged data neither overlap nor skip.

## Errors
Every failure has one body: \`code\`, \`status\`, \`error\`, \`context\`, and \`reason\` if programs must distinguish refusals. \`error\` is a sentence for a person. Actions and VerifyTracking state in \`context.retryable\` whether the same request may succeed later. Schema violations are listed one by one in \`context.violations\`. On 500 and 503 retry with backoff, after \`Retry-After\` seconds if given.

## Caching
Responses of the catalogue carry a strong \`ETag\`: sent back as \`If-None-Match\`, an unchanged response is a 304 without a body. HEAD works for every GET, with its headers and cost.

## Vaults that settle later
Where \`meta.asyncDeposit\` is true, a deposit is a request: GetWalletRequests shows it \`pending\`, then \`claimable\`; CreateClaimDepositInteraction builds the claim, CreateCancelDepositInteraction takes a pending one back. Where \`meta.asyncWithdraw\` is true, CreateWithdrawInteraction requests the redemption, and called again with the same amount once it is claimable builds the claim; until then the call returns \`NOT_CLAIMABLE\`. GetAction returns the status of a plan.

## Values
Amounts in a token's smallest unit are texts of digits; decimals are texts without exponent; US dollars and percents are numbers. Instants are RFC 3339 in UTC. EVM addresses are accepted in any case and returned with their checksum; compare them without regard to case. Unknown query names and body members are ignored; a slash at the end of a path is optional; a list is separated by commas or repeated; an empty value is no value.

Examples name things of the devnet (\`openearn dev\`), to which they can be sent unchanged; \`x-example-status\` is the status of the response.`
