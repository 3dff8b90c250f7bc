import { afterAll, beforeAll, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { chainSettings, openWorld, type World } from '../../../test/actionWorld.js'
import { startBadNode } from '../../../test/chain/badNode.js'
import { appUrl, join } from '../../../test/membership.js'
import { systemClock } from '../../kernel/clock.js'
import { createOutbound } from '../../kernel/outbound.js'
import { openChain } from '../../rpc/chains.js'
import { runCapabilityAndTvl } from '../catalogue/jobs.js'

type Asked = { method: string; params: unknown[] }
type GasCall = { to?: string; gas?: string }

const user = account(1)
const wallet = '0x000000000000000000000000000000000a17a752'
let world: World
let proxy: Awaited<ReturnType<typeof startBadNode>>
let seen: Asked[] = []
let refusesOverrides = false

beforeAll(async () => {
  world = await openWorld({ verifyPlans: false })
  proxy = await startBadNode(world.anvil.url)
  proxy.state.fault = (call) => {
    seen.push(call)
    if (!refusesOverrides || call.method !== 'eth_call' || call.params.length < 3) return undefined
    return { id: call.id, error: { code: -32602, message: 'too many arguments' } }
  }
  const chain = openChain(createOutbound(systemClock), chainSettings(proxy.url), undefined, { purpose: 'plan' })
  const chains = world.earn.ctx.chains as Map<number, typeof chain>
  chains.set(world.chainId, chain)
})
afterAll(async () => {
  await proxy.stop()
  await world.close()
})

/** The gas of every call that runs code among what the node was asked, by what it was for. */
async function gasOf(work: () => Promise<unknown>): Promise<{ of: string; gas: (string | undefined)[] }[]> {
  seen = []
  await work()
  return seen.flatMap(({ method, params }) => {
    if (method === 'eth_call') {
      const { to, gas } = params[0] as GasCall
      return [{ of: params.length > 2 ? 'simulation' : to === undefined ? 'reads' : 'signature', gas: [gas] }]
    }
    if (method !== 'eth_simulateV1') return []
    const [{ blockStateCalls }] = params as [{ blockStateCalls: { calls: GasCall[] }[] }]
    return [{ of: 'simulation', gas: blockStateCalls.flatMap(({ calls }) => calls.map(({ gas }) => gas)) }]
  })
}

const reads = { of: 'reads', gas: ['0x2faf080'] }
const simulation = { of: 'simulation', gas: ['0x1000000'] }

it('every call that runs code states its gas: 50 M for reads, the cap of a transaction for what is simulated', async () => {
  const token = await world.token()
  const vault = await world.vault(token)
  await world.join(user.address)
  await world.mint(token, user.address, 10n ** 12n)
  const deposit = () =>
    world.earn.call('CreateDepositInteraction', {
      params: { opportunityId: vault.opportunityId },
      body: { userAddress: user.address, tokenIn: token, amount: '1000000', distributorId: world.distributorId },
    })
  expect(await gasOf(deposit)).toEqual([reads, simulation])
  refusesOverrides = true
  const balance = '0x493e0'
  const block = { of: 'simulation', gas: [balance, balance, '0x1000000', '0x1000000', balance, balance] }
  expect(await gasOf(deposit)).toEqual([reads, simulation, block])
  refusesOverrides = false

  const { ctx } = world.earn
  const timed = await gasOf(() => runCapabilityAndTvl(ctx))
  expect(timed.length).toBeGreaterThan(0)
  for (const { gas } of timed) for (const each of gas) expect(Number(each)).toBeLessThanOrEqual(50_000_000)
})

it('a contract that judges a signature gets 5 M gas; one that wants more is a 400 that says so, and no fault of the node', async () => {
  // Hashes 64 KiB over and over.
  await world.anvil.client.setCode({ address: wallet, bytecode: '0x5b620100005f2050600056' })
  const body = { address: wallet, walletEcosystem: 'evm', url: appUrl, chainId: '31337' }
  const { nonce } = (await world.earn.call('CreateMembershipAgreement', { body })).body
  const input = { address: wallet, walletEcosystem: 'evm', nonce, signature: '0x' }
  const gas = await gasOf(async () => {
    const answer = await join(world.earn, input)
    expect(answer.body).toMatchObject({ code: 400, error: expect.stringContaining('more than 5,000,000 gas') })
  })
  expect(gas).toEqual([{ of: 'signature', gas: ['0x4c4b40'] }])
  await world.anvil.client.setCode({ address: wallet, bytecode: '0x631626ba7e60e01b5f5260205ff3' })
  expect((await join(world.earn, input)).status).toBe(200)
})
