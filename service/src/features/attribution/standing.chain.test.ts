import type { Address, Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { goneNode } from '../../../test/actionWorld.js'
import { openSwapWorldWith, type SwapWorld } from '../../../test/chain/swapWorld.js'
import type { Answer } from '../../../test/harness.js'

const user = account(1)
const usd = 10n ** 6n
const ether = 10n ** 18n

type Opened = SwapWorld<readonly [Record<string, never>]>
const worlds: Record<'scanned' | 'unscanned', Opened> = {} as never

beforeAll(async () => {
  for (const name of ['scanned', 'unscanned'] as const) {
    const opened = await openSwapWorldWith({ chain: { scanInputs: name === 'scanned' } }, {})
    await opened.exchange.v2Pool(opened.weth, opened.tokens[0], 1_000n * ether, 2_000_000n * usd)
    // A scan begins where its chain is then.
    await opened.world.sync()
    worlds[name] = opened
  }
})
afterAll(async () => {
  for (const { world } of Object.values(worlds)) await world.close()
})

const plan = async ({ swap, tokens }: Opened): Promise<Answer> => {
  const answer = await swap({ tokenIn: 'native', tokenOut: tokens[0], amountIn: String(ether) })
  expect(answer.status).toBe(200)
  return answer
}
const get = async ({ world }: Opened, { body }: Answer) =>
  (await world.earn.call('GetAction', { params: { actionId: body.actionId } })).body
const execute = async ({ world }: Opened, answer: Answer): Promise<Hex> =>
  (await world.send(answer, user))[0]!.transactionHash
/** Without the value the router has nothing to swap. */
const revert = async ({ world }: Opened, { body }: Answer): Promise<Hex> => {
  const { to, data } = body.transactions[0].transaction as { to: Address; data: Hex }
  const hash = await world.anvil.client.sendTransaction({ account: user, to, data, value: 0n, gas: 500_000n })
  expect((await world.anvil.mined(hash)).status).toBe('reverted')
  return hash
}
const reorg = async ({ world }: Opened, depth: number) => {
  await world.anvil.client.request({ method: 'anvil_reorg', params: [depth, []] } as never)
  await world.anvil.client.mine({ blocks: 1 })
  await world.sync()
}

const tellers = {
  ReportSwapExecution: ({ world }: Opened, actionId: string, txHash: Hex) =>
    world.earn.call('ReportSwapExecution', { body: { actionId, chainId: world.chainId, txHash } }),
  GetAttribution: ({ world }: Opened, _actionId: string, txHash: Hex) =>
    world.earn.call('GetAttribution', { params: { txHash }, query: { chainId: world.chainId } }),
  VerifyTracking: ({ world }: Opened, _actionId: string, txHash: Hex) =>
    world.earn.call('VerifyTracking', { query: { chainId: world.chainId, txHash } }),
}

describe.each(Object.entries(tellers))('a standalone swap of which %s was told', (_name, tell) => {
  it('is verified for GetAction, and known to GetAttribution without a chain', async () => {
    const at = worlds.unscanned
    const built = await plan(at)
    const txHash = await execute(at, built)
    expect(await get(at, built)).toMatchObject({ status: 'built', transactions: [] })
    expect((await tell(at, built.body.actionId, txHash)).status).toBe(200)
    expect(await get(at, built)).toMatchObject({ status: 'verified', transactions: [{ txHash, state: 'confirmed' }] })
    const { body } = await at.world.earn.call('GetAttribution', { params: { txHash } })
    expect(body).toMatchObject({
      chainId: at.world.chainId,
      action: { actionId: built.body.actionId, status: 'verified' },
    })
  })

  it('has reverted for GetAction where it has, and says so still where no node answers', async () => {
    const at = worlds.unscanned
    const built = await plan(at)
    const txHash = await revert(at, built)
    expect((await tell(at, built.body.actionId, txHash)).status).toBe(200)
    const reverted = { status: 'reverted', transactions: [{ txHash, state: 'reverted' }] }
    expect(await get(at, built)).toMatchObject(reverted)
    expect(await at.world.withNode(goneNode, () => get(at, built))).toMatchObject(reverted)
  })
})

describe('an action nobody told of', () => {
  it('is found by the scan of inputs, whether it succeeded or reverted', async () => {
    const at = worlds.scanned
    const [succeeding, failing] = [await plan(at), await plan(at)]
    const hashes = [await execute(at, succeeding), await revert(at, failing)]
    await at.world.sync()
    expect(await get(at, succeeding)).toMatchObject({ status: 'verified', transactions: [{ txHash: hashes[0] }] })
    expect(await get(at, failing)).toMatchObject({ status: 'reverted', transactions: [{ txHash: hashes[1] }] })
  })

  it('is found by a scan that was too busy to look at its transaction at first', async () => {
    const at = worlds.scanned
    const { ctx } = at.world.earn
    const { judge } = ctx
    const built = await plan(at)
    const txHash = await execute(at, built)
    const busy = { ...judge, judge: async () => ({ verdict: { status: 'busy' as const }, workMs: 0 }) }
    Object.assign(ctx, { judge: busy })
    try {
      await at.world.sync()
      await at.world.passBy(built.body.validUntil)
      await at.world.sync()
      expect((await get(at, built)).status).toBe('built')
    } finally {
      Object.assign(ctx, { judge })
    }
    await at.world.sync()
    expect(await get(at, built)).toMatchObject({ status: 'verified', transactions: [{ txHash }] })
  })

  it('is looked for where inputs are not scanned before it is called expired', async () => {
    const at = worlds.unscanned
    const [sent, unsent] = [await plan(at), await plan(at)]
    const txHash = await execute(at, sent)
    await at.world.passBy(unsent.body.validUntil)
    await at.world.sync()
    // Nobody can be asked: nothing is known.
    const gone = await at.world.withNode(goneNode, async () => [await get(at, sent), await get(at, unsent)])
    expect(gone).toMatchObject([{ status: 'built' }, { status: 'built' }])
    expect(await get(at, sent)).toMatchObject({ status: 'verified', transactions: [{ txHash, state: 'confirmed' }] })
    expect(await get(at, unsent)).toMatchObject({ status: 'expired', transactions: [] })
    // What was looked through is kept.
    expect(await at.world.withNode(goneNode, () => get(at, unsent))).toMatchObject({ status: 'expired' })
  })

  it('has expired on a scanned chain once the scan is past its time, without a call of a node', async () => {
    const at = worlds.scanned
    const unsent = await plan(at)
    await at.world.passBy(unsent.body.validUntil)
    expect(await get(at, unsent)).toMatchObject({ status: 'built' })
    await at.world.sync()
    expect(await at.world.withNode(goneNode, () => get(at, unsent))).toMatchObject({ status: 'expired' })
  })
})

describe.each(['scanned', 'unscanned'] as const)('a reorganisation of the %s chain', (name) => {
  it('drops what was found in its blocks: what no node knows any more is not found', async () => {
    const at = worlds[name]
    const built = await plan(at)
    const txHash = await execute(at, built)
    await at.world.sync()
    await tellers.ReportSwapExecution(at, built.body.actionId, txHash)
    expect(await get(at, built)).toMatchObject({ status: 'verified' })
    await reorg(at, 1)
    expect(await get(at, built)).toMatchObject({ status: 'built', transactions: [] })
    expect(await at.world.withNode(goneNode, () => get(at, built))).toMatchObject({ status: 'submitted' })
    const again = await execute(at, built)
    await at.world.sync()
    await tellers.ReportSwapExecution(at, built.body.actionId, again)
    expect(await get(at, built)).toMatchObject({ status: 'verified', transactions: [{ txHash: again }] })
  })
})
