import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { chainSettings, join, keyOf, listToken, listVault } from '../../../test/actionWorld.js'
import { type Earn, openEarn } from '../../../test/harness.js'
import { bumpVersion } from '../catalogue/store.js'

let earn: Earn
const nodes: Server[] = []
const sockets = new Set<Socket>()
let connections = 0
/** The chain the debugger is asked about: it has a node of its own, so that both may be waited for at once. */
const otherId = 31338
/** Of three actions, each of them tried again. */
const questionsMax = 12

/** Takes connections and never says a word. */
async function openSilentNode(onConnection: () => void = () => undefined): Promise<string> {
  const node = createServer((socket) => {
    onConnection()
    sockets.add(socket)
    socket.on('error', () => undefined)
  })
  nodes.push(node)
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(node.address() as AddressInfo).port}`
}

beforeAll(async () => {
  const url = await openSilentNode(() => {
    connections += 1
  })
  const chain = chainSettings(url)
  const other = { ...chainSettings(await openSilentNode()), chainId: otherId, name: 'Other' }
  earn = await openEarn({ chains: [chain, other], config: { attributionKey: (await keyOf(9)).key, patience: 1 } })
  await earn.db`
    insert into chains (chain_id, name, slug, watched)
    values (${chain.chainId}, ${chain.name}, 'devnet', true), (${otherId}, ${other.name}, 'other', true)`
  await earn.distributor('acme')
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  for (const node of nodes) await new Promise((resolve) => node.close(resolve))
  await earn.close()
})

describe.concurrent('503 UNAVAILABLE of a node that takes connections and never answers', () => {
  it('comes whatever the action was waiting for, after few questions', async () => {
    const user = account(3).address
    const asset = account(4).address
    await listToken(earn, { address: asset, decimals: 6, symbol: 'TUSD' })
    const vault = await listVault(earn, { address: account(5).address, asset, decimals: 6, kind: 'erc4626' })
    await join(earn, user)
    await bumpVersion(earn.db)
    await earn.ctx.catalogue.refresh()
    const params = { opportunityId: vault.opportunityId }
    const body = { userAddress: user, amount: '1000000', distributorId: 'acme' }
    const deposit = { params, body: { ...body, tokenIn: asset } }
    const answers = await Promise.all([
      earn.call('CreateDepositInteraction', deposit),
      earn.call('CreateWithdrawInteraction', { params, body }),
      earn.call('CreateDepositInteraction', { ...deposit, headers: { 'idempotency-key': 'hangs' } }),
    ])
    expect(connections).toBeLessThanOrEqual(questionsMax)
    for (const answer of answers) {
      expect([answer.status, answer.body.status, answer.body.context.retryable]).toEqual([503, 'UNAVAILABLE', true])
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
    }
    const seen = await earn.db`select from idempotency_keys where key = 'hangs'`
    expect(seen).toHaveLength(0)
  }, 30_000)

  it('does not keep the debugger from saying what it knows', async () => {
    const answer = await earn.call('GetAttribution', {
      params: { txHash: `0x${'a'.repeat(64)}` },
      query: { chainId: otherId },
      key: null,
    })
    expect([answer.status, answer.body.calldata.problems]).toEqual([200, ['chain unavailable']])
  }, 30_000)
})
