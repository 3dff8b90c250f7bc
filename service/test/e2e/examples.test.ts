import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as client from '@openearn/sdk'
import { createEarnClient, type EarnClient } from '@openearn/sdk'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operations } from '../../src/server/operations.js'
import { openContract } from '../contract.js'
import { programs, readAllSnippets, root, type Snippet, scriptsOf } from '../documents.js'
import { openClient } from './client.js'
import { type Dev, makeFolder, type Started, startNewDevnet } from './process.js'
import { countRootsAgain } from './rewardRoots.js'
import { fillIn, makeCheckout, runScript, runTypescript } from './snippets.js'

// biome-ignore lint/suspicious/noExplicitAny: the test reads a document of every shape
type Loose = any

/** A folder that looks like a checkout, with the devnet's data where README.md says they are. */
let folder: string
let snippets: Snippet[]
let devnet: Started & { dev: Dev }
let document: Loose

beforeAll(async () => {
  folder = await makeFolder('openearn-examples-')
  await makeCheckout(folder)
  devnet = await startNewDevnet(join(folder, '.openearn'))
  snippets = await readAllSnippets()
  document = await (await fetch(`${devnet.dev.opsUrl}/openapi.json`)).json()
}, 180_000)
afterAll(async () => {
  await devnet?.stop()
  await rm(folder, { recursive: true, force: true })
}, 60_000)

