import { readFile } from 'node:fs/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../contracts/test/anvil.js'
import { patient } from '../../../contracts/test/patience.js'
import { operations } from '../../src/server/operations.js'
import { openWorld, type World } from '../actionWorld.js'
import { seeded } from '../catalogueWorld.js'
import { openSettlement } from '../chain/settlement.js'
import { openUniswap } from '../chain/uniswap.js'
import { openContract } from '../contract.js'
import { createGenerator, type Fuzzed, type Known } from './generate.js'

const requests = Number(process.env['FUZZ_REQUESTS'] ?? 15_000)
const seed = Number(process.env['FUZZ_SEED'] ?? 20_261_120)
const atOnce = 16
/** Requests after which the memory in use is expected to stay. */
const warmUp = 20_000

// biome-ignore lint/suspicious/noExplicitAny: a document of every shape
const document: any = JSON.parse(await readFile(new URL('../../openapi.json', import.meta.url), 'utf8'))

let world: World
let known: Known
beforeAll(async () => {
  world = await openWorld({
    config: { secretsKey: 'a key of the operator for tests only', webhooksAllowed: ['127.0.0.1'] },
  })
  known = await furnish(world)
}, 120_000)
afterAll(() => world?.close())

/** Things to ask about: vaults, members with money, a deposit that is on the chain, pools to swap through. */
async function furnish(opened: World): Promise<Known> {
  const { earn, ...world } = opened
  const user = account(3)
  const asset = await world.token({ pegUsd: '1' })
  const vault = await world.vault(asset)
  const wrapped = await world.wrappedNative()
  const exchange = await openUniswap(opened, wrapped, [wrapped])
  await exchange.v2Pool(wrapped, asset, 10n ** 18n, 2_000_000_000n)
  await exchange.v3Pool(wrapped, asset, 3_000, 10n ** 18n, 2_000_000_000n)
  await openSettlement(opened)
  await world.join(user.address)
  await world.mint(asset, user.address, 1_000_000_000n)
  const body = { userAddress: user.address, tokenIn: asset, amount: '1000000', distributorId: world.distributorId }
  const plan = await earn.call('CreateDepositInteraction', { params: { opportunityId: vault.opportunityId }, body })
  const order = {
    userAddress: user.address,
    chainId: world.chainId,
    tokenIn: asset,
    tokenOut: wrapped,
    slippageBps: 50,
  }
  const built = await earn.call('BuildSwapOrder', {
    body: { ...order, amountIn: '1000000', distributorId: world.distributorId },
  })
  const receipts = await world.send(plan, user)
  await world.anvil.client.mine({ blocks: 3 })
  await world.sync()
  await recordHistory(opened, vault.address)
  const streamId = await recordStream(opened, { vault: vault.address, asset, wallet: user.address })
  const keys = await Promise.all([
    earn.key({ kind: 'publishable', hourlyUnits: 1_000_000_000 }),
    earn.key({
      kind: 'secret',
      hourlyUnits: 1_000_000_000,
      permissions: ['organization:incentivize:streams', 'organization:webhooks'],
    }),
  ])
  const [, key = ''] = keys
  // Nobody listens there.
  // Requests delete them, one by one.
  const webhookId: string[] = []
  for (let i = 0; i < 8; i++)
    webhookId.push((await earn.call('CreateWebhook', { body: { url: 'http://127.0.0.1:9/hook' }, key })).body.id)
  const addresses = [user.address, user.address.toLowerCase(), account(4).address, asset, vault.address]
  const values = {
    actionId: [plan.body.actionId],
    orderId: [built.body.orderId],
    opportunityId: [vault.opportunityId],
    opportunityIds: [vault.opportunityId],
    id: [vault.opportunityId, streamId],
    streamIds: [streamId],
    distributorId: [world.distributorId, 'nobody'],
    chainId: [world.chainId, 1],
    chainIds: [world.chainId, 1],
    address: addresses,
    addresses,
    wallet: addresses,
    walletAddress: addresses,
    userAddress: [user.address, account(4).address],
    user: [user.address],
    tokenIn: [asset, 'native', wrapped],
    tokenOut: [asset, 'native', wrapped],
    amountIn: ['1', '1000000', '999999999999'],
    vaultAddress: [vault.address],
    ...listDates(earn.clock.now()),
    step: [3_600, 86_400],
    amount: ['1', '1000000', '999999999999'],
    txHash: receipts.map((receipt) => receipt.transactionHash),
    url: ['https://app.example/earn'],
    webhookId,
    after: ['latest', '0-000000000000'],
    // Each call that waits holds up one of those at once.
    waitSeconds: [0],
  }
  return { values, keys }
}

