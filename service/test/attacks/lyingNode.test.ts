import { readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { testTokenAbi, testTokenBytecode, yieldVaultAbi, yieldVaultBytecode } from '@openearn/contracts'
import { type Abi, type Address, concatHex, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Anvil, account, startAnvil } from '../../../contracts/test/anvil.js'
import { presentSeconds } from '../../../contracts/test/present.js'
import { until } from '../../../contracts/test/until.js'
import { makeFolder, runOpenEarn, type Started, startOpenEarn, waitUntilReady } from '../e2e/process.js'

const chainId = 31_337
const distributorId = 'Y2Zi7KWy'
/** ERC-8021 schema 0 of the code above: code, its length, the schema, the marker. */
const suffix: Hex = concatHex([
  `0x${Buffer.from(distributorId).toString('hex')}`,
  '0x08',
  '0x00',
  '0x80218021802180218021802180218021',
])
const users = [account(1), account(2), account(3)] as const
const events = parseAbi([
  'event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
])

type Call = { id: number; method: string }
type Answer = { id: number; result?: unknown }
/** What the node says instead of the truth. */
type Lie = 'nothing' | 'halfOfLogs' | 'down'

let folder: string
let env: Record<string, string>
let anvil: Anvil
let token: Address
let vault: Address
let proxy: { url: string; server: Server; state: { lie: Lie; told: number } }
let service: Started | undefined

/** A node in front of the chain that is down or leaves every other log out of its lists. */
async function startProxy(target: string): Promise<typeof proxy> {
  const state: { lie: Lie; told: number } = { lie: 'nothing', told: 0 }
  const falsify = (call: Call, answer: Answer): Answer => {
    if (state.lie !== 'halfOfLogs' || call.method !== 'eth_getLogs' || !Array.isArray(answer.result)) return answer
    if (answer.result.length > 0) state.told += 1
    return { ...answer, result: answer.result.filter((_log, index) => index % 2 === 0) }
  }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    if (state.lie === 'down') {
      response.writeHead(503).end()
      return
    }
    const asked = JSON.parse(body) as Call | Call[]
    const headers = { 'content-type': 'application/json' }
    const truth = (await (await fetch(target, { method: 'POST', headers, body })).json()) as Answer | Answer[]
    const calls = Array.isArray(asked) ? asked : [asked]
    const answers = Array.isArray(truth) ? truth : [truth]
    const told = calls.map((call) => falsify(call, answers.find(({ id }) => id === call.id) ?? { id: call.id }))
    response.writeHead(200, headers).end(JSON.stringify(Array.isArray(asked) ? told : told[0]))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, state }
}

beforeAll(async () => {
  folder = await makeFolder('openearn-lying-')
  env = { OPENEARN_DATA_DIR: join(folder, 'data') }
  anvil = await startAnvil({ timestamp: presentSeconds() - 86_400 })
  token = await anvil.deploy({ abi: testTokenAbi as Abi, bytecode: testTokenBytecode, args: ['Dollar', 'USD', 6] })
  const args = [token, 'Vault', 'vUSD', 0, 0n, true]
  vault = await anvil.deploy({ abi: yieldVaultAbi as Abi, bytecode: yieldVaultBytecode, args })
  const call = { address: token, abi: testTokenAbi } as const
  for (const user of users) {
    await anvil.done(anvil.client.writeContract({ ...call, functionName: 'mint', args: [user.address, 10n ** 12n] }))
    const approve = { ...call, account: user, functionName: 'approve', args: [vault, 2n ** 255n] } as const
    await anvil.done(anvil.client.writeContract(approve))
  }
  proxy = await startProxy(anvil.url)
})
afterAll(async () => {
  await service?.stop()
  await new Promise((resolve) => proxy.server.close(resolve))
  await anvil.stop()
  await rm(folder, { recursive: true, force: true })
})

