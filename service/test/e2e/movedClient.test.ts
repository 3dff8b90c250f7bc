import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { createClient } from '@hey-api/openapi-ts'
import * as turtle from '@openearn/sdk/turtle'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { present } from '../../../contracts/test/present.js'
import { openClient } from './client.js'
import { type Dev, makeFolder, type Started, startDevnet } from './process.js'

// biome-ignore lint/suspicious/noExplicitAny: the program is written for a generated module without types
type Loose = any

const input = fileURLToPath(new URL('../../openapi.json', import.meta.url))
/** Inside the workspace, so that the generated code finds its packages; not committed. */
const output = fileURLToPath(new URL('../../.generated/origin', import.meta.url))

/** Operations that the origin's document does not have. */
const added = new Set([
  ...['GetAction', 'GetAttribution', 'GetIndexingStatus', 'GetOpportunityHistoricalLPs', 'GetWalletRequests'],
  ...['GetActiveAdminOperation', 'IncreaseStreamBudget', 'CreateStreamWithdrawal', 'BuildSwapOrder', 'SubmitSwapOrder'],
  ...['GetSwapOrderStatus', 'ReportSwapExecution'],
])
/** Operations that have another id there. */
const renamed: Record<string, string> = {
  CreateMembership: 'CreateMembershipV2',
  CreateMembershipAgreement: 'CreateMembershipAgreementV2',
  GetDistributorDeposits: 'GetDistributorDepositsV2',
  GetSwap: 'GetEarnSwapV2',
  GetMerkleProofs: 'turtle/streams.GetMerkleProofs',
  GetWalletPortfolio: 'protocols/wallet.GetWalletPortfolio',
}

/** Our document as the origin has it: its forty operations, by its ids. */
async function reduceDocument(): Promise<object> {
  const document = JSON.parse(await readFile(input, 'utf8'))
  const later = Object.keys(turtle).length - 3
  for (const [path, item] of Object.entries<Loose>(document.paths)) {
    for (const [method, operation] of Object.entries<Loose>(item)) {
      const { operationId } = operation
      const here = Object.keys(turtle).map((name) => name.toLowerCase())
      const there = renamed[operationId] ?? operationId
      // An operation that came later than the origin's client is not one of the twelve, and not one of the forty.
      if (added.has(operationId) || !here.includes(there.replace(/[/.]/g, '').toLowerCase())) delete item[method]
      else operation.operationId = there
      if (operationId === 'ListInteractions') dropAfter(operation)
    }
    if (Object.keys(item).length === 0) delete document.paths[path]
  }
  const kept = Object.values<Loose>(document.paths).flatMap((item) => Object.keys(item)).length
  expect([kept, later]).toEqual([40, 40])
  return document
}

/** The origin's list has no `after`, and always a pagination. */
function dropAfter(operation: Loose): void {
  operation.parameters = operation.parameters.filter(({ name }: Loose) => name !== 'after')
  const { schema } = operation.responses[200].content['application/json']
  delete schema.properties.next
  schema.required.push('pagination')
}

type Outcome = { data: Loose; error: Loose; request: Request; response: Response }
type Sdk = Record<string, (options?: object) => Promise<Outcome>> & { client: Loose; createClient: Loose }

let dataDir: string
let devnet: Started & { dev: Dev }
let generated: Sdk
const moved = turtle as unknown as Sdk

beforeAll(async () => {
  await rm(output, { recursive: true, force: true })
  await mkdir(output, { recursive: true })
  const reduced = `${output}/openapi.json`
  await writeFile(reduced, JSON.stringify(await reduceDocument()))
  await createClient({
    input: reduced,
    output: `${output}/client`,
    logs: { level: 'silent' },
    plugins: ['@hey-api/client-fetch', '@hey-api/typescript', 'zod', { name: '@hey-api/sdk', validator: true }],
  })
  const [operations, made, common] = await Promise.all(
    ['sdk.gen.ts', 'client/index.ts', 'client.gen.ts'].map(
      (name) => import(/* @vite-ignore */ `${output}/client/${name}`),
    ),
  )
  generated = { ...operations, createClient: made.createClient, client: common.client }
  dataDir = await makeFolder('openearn-moved-')
  devnet = await startDevnet(dataDir)
}, 180_000)
afterAll(async () => {
  await devnet?.stop()
  await rm(dataDir, { recursive: true, force: true })
}, 60_000)

