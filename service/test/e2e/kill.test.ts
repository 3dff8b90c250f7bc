import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { letOthersRun, until } from '../../../contracts/test/until.js'
import { seededRandom } from '../seed.js'
import { distributorId, openBesideDevnet } from './besideDevnet.js'
import type { Json } from './client.js'
import { readDeposits, showEntry } from './deposits.js'
import type { Dev } from './process.js'

let beside: Awaited<ReturnType<typeof openBesideDevnet>>
beforeAll(async () => {
  beside = await openBesideDevnet('openearn-kill-')
}, 120_000)
afterAll(() => beside?.close(), 60_000)

const rounds = 5
const depositsAWallet = 12

describe('a service killed with SIGKILL while watching and mid-request', () => {
  it(`${rounds} times: afterwards the ledger equals the chain, nothing twice, nothing missing`, async () => {
    const { dev } = beside
    const publishable = await beside.fill()
    let service = await beside.startService()
    const client = beside.clientOf(service.baseUrl, publishable)
    const queue = await beside.planAll(client, depositsAWallet)
    const deposits = queue.length

    const sent: Hex[] = []
    const random = seededRandom()
    for (let round = 0; round < rounds; round++) {
      const share = queue.splice(0, Math.ceil(queue.length / (rounds - round)))
      const killAt = random.int(0, share.length - 1)
      const asking = new AbortController()
      const asked = askWithoutEnd(service.baseUrl, publishable, dev, asking.signal)
      for (const [index, { account, transaction }] of share.entries()) {
        if (index === killAt) await service.kill()
        sent.push((await client.send(account, transaction)).transactionHash)
      }
      asking.abort()
      await asked
      service = await beside.startService()
    }
    const after = beside.clientOf(service.baseUrl, publishable)
    const expected = await readDeposits(after, sent)
    await until('the ledger to catch up', async () =>
      (await after.listEntries(distributorId)).length >= expected.length ? true : undefined,
    )
    const entries = await after.listEntries(distributorId)
    const shown = entries.map(showEntry)
    expect(shown.sort()).toEqual(expected.sort())
    expect(new Set(entries.map(({ id }: Json) => id)).size).toBe(entries.length)
    expect(entries.every(({ attribution }: Json) => attribution === 'signed')).toBe(true)
    expect(entries).toHaveLength(deposits)
    await service.stop()
  }, 240_000)
})

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