const daySeconds = 86_400

/** Instants a history may be asked for, and some it may not. */
function listDates(now: Date) {
  const ago = (days: number) => new Date(now.getTime() - days * daySeconds * 1000).toISOString()
  return { startDate: [ago(3), ago(60), ago(364), ago(400)], endDate: [ago(0), ago(2), ago(-1)] }
}

/** Snapshots of a vault that gains, up to the present. */
async function recordHistory({ earn }: Pick<World, 'earn'>, address: string): Promise<void> {
  const now = Math.floor(earn.clock.now().getTime() / 1000)
  await earn.db`
    insert into vault_snapshots (vault_id, block_number, block_timestamp, block_hash, total_assets, total_supply,
      price_numerator, price_exponent, price_usd)
    select id, n, to_timestamp(${now}::bigint - (50 - n) * ${daySeconds}::int - 60), decode(lpad(to_hex(n), 64, '0'), 'hex'),
      1000000000, 1000000000, 1000000000000000000 + n * 1000000000000000, 18, 1
    from vaults, generate_series(1, 50) n where address = ${address.toLowerCase()}`
}

/** A stream that pays, what a wallet has earned of it, and an operation of its admin that is open. */
async function recordStream(
  { earn, chainId }: Pick<World, 'earn' | 'chainId'>,
  { vault, asset, wallet }: { vault: string; asset: string; wallet: string },
): Promise<string> {
  const [id, snapshotId] = ['01890a5d-ac96-774b-bcce-b302099a8057', '01890a5d-ac96-774b-bcce-b302099a8058']
  const { db, clock } = earn
  const now = clock.now()
  const args = JSON.stringify({ targetTokenId: id, tokensPerUSD: '1000' })
  const place = `0x${'5a'.repeat(20)}`
  await db`
    insert into streams (id, organization_id, type, target_vault_id, target_chain_id, target_token, chain_id,
      reward_token, factory, contract_address, admin, signed_until, from_block, total_amount, fee_amount,
      starts_at, custom_args, created_at, updated_at)
    select ${id}, ${earn.organizationId}, 1, id, chain_id, receipt_token, chain_id, ${asset.toLowerCase()}, ${place}, ${place},
      ${wallet.toLowerCase()}, ${now}, 1, 1000000, 15000, ${now}, ${args}::text::jsonb, ${now}, ${now}
    from vaults where address = ${vault.toLowerCase()}`
  await db`
    insert into stream_events (chain_id, block_number, block_timestamp, log_index, stream_id, kind, transaction_hash)
    values (${chainId}, 1, ${now}, 0, ${id}, 'created', decode(${'ab'.repeat(32)}, 'hex'))`
  await db`
    insert into stream_snapshots (id, stream_id, snapshot_at, target_chain_id, block_number, block_hash, is_last,
      amount_base, amount_distributed, tvl, user_count, active_user_count, state, created_at, updated_at)
    values (${snapshotId}, ${id}, ${now}, ${chainId}, 1, decode(${'cd'.repeat(32)}, 'hex'), false, 5, 5, '12.5', 1, 1, '{}',
      ${now}, ${now})`
  await db`
    insert into stream_wallet_snapshots (snapshot_id, wallet, rewards, rewards_base, accrued, accrued_base)
    values (${snapshotId}, hex_bytes(${wallet.toLowerCase()}), 5, 5, 0, 0)`
  await db`
    insert into stream_operations (id, stream_id, type, amount, fee_amount, salt, deadline, signature, created_at)
    values (${snapshotId}, ${id}, 'budget-increase', 5, 1, decode(${'ef'.repeat(32)}, 'hex'), '2100-01-01',
      decode(${'12'.repeat(65)}, 'hex'), ${now})`
  return id
}

const contract = openContract(operations)

/** Their responses do not end: streamEvents.test.ts has their cases. */
const isLive = new Set(operations.flatMap((each) => (each.isLive ? [each.operationId] : [])))

/** Answers of 200 held against the document itself by an independent validator. */
function compileDocument(): Map<string, ValidateFunction> {
  const ajv = new Ajv2020({ strict: false, formats: { uint256: true } })
  ajv.addSchema({ $id: 'openapi', ...document })
  const found = new Map<string, ValidateFunction>()
  for (const [path, item] of Object.entries<Record<string, { operationId: string }>>(document.paths))
    for (const [method, { operationId }] of Object.entries(item)) {
      if (isLive.has(operationId)) continue
      const place = [path, method, 'responses', '200', 'content', 'application/json', 'schema']
      const pointer = place.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')
      found.set(operationId, ajv.compile({ $ref: `openapi#/paths/${encodeURI(pointer)}` }))
    }
  return found
}
const validators = compileDocument()

