import { execFileSync } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../contracts/test/until.js'
import { openClient } from './client.js'
import { planDeposits, readDeposits, showEntry } from './deposits.js'
import { type Dev, makeFolder, runOpenEarn, type Started, startOpenEarn, waitUntilReady } from './process.js'

let folder: string
let port: string
let devnet: Started & { dev: Dev }

/** A devnet whose chain has a port of its own, as with `npm start`. */
async function start(): Promise<Started & { dev: Dev }> {
  const started = startOpenEarn(['dev'], { OPENEARN_DATA_DIR: folder, ANVIL_PORT: port })
  await waitUntilReady(started)
  return { ...started, dev: JSON.parse(await readFile(join(folder, 'dev.json'), 'utf8')) }
}

beforeAll(async () => {
  folder = await makeFolder('openearn-dies-')
  port = await new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(String(typeof address === 'object' && address ? address.port : 0)))
    })
  })
  devnet = await start()
}, 120_000)
afterAll(async () => {
  await devnet?.stop()
  await rm(folder, { recursive: true, force: true })
}, 60_000)

const pidOfChain = async () => Number(JSON.parse(await readFile(join(folder, 'anvil/anvil.pid'), 'utf8')).anvil)

/** Deposits of a new member, sent and in the ledger. */
async function deposit(index: number, count: number): Promise<Hex[]> {
  const client = openClient(devnet.dev)
  const { privateKey } = devnet.dev.accounts[index]!
  await client.join(privateKey)
  const { data } = await client.call('GET', '/v2/opportunities/?depositTokenSymbols=usdc&chainIds=31337')
  const distributorId = devnet.dev.distributorIds[0]!
  const plans = await planDeposits(client, privateKeyToAccount(privateKey), data[0], { distributorId, count })
  const hashes: Hex[] = []
  for (const { account, transaction } of plans) hashes.push((await client.send(account, transaction)).transactionHash)
  for (const hash of hashes) await client.waitForEntry(distributorId, hash)
  return hashes
}

/** The ledger has those of the deposits that are on the chain, and no others. */
async function expectLedgerOfChain(hashes: Hex[]): Promise<void> {
  const client = openClient(devnet.dev)
  const isThere = async (hash: Hex) =>
    (await client.chain.request({ method: 'eth_getTransactionReceipt', params: [hash] })) !== null
  await until('the ledger to be that of the chain', async () => {
    const there: Hex[] = []
    for (const hash of hashes) if (await isThere(hash)) there.push(hash)
    const entries = (await client.listEntries(devnet.dev.distributorIds[0]!)).map(showEntry)
    return String(entries.sort()) === String((await readDeposits(client, there)).sort()) ? true : undefined
  })
}

describe('a devnet that is killed', () => {
  it('brings its chain back from its state while it runs, and takes back only what the chain lost', async () => {
    const hashes = await deposit(1, 3)
    process.kill(await pidOfChain(), 'SIGKILL')
    await until('the chain', async () => devnet.output().includes('the local chain is back'))
    await expectLedgerOfChain(hashes)
    await expectLedgerOfChain([...hashes, ...(await deposit(2, 2))])
  }, 180_000)

  it('goes on with the same keys, rows and chain, whatever was killed, on the same port', async () => {
    const organization = (await runOpenEarn(['orgs', 'create', '--name', 'Mine'], { OPENEARN_DATA_DIR: folder })).trim()
    const { keys } = devnet.dev
    for (let time = 0; time < 3; time++) {
      const pids = [await pidOfChain()]
      const postmaster = await readFile(join(folder, 'postgres/data/postmaster.pid'), 'utf8')
      if (time > 0) pids.push(Number(postmaster.split('\n')[0]))
      await devnet.kill()
      if (time < 2) execFileSync('kill', ['-9', ...pids.map(String)])
      devnet = await start()
      expect(devnet.dev.keys).toEqual(keys)
      expect(await runOpenEarn(['orgs', 'list'], { OPENEARN_DATA_DIR: folder })).toContain(organization)
      expect(devnet.output()).not.toMatch(/starting both over|deploying tokens/)
    }
    await deposit(3, 1)
  }, 240_000)
})