/** A request made of nothing but the examples of an operation, sent to the server the document names. */
async function sendExample(path: string, method: string, operation: Loose) {
  const query = new URLSearchParams()
  const headers: Record<string, string> = { 'X-API-Key': devnet.dev.keys.secret }
  let filled = path
  for (const reference of operation.parameters) {
    const parameter = reference.$ref ? document.components.parameters[reference.$ref.split('/').at(-1)] : reference
    const { in: place, name, example } = parameter
    if (place === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(example))
    else if (example !== undefined && place === 'query') query.append(name, String(example))
    else if (example !== undefined) headers[name] = String(example)
  }
  const body = operation.requestBody?.content['application/json'].example
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  const response = await fetch(`${document.servers[0].url}${filled}?${query}`, {
    method: method.toUpperCase(),
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (response.headers.get('content-type') === 'text/event-stream') {
    // It does not end by itself.
    await response.body?.cancel()
    return { status: response.status, body: {} }
  }
  return { status: response.status, body: (await response.json()) as Loose }
}

describe('the examples of the document the devnet serves', () => {
  it.each(operations.map(({ operationId, path, method }) => [operationId, path, method.toLowerCase()] as const))(
    'of %s, sent to it, are answered with the status shown',
    async (_id, path, method) => {
      const operation = document.paths[path][method]
      const shown = operation['x-example-status']
      const { status, body } = await sendExample(path, method, operation)
      expect([status, status === shown ? '' : JSON.stringify(body)]).toEqual([shown, ''])
      // A refusal is shown whole.
      if (status !== 200) expect(body).toEqual(operation.responses[status].content['application/json'].example)
    },
  )
})

describe('the client of the sdk', () => {
  const contract = openContract(operations)
  const functions = client as unknown as Record<string, (client: EarnClient, params: object) => Promise<unknown>>

  /** A stream is read by a program of docs/events.md, below. */
  const ended = operations.filter(({ isLive }) => !isLive)

  it.each(ended.map(({ operationId, path, method }) => [operationId, path, method.toLowerCase()] as const))(
    'sends the examples of %s to it, and gets what the document says',
    async (operationId, path, method) => {
      const operation = document.paths[path][method]
      const params: Record<string, unknown> = { ...operation.requestBody?.content['application/json'].example }
      for (const { in: place, name, example } of operation.parameters)
        if (place !== 'header' && example !== undefined) params[name] = example
      let seen: { status: number; headers: Record<string, string>; body: unknown } | undefined
      const earn = createEarnClient({
        baseUrl: document.servers[0].url,
        apiKey: devnet.dev.keys.secret,
        retries: 0,
        fetch: async (...request) => {
          const response = await fetch(...request)
          const headers = Object.fromEntries(response.headers)
          seen = { status: response.status, headers, body: await response.clone().json() }
          return response
        },
      })
      // A symbol is taken once.
      if (operationId === 'CreateStreamPoint') params['symbol'] += '2'
      const call = functions[operationId[0]!.toLowerCase() + operationId.slice(1)]!
      const answer = await call(earn, params).catch((error: unknown) => error)
      expect(seen?.status).toBe(operation['x-example-status'])
      expect(contract.check(operationId, seen!)).toEqual([])
      if (seen?.status === 200) expect(answer).toEqual(seen.body)
      else expect(answer).toMatchObject({ name: 'EarnError', operation: operationId, code: seen?.status })
    },
  )
})

describe('what the documents tell a reader to run beside the devnet', () => {
  const read = (name: string) =>
    snippets
      .filter(({ document, language }) => `${document} ${language}` === name)
      .flatMap(({ lines }) => lines)
      .join('\n')

  it('is in these documents', () => {
    expect([...scriptsOf(snippets, 'devnet').keys()].sort()).toEqual([
      'README.md',
      'docs/catalogue.md',
      'docs/integrating.md',
      'docs/orders.md',
      'docs/runbook.md',
      'docs/streams.md',
      'docs/wallet-days.md',
    ])
    expect(programs.filter((name) => read(name) === '')).toEqual([])
  })

  it.each([
    'README.md',
    'docs/integrating.md',
    'docs/catalogue.md',
    'docs/runbook.md',
    'docs/streams.md',
    'docs/wallet-days.md',
    // Last: its demo moves the time of the chain ahead.
    'docs/orders.md',
  ])(
    '%s: each command of a shell ends well, as it stands',
    async (document) => {
      const { dev } = devnet
      const [first, second] = dev.opportunities
      const here: Record<string, Record<string, string>> = {
        'README.md': { 'http://127.0.0.1:4020': dev.baseUrl },
        'docs/integrating.md': { 'http://127.0.0.1:4020': dev.baseUrl },
        'docs/catalogue.md': {
          '1 0xVAULT': `${dev.chainId} ${first?.vaultAddress}`,
          'https://node.example': dev.rpcUrl,
        },
      }
      await writeFile(join(folder, 'vaults.txt'), `${dev.chainId} ${second?.vaultAddress}  # the second\n`)
      const script = scriptsOf(snippets, 'devnet').get(document) ?? ''
      const said = await runScript(folder, fillIn(script, here[document] ?? {}))
      if (document === 'README.md')
        expect(said).toContain('Verified, signed and attributed: a deposit and a withdrawal.')
      if (document === 'docs/orders.md') expect(said).toContain('Filled, filled in parts, cancelled and expired:')
      if (document === 'docs/streams.md') expect(said).toContain('Created, accrued, committed, claimed and emptied.')
    },
    180_000,
  )

  it('docs/streams.md: every root comes out of a rebuilt database, and out of its file and the node alone', async () => {
    const roots = await countRootsAgain(devnet.dev, { folder, dataDir: join(folder, '.openearn') })
    expect(roots.streams).toBeGreaterThanOrEqual(3)
    expect(roots.committed).toBeGreaterThanOrEqual(2)
  }, 180_000)

  it('docs/integrating.md: the program asks the API, and throws what it refuses', async () => {
    const text = `const [baseUrl, key] = process.argv.slice(2) as [string, string]
      ${read('docs/integrating.md ts')}
      const { data } = await get('/v2/opportunities/?limit=3')
      const refused = await get('/v2/opportunities/?page=x').catch((error) => error)
      console.log(data.length, refused instanceof Error, refused.status)`
    const words = [devnet.dev.baseUrl, devnet.dev.keys.publishable]
    expect(await runTypescript('integrating', text, words)).toBe('3 true INVALID_ARGUMENT\n')
  }, 60_000)

  it('docs/events.md: the program tells a deposit as soon as it is verified', async () => {
    const { baseUrl, keys, accounts, distributorIds, opportunities } = devnet.dev
    const { id, asset } = opportunities.find(({ kind }) => kind === 'erc4626')!
    const plain = openClient(devnet.dev)
    const account = privateKeyToAccount(accounts[1]!.privateKey)
    const { isMember } = await plain.call('GET', `/v2/membership/?address=${account.address}`)
    if (!isMember) await plain.join(accounts[1]!.privateKey, distributorIds[0]!)
    const text = fillIn(read('docs/events.md ts'), {
      'https://earn.example': baseUrl,
      'pk_live_…': keys.publishable,
      'wallet:0x…': `wallet:${account.address}`,
      'console.log(type, data)': '{\n  console.log(type, data.txHash)\n  break\n}',
    })
    const running = runTypescript('events', text, [])
    const body = { userAddress: account.address, tokenIn: asset.address, distributorId: distributorIds[0] }
    const amount = String(10n ** BigInt(asset.decimals))
    const hashes: string[] = []
    // The stream may be opened after the first of them.
    const isOver = running.then(() => true)
    do {
      const plan = await plain.call('POST', `/v2/actions/deposit/${id}`, { ...body, amount })
      const receipt = await plain.sendAll(account, plan.transactions)
      hashes.push(receipt.transactionHash)
      await plain.waitForEntry(distributorIds[0]!, receipt.transactionHash)
    } while (!(await Promise.race([isOver, Promise.resolve(false)])) && hashes.length < 20)
    const [type, hash] = (await running).trim().split(' ')
    expect(type).toBe('interaction.confirmed')
    expect(hashes).toContain(hash)
  }, 120_000)

  it('docs/moving.md: the program of the older client lists what the service offers', async () => {
    const { baseUrl, keys, opportunities } = devnet.dev
    const text = fillIn(read('docs/moving.md ts'), { 'http://127.0.0.1:4020': baseUrl, 'pk_live_…': keys.publishable })
    const said = await runTypescript('moving', text, [])
    const lines = said.trim().split('\n')
    expect(lines).toHaveLength(3)
    for (const line of lines)
      expect(
        opportunities.some(({ name }) => line.startsWith(`${name} `)),
        line,
      ).toBe(true)
  }, 60_000)

  it('sdk/README.md: the program walks over the vaults and builds a deposit', async () => {
    const { baseUrl, keys, accounts, distributorIds, opportunities } = devnet.dev
    const { id, asset } = opportunities.find(({ kind }) => kind === 'erc4626')!
    const plain = openClient(devnet.dev)
    const { isMember } = await plain.call('GET', `/v2/membership/?address=${accounts[0]!.address}`)
    if (!isMember) await plain.join(accounts[0]!.privateKey, distributorIds[0]!)
    const given = {
      opportunityId: id,
      userAddress: accounts[0]!.address,
      tokenIn: asset.address,
      distributorId: distributorIds[0],
    }
    const text = fillIn(read('sdk/README.md ts'), {
      'http://127.0.0.1:4020': baseUrl,
      'pk_live_…': keys.publishable,
      '[1, 8453]': '[31337]',
    })
    const named = `const { opportunityId, userAddress, tokenIn, distributorId } = ${JSON.stringify(given)} as const`
    const told = 'console.log(plan.transactions.map(({ type }) => type).join())'
    const said = await runTypescript('calling', `${text.replace('const plan', `${named}\n$&`)}\n${told}`, [])
    expect(said).toMatch(/^(.+ \d.*\n)+(approve,)?deposit\n$/)
  }, 60_000)

  it('sdk/README.md: the program says what would be signed', async () => {
    const text = `import { readFileSync } from 'node:fs'
      ${read('sdk/README.md js')}
      type Words = Parameters<typeof verifyPlan>
      type Example = { request: Words[0]; plan: { transactions: Words[1] }; context: Words[2] }
      function show(sentence: string) { console.log(sentence) }`
    const given = `const { request, plan, context }: Example = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'))`
    const said = await runTypescript('verifying', text.replace('const verdict', `${given}\n$&`), [
      join(root, 'sdk/examples/deposit.json'),
    ])
    expect(said).toMatch(/^Allow 0x.*\nDeposit 123000000 units .*\n$/)
  }, 60_000)
})