/** A response as it was judged; `cause`: why a series was withheld. */
type Judged = { status: number; problems: string[]; cause?: string }

async function judge(request: Fuzzed): Promise<Judged> {
  const { method, url, headers, payload } = request
  const answer = await world.earn.service.publicApp.inject({
    method: method as 'GET',
    url,
    headers,
    ...(payload === undefined ? {} : { payload }),
  })
  const plain = answer.rawPayload.length > 0 && !answer.headers['content-encoding'] && method !== 'HEAD'
  const body = plain ? answer.json() : undefined
  const status = answer.statusCode
  // The root is a page with links, and no operation.
  if (status === 200 && /^\/(\?|$)/.test(url))
    return { status, problems: body === undefined || body.links ? [] : ['the root has no links'] }
  const reached = contract.find(method, url)?.operationId
  const problems = contract.check(reached, { status, headers: answer.headers, body })
  // A vault that nobody has indexed has no series yet.
  const isUnindexed = status === 503 && /^INDEXING_/.test(String(body?.reason))
  if (status >= 500 && !isUnindexed) problems.push(`a ${status}: ${answer.body}`)
  const validate = reached === undefined ? undefined : validators.get(reached)
  if (status === 200 && body !== undefined && validate && !validate(body))
    problems.push(...(validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`))
  return isUnindexed ? { status, problems, cause: String(body?.reason) } : { status, problems }
}

const collect = exposeCollector()

function exposeCollector(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}

/** Bytes of the heap that are in use, and of buffers outside of it. */
function countHeld(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Writes how far a long run is, at most every ten seconds. */
function createProgress(): (done: number) => void {
  const begun = performance.now()
  let told = begun
  return (done) => {
    const now = performance.now()
    if (now - told < 10_000) return
    told = now
    const rate = (done * 1000) / (now - begun)
    const left = Math.round((requests - done) / rate)
    process.stderr.write(
      `${((100 * done) / requests).toFixed(1)} %, ${Math.round(rate)} requests a second, ${left} s left\n`,
    )
  }
}

describe('requests made from the OpenAPI document', () => {
  it(
    `${requests} of them, seed ${seed}: no 5xx, and every answer is one the document allows`,
    async () => {
      const next = createGenerator(document, seeded(seed), known)
      const counts = new Map<string, number>()
      const failures: string[] = []
      const tell = createProgress()
      let early: number | undefined
      for (let done = 0; done < requests && failures.length < 10; done += atOnce) {
        const batch = Array.from({ length: Math.min(atOnce, requests - done) }, next)
        const judged = await Promise.all(batch.map(judge))
        judged.forEach(({ status, problems, cause }, i) => {
          const { operationId } = batch[i]!
          const name = cause === undefined ? `${operationId} ${status}` : `${operationId} ${status} ${cause}`
          counts.set(name, (counts.get(name) ?? 0) + 1)
          if (problems.length > 0)
            failures.push(`#${done + i} ${JSON.stringify(batch[i]).slice(0, 600)} ${status}: ${problems.join('; ')}`)
        })
        if (early === undefined && done >= warmUp) early = countHeld()
        tell(done)
      }
      expect(failures).toEqual([])
      const sum = [...counts.values()].reduce((total, count) => total + count, 0)
      expect(sum).toBe(requests)
      // The requests get through to the operations, not only to the first check.
      const reads = operations.filter(({ method, isLive: goesOn }) => method === 'GET' && !goesOn)
      const never = reads.filter(({ operationId }) => !counts.has(`${operationId} 200`))
      expect(never.map(({ operationId }) => operationId)).toEqual([])
      console.info(summarize(counts))
      if (early === undefined) return
      const held = countHeld()
      console.info(`memory in use: ${early} bytes after ${warmUp} requests, ${held} at the end`)
      expect(held).toBeLessThan(early * 1.2)
    },
    patient(30_000 + requests * 10),
  )
})

function summarize(counts: ReadonlyMap<string, number>): string {
  const byStatus = new Map<string, number>()
  for (const [name, count] of counts) {
    const [operationId, status = '', cause] = name.split(' ')
    const of = cause === undefined ? status : `${status} ${cause} by ${operationId}`
    byStatus.set(of, (byStatus.get(of) ?? 0) + count)
  }
  return `fuzz: ${requests} requests, seed ${seed}, no 5xx; ${[...byStatus]
    .sort()
    .map(([status, count]) => `${status}: ${count}`)
    .join(', ')}`
}
