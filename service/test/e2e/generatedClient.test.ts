import { rm } from 'node:fs/promises'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { present } from '../../../contracts/test/present.js'
import { operations } from '../../src/server/operations.js'
import { openClient } from './client.js'
import { type Asked, compileClients, generators, outputOf, type Plan, writeClient } from './generators.js'
import { type Dev, makeFolder, type Started, startDevnet } from './process.js'

let dataDir: string
let devnet: Started & { dev: Dev }
let known: Record<string, unknown>
// biome-ignore lint/suspicious/noExplicitAny: the generated module has no types before it is generated
let sdk: Record<string, (options: any) => Promise<any>>
let client: unknown

beforeAll(async () => {
  for (const generator of generators) await writeClient(generator)
  sdk = await import(/* @vite-ignore */ `${outputOf('hey-api')}/sdk.gen.ts`)
  const made = await import(/* @vite-ignore */ `${outputOf('hey-api')}/client/index.ts`)
  dataDir = await makeFolder('openearn-generated-')
  devnet = await startDevnet(dataDir)
  const { dev } = devnet
  client = made.createClient({ baseUrl: dev.baseUrl, auth: () => dev.keys.secret })
  known = await lookAround(dev)
}, 180_000)

afterAll(async () => {
  await devnet?.stop()
  await rm(dataDir, { recursive: true, force: true })
}, 60_000)

/** Makes a deposit of the first account; values of the devnet by the name of the parameter they fit. */
async function lookAround(dev: Dev): Promise<Record<string, unknown>> {
  const plain = openClient(dev)
  const opportunity = dev.opportunities.find(({ kind }) => kind === 'erc4626')!
  const distributorId = dev.distributorIds[0]!
  const account = privateKeyToAccount(dev.accounts[0]!.privateKey)
  const { address } = account
  const { isMember } = await plain.call('GET', `/v2/membership/?address=${address}`)
  if (!isMember) await plain.join(dev.accounts[0]!.privateKey, distributorId)
  const body = {
    userAddress: address,
    tokenIn: opportunity.asset.address,
    amount: String(10n ** BigInt(opportunity.asset.decimals)),
    distributorId,
  }
  const plan = await plain.call('POST', `/v2/actions/deposit/${opportunity.id}`, body)
  const receipt = await plain.sendAll(account, plan.transactions)
  await plain.waitForEntry(distributorId, receipt.transactionHash)
  const sold = { tokenIn: body.tokenIn, tokenOut: 'native', amountIn: body.amount, slippageBps: 50 }
  const about = { userAddress: address, chainId: dev.chainId, distributorId }
  const { orderId } = await plain.call('POST', '/v2/swap/orders/build', { ...about, ...sold })
  const { id: webhookId } = await plain.call(
    'POST',
    '/v2/webhooks',
    { url: 'https://app.example/events' },
    dev.keys.secret,
  )
  return {
    webhookId,
    id: opportunity.id,
    opportunityId: opportunity.id,
    chainId: dev.chainId,
    vaultAddress: opportunity.vaultAddress,
    distributorId,
    actionId: plan.actionId,
    txHash: receipt.transactionHash,
    address,
    addresses: dev.accounts.map((one) => one.address),
    startDate: new Date(present().getTime() - 7_200_000).toISOString(),
    endDate: present().toISOString(),
    walletEcosystem: 'evm',
    wallet: address,
    user: address,
    streamIds: opportunity.id,
    orderId,
  }
}

/** What is asked of is a vault's id, which no stream of the devnet has: what is of one is not found. */
const ofOneThing = new Set(['GetStreamClaims', 'GetStreamWallets', 'GetStreamWallet', 'GetActiveAdminOperation'])

/** What the generator calls an operation: several capitals in a row are a word to it. */
const generatedName = (operationId: string) =>
  `${operationId[0]!.toLowerCase()}${operationId.slice(1)}`.replace(
    /[A-Z]{2,}s?$/,
    (last) => `${last.slice(0, 1)}${last.slice(1).toLowerCase()}`,
  )

/** Operations whose path names a thing other than their parameter's usual one. */
const special: Record<string, () => Record<string, unknown>> = {
  GetTokenByAddress: () => ({ address: devnet.dev.opportunities[0]!.asset.address }),
  GetSwap: () => ({
    ...{ user: devnet.dev.accounts[0]!.address, chainId: 31337, distributorId: devnet.dev.distributorIds[0] },
    ...{
      tokenIn: devnet.dev.opportunities[0]!.asset.address,
      tokenOut: 'native',
      amountIn: '1000000',
      slippageBps: 50,
    },
  }),
}

describe('a client generated from the OpenAPI document, validating every answer', () => {
  const reads = operations.filter(({ method, isLive }) => method === 'GET' && !isLive)

  it.each(reads.map((operation) => [operation.operationId, operation] as const))(
    'runs %s on the devnet without a complaint',
    async (operationId, operation) => {
      const values = { ...known, ...special[operationId]?.() }
      const fill = (schema: typeof operation.params) => {
        const required = new Set<string>((schema?.required ?? []) as string[])
        return Object.fromEntries(
          Object.keys(schema?.properties ?? {})
            .filter((name) => required.has(name))
            .map((name) => {
              expect(values, `a value for ${name}`).toHaveProperty(name)
              return [name, values[name]]
            }),
        )
      }
      const name = generatedName(operationId)
      const options = { client, path: fill(operation.params), query: fill(operation.query) }
      if (ofOneThing.has(operationId)) {
        expect((await sdk[name]!(options)).response.status).toBe(404)
        return
      }
      const { data, response } = await sdk[name]!({ ...options, throwOnError: true })
      expect(response.status).toBe(200)
      expect(data).toBeTypeOf('object')
    },
  )

  it('is red on an answer that does not fit: the validation is on', async () => {
    const lying = async () =>
      new Response('{"data":[{"chainId":"one"}]}', { headers: { 'content-type': 'application/json' } })
    await expect(sdk['getChains']!({ client, fetch: lying, throwOnError: true })).rejects.toThrow()
  })
})

describe('clients of three generators', () => {
  const names = generators.map(({ name }) => name)

  it('compile strictly with an app that leaves out what it may, and not where a number stands for a text', () => {
    const said = compileClients(names)
    expect(said.map((each) => each.split(':')[0])).toEqual(names.map((name) => `${name}/wrong.ts`))
    for (const each of said) expect(each).toMatch(/Type 'number' is not assignable to type 'string'|amount: number/)
  }, 60_000)

  it.each(names)('make the plan of a deposit: %s', async (name) => {
    const { dev } = devnet
    const { makePlan } = (await import(/* @vite-ignore */ `${outputOf(name)}/use.ts`)) as {
      makePlan(asked: Asked): Promise<Plan>
    }
    const { id, asset, vaultAddress } = dev.opportunities.find(({ kind }) => kind === 'erc4626')!
    const amount = String(10n ** BigInt(asset.decimals))
    const userAddress = dev.accounts[0]!.address
    const body = { userAddress, tokenIn: asset.address, amount, distributorId: dev.distributorIds[0]! }
    const plan = await makePlan({ baseUrl: dev.baseUrl, key: dev.keys.publishable, opportunityId: id, body })
    expect(plan.actionId).toMatch(/^[0-9a-f-]{36}$/)
    const { type, transaction } = plan.transactions.at(-1)!
    expect([type, transaction.to.toLowerCase()]).toEqual(['deposit', vaultAddress.toLowerCase()])
  })
})
