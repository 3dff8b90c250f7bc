import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chainSettings } from '../../../test/actionWorld.js'
import { type Answer, type Earn, openEarn } from '../../../test/harness.js'
import { appUrl, createWallet, join } from '../../../test/membership.js'

const magicWord = `0x1626ba7e${'00'.repeat(28)}`
let earn: Earn
let node: Server
/** Signature checks the node holds, and the most it ever held. */
const held: (() => void)[] = []
let most = 0
let otherKey: string

beforeAll(async () => {
  node = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { id, method } = JSON.parse(Buffer.concat(chunks).toString())
    if (method === 'eth_call') {
      await new Promise<void>((resolve) => {
        held.push(resolve)
        most = Math.max(most, held.length)
      })
    }
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: method === 'eth_chainId' ? '0x7a69' : magicWord }))
  })
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve))
  earn = await openEarn({ chains: [chainSettings(`http://127.0.0.1:${(node.address() as AddressInfo).port}`)] })
  otherKey = await earn.key({ kind: 'publishable', organizationId: await earn.organization() })
})
afterAll(async () => {
  node.closeAllConnections()
  await new Promise((resolve) => node.close(resolve))
  await earn.close()
})

/** What a contract wallet sends to join. */
async function prepare(key = earn.publishable): Promise<Record<string, unknown>> {
  const { address } = createWallet()
  const body = { address, walletEcosystem: 'evm', url: appUrl, chainId: '31337' }
  const { nonce } = (await earn.call('CreateMembershipAgreement', { body, key })).body
  return { address, walletEcosystem: 'evm', signature: '0x', nonce }
}

/** Lets the node answer what it holds, until all of them are done. */
async function release<T>(work: Promise<T>): Promise<T> {
  let isDone = false
  const ending = work.finally(() => {
    isDone = true
  })
  while (!isDone) {
    for (const answer of held.splice(0)) answer()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return ending
}

describe('CreateMembership of contract wallets', () => {
  it('asks two contracts at a time for an organization, lets sixteen wait, and another organization does not wait', async () => {
    const bodies = await Promise.all(Array.from({ length: 24 }, () => prepare()))
    const refusals: Answer[] = []
    const joining = bodies.map(async (body) => {
      const answer = await join(earn, body)
      if (answer.status === 503) refusals.push(answer)
      return answer
    })
    while (refusals.length < 6) await new Promise((resolve) => setImmediate(resolve))
    while (held.length < 2) await new Promise((resolve) => setImmediate(resolve))
    expect(most).toBe(2)
    const other = earn.call('CreateMembership', { body: await prepare(otherKey), key: otherKey })
    while (held.length < 3) await new Promise((resolve) => setImmediate(resolve))
    held.pop()?.()
    expect((await other).status).toBe(200)

    const answers = await release(Promise.all(joining))
    expect(answers.filter(({ status }) => status === 200).length + refusals.length).toBe(24)
    for (const { body, headers } of refusals) {
      expect(body).toMatchObject({ status: 'UNAVAILABLE', context: { retryable: true } })
      expect(Number(headers['retry-after'])).toBeGreaterThan(0)
    }
    // Nothing was used up: who was sent away comes in later.
    const away = bodies.filter((_, i) => answers[i]?.status === 503)
    for (const body of away) expect((await release(join(earn, body))).status).toBe(200)
    expect(most).toBe(3)
  })

  it('a wallet that signs with its own key waits for none of them', async () => {
    const bodies = await Promise.all([prepare(), prepare()])
    const joining = bodies.map((body) => join(earn, body))
    while (held.length < 2) await new Promise((resolve) => setImmediate(resolve))
    const wallet = createWallet()
    const body = { address: wallet.address, walletEcosystem: 'evm', url: appUrl, chainId: '31337' }
    const { message, nonce } = (await earn.call('CreateMembershipAgreement', { body })).body
    const signature = await wallet.signMessage({ message })
    expect((await join(earn, { address: wallet.address, walletEcosystem: 'evm', nonce, signature })).status).toBe(200)
    expect((await release(Promise.all(joining))).map(({ status }) => status)).toEqual([200, 200])
  })
})
