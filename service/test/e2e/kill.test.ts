import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Hex, parseAbi, parseEventLogs } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Json, openClient, type Prepared } from './client.js'
import { demoCatalogueText } from './demoCatalogue.js'
import {
  type Dev,
  makeFolder,
  runOpenEarn,
  type Started,
  startDevnet,
  startOpenEarn,
  waitFor,
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
const depositEvent = parseAbi([
  'event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares)',
])
const depositsAWallet = 12

describe('a service killed with SIGKILL while watching and mid-request', () => {
  it(`${rounds} times: afterwards the ledger equals the chain, nothing twice, nothing missing`, async () => {
    const { dev } = devnet
    const catalogue = await writeCatalogue()
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
        ...(await planDeposits(client, privateKeyToAccount(privateKey), opportunities[index % opportunities.length])),
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
    await waitFor(
      async () => ((await after.listEntries('killed')).length >= expected.length ? true : undefined),
      'the ledger to catch up',
    )
    const entries = await after.listEntries('killed')
    const shown = entries.map(
      ({ txHash, logIndex, walletAddress, amountRaw }: Json) => `${txHash}:${logIndex}:${walletAddress}:${amountRaw}`,
    )
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

/** One approval for all of a wallet's deposits, sent at once; the deposits are for later. */
async function planDeposits(client: ReturnType<typeof openClient>, account: PrivateKeyAccount, opportunity: Json) {
  const { address, decimals } = opportunity.baseToken
  const common = { userAddress: account.address, tokenIn: address, distributorId: 'killed' }
  const whole = 10n ** BigInt(decimals)
  const all = { ...common, amount: String(1_000n * whole) }
  const { transactions } = await client.call('POST', `/v2/actions/deposit/${opportunity.id}`, all)
  await client.send(account, transactions[0].transaction)
  const planned = []
  for (let n = 1; n <= depositsAWallet; n++) {
    const plan = await client.call('POST', `/v2/actions/deposit/${opportunity.id}`, {
      ...common,
      amount: String(BigInt(n) * whole),
    })
    expect(plan.transactions).toHaveLength(1)
    planned.push({ account, transaction: plan.transactions[0].transaction })
  }
  return planned
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
      if (!answer) await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  await Promise.all([ask(), ask(), ask()])
}

/** What the chain itself says about the transactions sent: the recount. */
async function readDeposits(client: ReturnType<typeof openClient>, hashes: Hex[]): Promise<string[]> {
  const lines: string[] = []
  for (const hash of hashes) {
    const receipt = await client.chain.getTransactionReceipt({ hash })
    for (const log of parseEventLogs({ abi: depositEvent, eventName: 'Deposit', logs: receipt.logs }))
      lines.push(`${hash}:${log.logIndex}:${log.args.owner}:${log.args.assets}`)
  }
  return lines
}