/** The places where two answers have not the same members, or members of other types; lists are compared by their first items. */
function listDifferences(a: Loose, b: Loose, place = 'body'): string[] {
  if (typeof a !== typeof b || (a === null) !== (b === null)) return [`${place}: ${typeof a}, ${typeof b}`]
  if (Array.isArray(a) && Array.isArray(b)) return a[0] && b[0] ? listDifferences(a[0], b[0], `${place}[]`) : []
  if (typeof a !== 'object' || a === null) return []
  const names = new Set([...Object.keys(a), ...Object.keys(b)])
  return [...names].flatMap((name) => listDifferences(a[name], b[name], `${place}.${name}`))
}

/**
 * Plays what users of the origin write, for one account: configure the client, look around, join, deposit, follow, swap,
 * leave, and run a stream of points. Tells what each call came to.
 */
async function play(sdk: Sdk, dev: Dev, { at, symbol }: { at: number; symbol: string }): Promise<[string, Loose][]> {
  const said: [string, Loose][] = []
  const { client } = sdk
  client.setConfig({ baseUrl: dev.baseUrl, headers: { Authorization: `Bearer ${dev.keys.secret}` } })
  const statuses: number[] = []
  const counter = client.interceptors.response.use((response: Response) => {
    statuses.push(response.status)
    return response
  })
  const call = async (name: string, options?: object): Promise<Loose> => {
    const { data, error, request, response } = await sdk[name]!(options)
    expect([request instanceof Request, response.status === 200], name).toEqual([true, data !== undefined])
    said.push([name, [response.status, data ?? error]])
    return data
  }
  const { address, privateKey } = dev.accounts[at]!
  const account = privateKeyToAccount(privateKey)
  const [distributorId] = dev.distributorIds
  const { id, asset, vaultAddress } = dev.opportunities.find(({ kind }) => kind === 'erc4626')!
  const waiting = dev.opportunities.find(({ kind }) => kind === 'erc7540')!
  const { chainId } = dev

  await call('listOpportunities')
  await call('listOpportunities', { query: { chainIds: String(chainId), sortBy: 'tvl', sortOrder: 'asc', limit: 2 } })
  await call('listOpportunitiesByDistributor', { path: { distributorId } })
  await call('getOpportunity', { path: { id } })
  await call('getOpportunity', { path: { id: '117fbf7f-1755-4202-9bea-f02ff57091cb' } })
  for (const name of ['getOpportunityFilterOptions', 'getChains', 'getProtocols', 'getTokens']) await call(name)
  await call('getTokenByAddress', { path: { chainId, address: asset.address } })

  await call('getMembership', { query: { address, walletEcosystem: 'evm' } })
  const who = { address, walletEcosystem: 'evm' }
  const agreement = await call('createMembershipAgreementV2', { body: { ...who, url: 'https://app.example' } })
  const signature = await account.signMessage({ message: agreement.message })
  await call('createMembershipV2', { body: { ...who, signature, nonce: agreement.nonce, distributorId } })
  await call('createMembershipAgreementV2', { body: { ...who, url: 'https://app.example' } })

  const amount = String(10n ** BigInt(asset.decimals))
  const body = { userAddress: address, tokenIn: asset.address, amount, distributorId }
  const plan = await call('createDepositInteraction', { path: { opportunityId: id }, body })
  const chain = openClient(dev)
  const { transactionHash: txHash } = await chain.sendAll(account, plan.transactions)
  await chain.waitForEntry(distributorId!, txHash)
  await call('verifyTracking', { query: { chainId, txHash } })
  const request = { ...body, tokenIn: waiting.asset.address }
  const asked = await call('createDepositInteraction', { path: { opportunityId: waiting.id }, body: request })
  await chain.sendAll(account, asked.transactions)
  const of = { path: { opportunityId: waiting.id }, body: { userAddress: address, distributorId } }
  await call('createCancelDepositInteraction', of)
  await call('createClaimDepositInteraction', of)
  await call('createWithdrawInteraction', { path: { opportunityId: id }, body: { ...body, amount: '1000' } })
  await call('createDepositInteraction', { path: { opportunityId: id }, body: { ...body, amount: '9'.repeat(60) } })

  await call('getWalletActivity', { query: { addresses: address } })
  await call('protocolsWalletGetWalletPortfolio', { path: { address } })
  await call('listInteractions', { query: { distributorId, interactionType: 'deposit', limit: 1 } })
  await call('getDistributorDepositsV2', { path: { distributorId }, query: { page: 1, limit: 1 } })
  const range = { startDate: new Date(present().getTime() - 7_200_000).toISOString(), endDate: present().toISOString() }
  const chosen = { path: { distributorId }, query: { ...range, opportunityIds: [id, waiting.id] } }
  await call('getDistributorMetrics', { ...chosen, query: { ...chosen.query, includeTopWallets: true } })
  await call('getDistributorLps', chosen)
  for (const name of ['', 'Apr', 'Apy', 'Tvl', 'SharePrice'])
    await call(`getOpportunityHistorical${name}`, { path: { chainId, vaultAddress }, query: range })

  const swap = { user: address, chainId, distributorId, tokenIn: asset.address, tokenOut: 'native', amountIn: amount }
  await call('getEarnSwapV2', { query: { ...swap, slippageBps: 50 } })
  await call('getSwapDetails', { query: { chainId } })
  await call('getSwapTokens', { query: { chainId, limit: 2 } })

  const { point } = await call('createStreamPoint', { body: { symbol, name: 'Points of a test' } })
  const { tokens } = await call('getStreamTokens', { query: { chainId } })
  const target = tokens.find((token: Loose) => token.address.toLowerCase() === vaultAddress.toLowerCase())
  const day = 86_400_000
  const { stream } = await call('createStream', {
    body: {
      ...{ type: 3, pointId: point.id, customArgs: { targetTokenId: target.id, tokensPerDay: '1000' } },
      startTimestamp: new Date(present().getTime() + day).toISOString(),
      endTimestamp: new Date(present().getTime() + 2 * day).toISOString(),
    },
  })
  await call('getStreamPoints', { query: { symbol } })
  await call('getStreams', { query: { id: stream.id } })
  await call('postStreamsBulk', { body: { ids: [stream.id] } })
  await call('turtleStreamsGetMerkleProofs', { query: { wallet: address, streamIds: [stream.id] } })
  await call('getStreamWallets', { path: { id: stream.id } })
  await call('getStreamWallet', { path: { id: stream.id, address } })
  await call('getStreamsForWallet', { path: { address } })

  client.interceptors.response.eject(counter)
  expect(statuses).toEqual(said.map(([, [status]]) => status))
  await expect(
    sdk['getOpportunity']!({ path: { id: '117fbf7f-1755-4202-9bea-f02ff57091cb' }, throwOnError: true }),
  ).rejects.toMatchObject({ status: 'NOT_FOUND' })
  const other = sdk.createClient({ baseUrl: dev.baseUrl })
  const unknown = await sdk['getChains']!({ client: other })
  said.push(['getChains', [unknown.response.status, unknown.error]])
  const named = await sdk['getChains']!({ client: other, headers: { 'X-API-Key': dev.keys.publishable } })
  said.push(['getChains', [named.response.status, named.data]])
  return said
}

describe('a program of the origin', () => {
  it('runs on a client of its forty operations that validates every request and answer, and comes to the same here', async () => {
    const there = await play(generated, devnet.dev, { at: 1, symbol: 'ONE' })
    const here = await play(moved, devnet.dev, { at: 2, symbol: 'TWO' })
    expect(here.map(([name, [status]]) => `${name} ${status}`)).toEqual(
      there.map(([name, [status]]) => `${name} ${status}`),
    )
    for (const [index, [name, [, body]]] of here.entries())
      expect(listDifferences(body, there[index]![1][1]), name).toEqual([])
    const called = new Set(here.map(([name]) => name))
    expect(Object.keys(turtle).filter((name) => !called.has(name))).toEqual(['client', 'createClient', 'types'])
    const refused = here.filter(([, [status]]) => status !== 200).map(([name, [status]]) => `${name} ${status}`)
    expect(refused).toEqual([
      'getOpportunity 404',
      'createMembershipAgreementV2 409',
      'createClaimDepositInteraction 400',
      'createDepositInteraction 400',
      'getStreamWallet 404',
      'getChains 401',
    ])
  }, 180_000)
})