async function setUp(): Promise<string> {
  await runOpenEarn(['migrate'], env)
  const organizationId = (await runOpenEarn(['orgs', 'create', '--name', 'First'], env)).trim()
  await runOpenEarn(
    ['distributors', 'create', distributorId, '--org', organizationId, '--active-from', '1970-01-01T00:00:00Z'],
    env,
  )
  const created = await runOpenEarn(['keys', 'create', '--org', organizationId, '--kind', 'secret'], env)
  await runOpenEarn(
    ['chains', 'add', String(chainId), '--name', 'Devnet', '--rpc', proxy.url, '--confirmations', '1'],
    env,
  )
  const share = { chainId, address: vault, symbol: 'vUSD', name: 'Vault', decimals: 6 }
  const catalogue = {
    tokens: [{ chainId, address: token, symbol: 'USD', name: 'Dollar', decimals: 6, pegUsd: '1' }, share],
    opportunities: [
      {
        slug: 'vault',
        name: 'Vault',
        type: 'vault',
        vault: {
          chainId,
          address: vault,
          kind: 'erc4626',
          asset: token,
          activeFrom: '1970-01-01T00:00:00Z',
          startBlock: 0,
        },
        depositTokens: [token],
      },
    ],
  }
  const file = join(folder, 'catalogue.json')
  await writeFile(file, JSON.stringify(catalogue))
  await runOpenEarn(['catalogue', 'import', file], env)
  return /sk_live_[0-9A-Za-z]{38}/.exec(created)?.[0] ?? ''
}

let made = 0
/** Deposits that carry the code, and blocks behind them. */
async function act(deposits: number, blocks: number): Promise<void> {
  for (let at = 0; at < deposits; at++) {
    const user = users[made % users.length] ?? users[0]
    const args = [BigInt(1_000_000 + made), user.address] as const
    const data = concatHex([encodeFunctionData({ abi: yieldVaultAbi, functionName: 'deposit', args }), suffix])
    await anvil.done(anvil.client.sendTransaction({ account: user, to: vault, data, gas: 1_000_000n }))
    made += 1
  }
  await anvil.client.mine({ blocks })
}

describe('a node that leaves out every other log for a while', () => {
  it('[dropped-logs] costs the ledger no entry and no balance once it is honest again, without an operator', async () => {
    const key = await setUp()
    service = startOpenEarn(['start'], env)
    const ready = await waitUntilReady(service)
    const baseUrl = /https?:\/\/[^\s,]+/.exec(ready)?.[0] ?? ''
    const get = async (path: string) => {
      const answer = await fetch(new URL(path, baseUrl), { headers: { 'X-API-Key': key } })
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
      return answer.json() as Promise<Record<string, unknown>>
    }
    const indexed = async () => {
      const { chains } = (await get('/v2/indexing-status/')) as { chains: { indexedBlock: number }[] }
      return chains[0]?.indexedBlock ?? 0
    }
    const head = async () => Number(await anvil.client.getBlockNumber())
    const caughtUp = (what: string) => until(what, async () => (await indexed()) >= (await head()))
    await act(4, 5)
    await caughtUp('the first blocks')

    // A pause makes a range of what happens meanwhile; then the node lies about it until it is read, or has told five lies.
    proxy.state.lie = 'down'
    await act(40, 120)
    proxy.state.lie = 'halfOfLogs'
    await until('a lie', async () => proxy.state.told > 1)
    await until('the lies', async () => proxy.state.told >= 5 || (await indexed()) >= (await head()))
    await act(6, 0)
    proxy.state.lie = 'nothing'
    await act(2, 100)
    await caughtUp('the head, honestly')

    const range = { address: vault, fromBlock: 0n, toBlock: 'latest' } as const
    const deposits = await anvil.client.getLogs({ ...range, event: events[0] })
    expect(deposits).toHaveLength(made)
    const found = async () => {
      const entries: string[] = []
      for (let page = 1; ; page++) {
        const answer = (await get(`/v2/interactions/?page=${page}&limit=100`)) as {
          data: { txHash: string; logIndex: number }[]
          pagination: { totalPages: number }
        }
        entries.push(...answer.data.map(({ txHash, logIndex }) => `${txHash}:${logIndex}`))
        if (page >= answer.pagination.totalPages) return new Set(entries)
      }
    }
    const known = await found()
    const missing = deposits.filter((log) => !known.has(`${log.transactionHash}:${log.logIndex}`))
    expect(missing.map(({ transactionHash }) => transactionHash)).toEqual([])

    const balances = new Map<string, bigint>()
    for (const { args } of await anvil.client.getLogs({ ...range, event: events[1] })) {
      const add = (wallet: string, amount: bigint) => balances.set(wallet, (balances.get(wallet) ?? 0n) + amount)
      add(String(args.from).toLowerCase(), -(args.value ?? 0n))
      add(String(args.to).toLowerCase(), args.value ?? 0n)
    }
    const out = join(folder, 'export')
    await runOpenEarn(['export', 'balances', '--format', 'csv', '--out', out], env)
    const kept = (await readFile(join(out, 'balances.csv'), 'utf8')).toLowerCase()
    for (const { address } of users) expect(kept).toContain(`${balances.get(address.toLowerCase())}`)
  }, 180_000)
})
