import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { cancellableAsyncVaultAbi as abi } from '@openearn/contracts'
import { encodeFunctionData, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../contracts/test/anvil.js'
import { until } from '../../../contracts/test/until.js'
import { type Json, openClient } from '../e2e/client.js'
import { type Dev, makeFolder, runOpenEarn, type Started, startOpenEarn, waitUntilReady } from '../e2e/process.js'

let dataDir: string
let devnet: Started
let dev: Dev
let client: ReturnType<typeof openClient>

beforeAll(async () => {
  dataDir = await makeFolder('openearn-attack-budgets-')
  devnet = startOpenEarn(['dev'], { OPENEARN_DATA_DIR: dataDir, TRUSTED_PROXIES: '127.0.0.1' })
  await waitUntilReady(devnet)
  dev = JSON.parse(await readFile(join(dataDir, 'dev.json'), 'utf8'))
  client = openClient(dev)
}, 120_000)

afterAll(async () => {
  await devnet?.stop()
  await rm(dataDir, { recursive: true, force: true })
}, 60_000)

type Sent = { key: string; idempotencyKey?: string; from?: string; body?: unknown }

async function send(method: string, path: string, { key, idempotencyKey, from, body }: Sent) {
  const headers: Record<string, string> = { 'X-API-Key': key }
  if (idempotencyKey !== undefined) headers['Idempotency-Key'] = idempotencyKey
  if (from !== undefined) headers['X-Forwarded-For'] = from
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
  const response = await fetch(`${dev.baseUrl}${path}`, init)
  return { status: response.status, headers: response.headers, body: (await response.json()) as Json }
}

async function createKey(...words: string[]): Promise<string> {
  const own = ['--org', dev.organizations[0]!.id, '--kind', 'publishable']
  const said = await runOpenEarn(['keys', 'create', ...own, ...words], { OPENEARN_DATA_DIR: dataDir })
  return /pk_live_[0-9A-Za-z]{38}/.exec(said)?.[0] ?? ''
}

const used = ({ headers }: { headers: Headers }) => Number(headers.get('x-ratelimit-used'))
const opportunityOf = (kind: string) => dev.opportunities.find((one) => one.kind === kind)!
const userOf = (index: number) => privateKeyToAccount(dev.accounts[index]!.privateKey)
const depositBody = (kind: string, userAddress: Hex, distributorId: string) => {
  const { asset } = opportunityOf(kind)
  return { userAddress, tokenIn: asset.address, amount: String(10n ** BigInt(asset.decimals)), distributorId }
}

describe('budgets', () => {
  it('[empty-bodies] a thousand deposits without a body do not use up the key of a site', async () => {
    const key = await createKey()
    const path = `/v2/actions/deposit/${opportunityOf('erc4626').id}`
    const statuses = new Set<number>()
    for (let round = 0; round < 100; round++) {
      const answers = await Promise.all(Array.from({ length: 10 }, () => send('POST', path, { key, body: {} })))
      for (const { status } of answers) statuses.add(status)
    }
    expect([...statuses]).toEqual([400])
    const page = await send('GET', '/v2/chains/', { key })
    expect(page.status).toBe(200)
    expect(used(page)).toBeLessThanOrEqual(1_001)
  })

  it('[address-share] one address does not use up a key that others need', async () => {
    const key = await createKey('--hourly', '500', '--address-share', '0.2')
    const greedy = async (from: () => string) => {
      for (let i = 0; i < 101; i++) {
        const answer = await send('GET', '/v2/chains/', { key, from: from() })
        if (answer.status === 200) continue
        expect([answer.status, answer.body.context.limit]).toEqual([429, 'ip'])
        return i
      }
      throw new Error('one address got more than its share')
    }
    expect(await greedy(() => '203.0.113.1')).toBe(100)
    // What a client writes into the header itself names nobody else.
    let forged = 0
    expect(await greedy(() => `198.51.100.${++forged}, 203.0.113.1`)).toBe(0)
    // Nor does another address of the same network.
    let host = 0
    expect(await greedy(() => `2001:db8:1:2::${(++host).toString(16)}`)).toBe(100)
    const other = await send('GET', '/v2/chains/', { key, from: '203.0.113.2' })
    expect([other.status, other.headers.get('x-ratelimit-limit'), used(other)]).toEqual([200, '100', 1])
  })
})

describe('Idempotency-Key', () => {
  it("[sibling-replay] a key bound to one distributor gets no plan of its sibling's, direct or again", async () => {
    const user = userOf(3)
    await client.join(dev.accounts[3]!.privateKey, 'AuroraWallet')
    const bound = await createKey('--distributor', 'AuroraMobile')
    const path = `/v2/actions/deposit/${opportunityOf('erc4626').id}`
    const body = depositBody('erc4626', user.address, 'AuroraWallet')
    const first = await send('POST', path, { key: dev.keys.publishable, idempotencyKey: 'plan-1', body })
    expect(first.status).toBe(200)
    expect((await send('POST', path, { key: bound, body })).status).toBe(403)
    const again = await send('POST', path, { key: bound, idempotencyKey: 'plan-1', body })
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([403, null])
    const own = await send('POST', path, { key: dev.keys.publishable, idempotencyKey: 'plan-1', body })
    expect([own.body, own.headers.get('idempotency-replayed')]).toEqual([first.body, 'true'])
  })

  it('[public-key-blocks-backend] what a public key did under a name keeps no backend from using it', async () => {
    const agreement = (address: Hex) => ({ address, walletEcosystem: 'evm', url: 'https://app.example.com/' })
    const path = '/v2/membership/agreement'
    for (const [idempotencyKey, theirs] of [
      ['order-1', {}],
      ['order-2', agreement(userOf(7).address)],
    ] as const) {
      await send('POST', path, { key: dev.keys.publishable, idempotencyKey, body: theirs })
      const body = agreement(userOf(8).address)
      const backend = await send('POST', path, { key: dev.keys.secret, idempotencyKey, body })
      expect([backend.status, backend.headers.get('idempotency-replayed')]).toEqual([200, null])
    }
  })

  it('[refusal-kept] a refusal that says to try again later is not repeated once it is true no more', async () => {
    const { privateKey } = dev.accounts[4]!
    const user = userOf(4)
    await client.join(privateKey, 'AuroraWallet')
    const { id } = opportunityOf('erc7540')
    const key = dev.keys.publishable
    const plan = await client.call(
      'POST',
      `/v2/actions/deposit/${id}`,
      depositBody('erc7540', user.address, 'AuroraWallet'),
    )
    await client.sendAll(user, plan.transactions)
    const claim = (idempotencyKey?: string) =>
      send('POST', `/v2/actions/claim-deposit/${id}`, {
        ...{ key, body: { userAddress: user.address } },
        ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      })
    const early = await claim('claim-1')
    expect(early.body).toMatchObject({ code: 400, reason: 'NOT_CLAIMABLE', context: { retryable: true } })
    // The vault's manager, who would take half a minute.
    const data = encodeFunctionData({ abi, functionName: 'settleDeposit', args: [user.address, 0n] })
    const { vaultAddress: to } = opportunityOf('erc7540')
    await client.send(account(0), { to, data, value: '0', gasLimit: '500000', chainId: dev.chainId })
    await until('the deposit to be claimable', async () => (await claim()).status === 200)
    const later = await claim('claim-1')
    expect([later.status, later.headers.get('idempotency-replayed')]).toEqual([200, null])
  }, 90_000)
})
