import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Hex } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { letOthersRun, until } from '../../../contracts/test/until.js'
import { type Json, openClient, type Prepared } from './client.js'
import { demoCatalogueText } from './demoCatalogue.js'
import { planDeposits, readDeposits, showEntry } from './deposits.js'
import {
  type Dev,
  makeFolder,
  runOpenEarn,
  type Started,
  startDevnet,
  startOpenEarn,
  waitUntilReady,
} from './process.js'

/**
 * The chain of a devnet, and beside it a service of its own: other database, same chain. The service is killed; the
 * chain goes on.
 */
let folder: string
let devnet: Started & { dev: Dev }
let env: Record<string, string>

beforeAll(async () => {
  folder = await makeFolder('openearn-kill-')
  devnet = await startDevnet(join(folder, 'devnet'))
  env = {
    OPENEARN_DATA_DIR: join(folder, 'service'),
    ATTRIBUTION_KEY: '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  }
}, 120_000)

afterAll(async () => {
  await devnet?.stop()
  await rm(folder, { recursive: true, force: true })
}, 60_000)

const rounds = 5
const depositsAWallet = 12

describe('a service killed with SIGKILL while watching and mid-request', () => {
  it(`${rounds} times: afterwards the ledger equals the chain, nothing twice, nothing missing`, async () => {
    const { dev } = devnet
    const catalogue = await writeCatalogue()
    await runOpenEarn(['migrate'], env)
    const [organizationId] = (await runOpenEarn(['orgs', 'create', '--name', 'Killed'], env))
      .trim()
      .split('\n')
      .slice(-1)
    await runOpenEarn(['catalogue', 'import', catalogue], env)
    await runOpenEarn(
      ['distributors', 'create', 'killed', '--org', organizationId!, '--active-from', '1970-01-01T00:00:00Z'],
      env,
    )
    const printed = await runOpenEarn(
      ['keys', 'create', '--org', organizationId!, '--kind', 'publishable', '--hourly', '1000000'],
      env,
    )
    const publishable = /pk_live_\S+/.exec(printed)![0]

    let service = await startService()
    const client = openClient({ baseUrl: service.baseUrl, rpcUrl: dev.rpcUrl, keys: { publishable, secret: '' } })
    const opportunities = (await client.call('GET', '/v2/opportunities/?depositTokenSymbols=usdc,dai&chainIds=31337'))
      .data
    const queue: { account: PrivateKeyAccount; transaction: Prepared['transaction'] }[] = []
    const wallets = dev.accounts.slice(1, 5)
    for (const { privateKey } of wallets) await client.join(privateKey)
    for (const [index, { privateKey }] of wallets.entries())
      queue.push(
        ...(await planDeposits(client, privateKeyToAccount(privateKey), opportunities[index % opportunities.length], {
          distributorId: 'killed',
          count: depositsAWallet,
        })),
      )

    const sent: Hex[] = []
    let random = 42
    const nextRandom = () => {
      random = (random * 1_103_515_245 + 12_345) % 2_147_483_648
      return random / 2_147_483_648
    }
    for (let round = 0; round < rounds; round++) {
      const share = queue.splice(0, Math.ceil(queue.length / (rounds - round)))
      const killAt = Math.floor(nextRandom() * share.length)
      const asking = new AbortController()
      const asked = askWithoutEnd(service.baseUrl, publishable, dev, asking.signal)
      for (const [index, { account, transaction }] of share.entries()) {
        if (index === killAt) await service.kill()
        sent.push((await client.send(account, transaction)).transactionHash)
      }
      asking.abort()
      await asked
      service = await startService()
    }
    const after = openClient({ baseUrl: service.baseUrl, rpcUrl: dev.rpcUrl, keys: { publishable, secret: '' } })
    const expected = await readDeposits(after, sent)
    await until('the ledger to catch up', async () =>
      (await after.listEntries('killed')).length >= expected.length ? true : undefined,
    )
    const entries = await after.listEntries('killed')
    const shown = entries.map(showEntry)
    expect(shown.sort()).toEqual(expected.sort())
    expect(new Set(entries.map(({ id }: Json) => id)).size).toBe(entries.length)
    expect(entries.every(({ attribution }: Json) => attribution === 'signed')).toBe(true)
    expect(entries).toHaveLength(wallets.length * depositsAWallet)
    await service.stop()
  }, 240_000)
})

async function writeCatalogue(): Promise<string> {
  const path = join(folder, 'catalogue.json')
  const { data } = await openClient(devnet.dev).call('GET', '/v2/opportunities/?chainIds=31337&limit=100')
  await writeFile(
    path,
    demoCatalogueText(
      devnet.dev,
      data.map(({ receiptToken }: Json) => receiptToken),
    ),
  )
  return path
}

async function startService(): Promise<Started & { baseUrl: string }> {
  const started = startOpenEarn(['start'], env)
  const line = await waitUntilReady(started)
  return { ...started, baseUrl: /http\S+/.exec(line)![0] }
}

/** Requests in flight at every moment; the service may go away under them. */
async function askWithoutEnd(baseUrl: string, key: string, dev: Dev, signal: AbortSignal): Promise<void> {
  const ask = async (): Promise<void> => {
    while (!signal.aborted) {
      const body = {
        address: dev.accounts[9]!.address,
        walletEcosystem: 'evm',
        url: 'https://a.example',
        chainId: '31337',
      }
      const init = {
        method: 'POST',
        headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      }
      const answer = await fetch(`${baseUrl}/v2/membership/agreement`, init).catch(() => undefined)
      await answer?.arrayBuffer().catch(() => undefined)
      if (!answer) await letOthersRun()
    }
  }
  await Promise.all([ask(), ask(), ask()])
}
