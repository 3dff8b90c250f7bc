import { spawnSync } from 'node:child_process'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../contracts/test/until.js'
import { type Json, openClient } from './client.js'
import { planDeposits, readDeposits, showEntry } from './deposits.js'
import { type Dev, makeFolder, type Started, startNewDevnet } from './process.js'

/** A disk of its own, small enough to fill: it takes the right to mount, which an ordinary user seldom has. */
const disk = await makeFolder('openearn-disk-')
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1280m,mode=755', 'tmpfs', disk]).status === 0

let devnet: Started & { dev: Dev }

beforeAll(async () => {
  if (mounted) devnet = await startNewDevnet(join(disk, 'data'))
}, 120_000)

afterAll(async () => {
  await devnet?.stop()
  if (mounted) spawnSync('umount', [disk])
  await rm(disk, { recursive: true, force: true })
}, 60_000)

describe.skipIf(!mounted)('a service whose disk is full (left out where no tmpfs may be mounted)', () => {
  it('says so, answers 503 and never 500, and has every deposit once there is room again', async () => {
    const { dev } = devnet
    const client = openClient(dev)
    const [distributorId] = dev.distributorIds
    const { data } = await client.call('GET', '/v2/opportunities/?depositTokenSymbols=usdc&chainIds=31337')
    const wallet = dev.accounts[1]!
    await client.join(wallet.privateKey)
    const queue = await planDeposits(client, privateKeyToAccount(wallet.privateKey), data[0], {
      distributorId: distributorId!,
      count: 600,
    })
    const before = (await client.listEntries(distributorId!)).map(showEntry)

    const filler = join(disk, 'filler')
    const sent: Hex[] = []
    for (const [index, { account, transaction }] of queue.entries()) {
      // A checkpoint that removes old files makes room again.
      if (index % 20 === 0) await fill(filler)
      sent.push((await client.send(account, transaction)).transactionHash)
      if (devnet.output().includes('no room left on its disk')) break
    }
    await until('the word', () => devnet.output().includes('no room left on its disk'))
    expect(devnet.output()).toContain('nothing was written and nothing is lost; make room')
    const statuses = new Set<number>()
    for (let round = 0; round < 100; round++) {
      statuses.add((await client.fetchAnswer('GET', `/v2/interactions/?distributorId=${distributorId}`)).status)
      const body = { address: dev.accounts[9]!.address, walletEcosystem: 'evm', url: 'https://a.example', chainId: '1' }
      statuses.add((await client.fetchAnswer('POST', '/v2/membership/agreement', body)).status)
    }
    expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([])
    expect(devnet.child.exitCode).toBeNull()

    await rm(filler)
    const expected = [...before, ...(await readDeposits(client, sent))].sort()
    /** All of them, by pages, which shift while the ledger grows; undefined while it has fewer or cannot be read. */
    const readEntries = async (): Promise<Json[] | undefined> => {
      const entries = new Map<string, Json>()
      for (let page = 1; ; page++) {
        const query = `distributorId=${distributorId}&limit=100&page=${page}`
        const { status, body } = await client.fetchAnswer('GET', `/v2/interactions/?${query}`)
        if (status !== 200) return undefined
        for (const entry of body.data) entries.set(entry.id, entry)
        if (page >= body.pagination.totalPages)
          return entries.size >= expected.length ? [...entries.values()] : undefined
      }
    }
    const entries = await until('the ledger to catch up', readEntries)
    expect(entries.map(showEntry).sort()).toEqual(expected)
    expect((await client.listEntries(distributorId!)).length).toBe(expected.length)
  }, 180_000)
})

/** Adds zeros until no byte more fits. */
async function fill(path: string): Promise<void> {
  const file = await open(path, 'a')
  try {
    for (const size of [1 << 20, 4_096]) {
      const zeros = Buffer.alloc(size)
      for (let room = true; room; ) {
        room = await file.write(zeros).then(
          ({ bytesWritten }) => bytesWritten === size,
          (error: NodeJS.ErrnoException) => {
            if (error.code === 'ENOSPC') return false
            throw error
          },
        )
      }
    }
  } finally {
    await file.close()
  }
}
