import { rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { readAllSnippets, readSnippets, scriptsOf } from '../documents.js'
import { makeOwnedDatabase, type OwnedDatabase } from '../roles.js'
import { seededKey } from '../seed.js'
import { makeFolder } from './process.js'
import { fillIn, makeCheckout, runScript } from './snippets.js'

let folder: string
let database: OwnedDatabase
let node: Server
let nodeUrl: string
let scripts: Map<string, string>

beforeAll(async () => {
  folder = await makeFolder('openearn-documents-')
  await makeCheckout(folder)
  database = await makeOwnedDatabase(inject('database').server, `documents_${process.pid}`)
  node = createServer(async (request, response) => {
    const { id } = (await json(request)) as { id: number }
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: '0x1' }))
  })
  await new Promise<void>((done) => node.listen(0, '127.0.0.1', done))
  const address = node.address()
  nodeUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  scripts = scriptsOf(await readAllSnippets(), 'earnest')
  // The catalogue that an operator imports is the one docs/catalogue.md shows, with the swap it shows beside it.
  const [whole = '', swap = ''] = (await readSnippets('docs/catalogue.md'))
    .filter(({ language }) => language === 'json')
    .map(({ lines }) => lines.join('\n'))
  const catalogue = JSON.parse(whole)
  const { swap: named } = Object.assign(catalogue.chains[0], JSON.parse(`{${swap}}`))
  catalogue.tokens.push({
    chainId: 1,
    address: named.hubTokens[0],
    decimals: 18,
    symbol: 'WETH',
    name: 'Wrapped Ether',
  })
  await writeFile(join(folder, 'catalogue.json'), whole)
  await writeFile(join(folder, 'my-catalogue.json'), JSON.stringify(catalogue))
}, 60_000)
afterAll(async () => {
  await database?.drop()
  await new Promise((done) => node?.close(done))
  await rm(folder, { recursive: true, force: true })
})

describe('what the documents tell an operator to run, against a PostgreSQL of his own', () => {
  it('is in these documents', () => {
    expect([...scripts.keys()].sort()).toEqual(['README.md', 'docs/catalogue.md'])
  })

  it('README.md sets up a service and starts it, as its lines stand', async () => {
    const said = await runScript(
      folder,
      fillIn(scripts.get('README.md') ?? '', {
        'postgres://…': `'${database.owner}'`,
        '0x…': seededKey(),
        "./openearn orgs create --name 'My Wallet'": "ID=$(./openearn orgs create --name 'My Wallet')",
        '--org ID': '--org "$ID"',
        'https://…': nodeUrl,
      }),
    )
    expect(said).toMatch(/pk_live_[0-9A-Za-z]{38}/)
    expect(said).toMatch(/imported my-catalogue\.json: 1 opportunities/)
    expect(said).toMatch(/^ready http/m)
  }, 120_000)

  it('docs/catalogue.md: its example is imported', async () => {
    const said = await runScript(folder, scripts.get('docs/catalogue.md') ?? '', { DATABASE_URL: database.owner })
    expect(said).toMatch(/^imported catalogue\.json: 1 opportunities/m)
  }, 60_000)
})
