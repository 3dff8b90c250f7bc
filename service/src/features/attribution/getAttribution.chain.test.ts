import { type Address, concat, encodeFunctionData, erc4626Abi, type Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { signed } from '../../../../packages/attribution/test/suffixes.js'
import { multicall } from '../../../../packages/attribution/test/wrapping.js'
import { attributionAccount, goneNode, type World, type WorldVault } from '../../../test/actionWorld.js'
import { type AttributionWorld, openAttributionWorld } from '../../../test/attributionWorld.js'
import { checkAttribution, explainMissing } from './index.js'

const user = account(1)
const thief = account(2)
const usd = 1_000_000n
let world: World
let token: Address
let vault: WorldVault
let plan: AttributionWorld['plan']
let depositOnce: AttributionWorld['depositOnce']
let sendRaw: AttributionWorld['sendRaw']

beforeAll(async () => {
  ;({ world, token, vault, plan, depositOnce, sendRaw } = await openAttributionWorld())
})
afterAll(() => world.close())

const get = (txHash: string, query: Record<string, string | number> | string = {}) =>
  world.earn.call('GetAttribution', { params: { txHash }, query, key: null })

describe('200', () => {
  it('shows a signed deposit from the ledger, its action, what was watched and the calldata, byte for byte', async () => {
    const { hash, actionId, data } = await depositOnce()
    await world.sync()
    const { status, body } = await get(hash.toUpperCase().replace('0X', '0x'), { chainId: world.chainId })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      txHash: hash,
      chainId: world.chainId,
      attributed: true,
      distributorId: world.distributorId,
      codes: [world.distributorId],
      source: 'interaction',
      action: { actionId, kind: 'deposit', status: 'verified', createdAt: '2026-11-20T12:00:00Z' },
    })
    expect(body.interactions).toMatchObject([
      { txHash: hash, distributorId: world.distributorId, attribution: 'signed', amountRaw: String(100n * usd) },
    ])
    expect(body.watched).toMatchObject([
      {
        chainId: world.chainId,
        from: user.address,
        to: vault.address,
        distributorId: world.distributorId,
        codes: [world.distributorId],
        schema: 'erc8021-2',
        signatureValid: true,
        retracted: false,
      },
    ])
    expect(body.calldata).toMatchObject({
      found: true,
      schema: 'erc8021-2',
      placement: 'transaction',
      app: world.distributorId,
      signature: { present: true, valid: true, signer: attributionAccount.address },
      problems: [],
      stacked: [],
    })
    const input = data.slice(2)
    expect(`0x${input.slice(2 * body.calldata.start, 2 * body.calldata.end)}`).toBe(body.calldata.suffix)
  })

  it('looks without a chain on every chain, and leaves the calldata out', async () => {
    const { hash, actionId } = await depositOnce()
    await world.sync()
    for (const query of ['', 'chainId=', 'chainId=null']) {
      const { body } = await get(hash, query)
      expect(body).toMatchObject({ chainId: world.chainId, source: 'interaction', calldata: null })
      expect(body.action).toMatchObject({ actionId, status: 'verified' })
    }
  })

  it('ignores a key, even a bad one', async () => {
    const answer = await world.earn.request('GET', `/v2/attribution/0x${'11'.repeat(32)}`, { key: 'nonsense' })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      txHash: `0x${'11'.repeat(32)}`,
      chainId: null,
      attributed: false,
      distributorId: null,
      codes: [],
      source: null,
      action: null,
      interactions: [],
      watched: [],
      calldata: null,
      omitted: { codes: 0, interactions: 0, watched: 0, stacked: 0 },
    })
  })

  it('says that a transaction is unknown to the node', async () => {
    const { body } = await get(`0x${'22'.repeat(32)}`, { chainId: world.chainId })
    expect(body).toMatchObject({ attributed: false, chainId: world.chainId, source: null })
    expect(body.calldata).toMatchObject({ found: false, problems: ['transaction not found'], stacked: [] })
  })

  it('answers with what the tables know when the chain cannot be read', async () => {
    const { hash } = await depositOnce()
    const { status, body } = await world.withNode(goneNode, () => get(hash, { chainId: world.chainId }))
    expect(status).toBe(200)
    expect(body.calldata).toMatchObject({ found: false, problems: ['chain unavailable'] })
    await world.sync()
    expect((await get(hash, { chainId: world.chainId })).body.source).toBe('interaction')
  })

  it('follows an action from built over submitted to verified, and tells a reverted one', async () => {
    const confirm = async (confirmations: number) => {
      await world.earn.db`update chains set confirmations = ${confirmations} where chain_id = ${world.chainId}`
      await world.refresh()
    }
    const { hash, actionId } = await depositOnce()
    await confirm(2)
    const submitted = await get(hash, { chainId: world.chainId })
    expect(submitted.body).toMatchObject({ source: 'calldata', attributed: true, interactions: [] })
    expect(submitted.body.action).toMatchObject({ actionId, status: 'submitted' })
    await confirm(1)
    await world.sync()
    expect((await get(hash)).body.action).toMatchObject({ actionId, status: 'verified' })

    // The same calldata again finds no allowance left and reverts.
    const { to, data } = (await plan()).body.transactions.at(-1).transaction
    const again = await world.anvil.client.sendTransaction({ account: user, to, data, gas: 500_000n })
    const receipt = await world.anvil.mined(again)
    expect(receipt.status).toBe('reverted')
    const reverted = await get(again, { chainId: world.chainId })
    expect(reverted.body).toMatchObject({ attributed: false, source: null, codes: [world.distributorId] })
    expect(reverted.body.action).toMatchObject({ status: 'reverted' })
    expect(reverted.body.calldata.problems).toContain('the transaction reverted')
  })

  it('shows an action as submitted while its transaction waits to be mined, however long its time is over', async () => {
    const built = await plan()
    const [approval, deposit] = built.body.transactions
    await sendRaw(approval.transaction.to, approval.transaction.data)
    const { client } = world.anvil
    await client.setAutomine(false)
    const { to, data } = deposit.transaction
    const hash = await client.sendTransaction({ account: user, to, data, gas: 500_000n })
    const waiting = await get(hash, { chainId: world.chainId })
    world.earn.clock.advance(11 * 60_000)
    const late = await get(hash, { chainId: world.chainId })
    world.earn.clock.advance(-11 * 60_000)
    await client.setAutomine(true)
    await client.mine({ blocks: 1 })
    for (const { body } of [waiting, late]) {
      expect(body.action).toMatchObject({ actionId: built.body.actionId, status: 'submitted' })
      expect(body.calldata.problems).toEqual(['the transaction is not mined yet'])
      expect(body).toMatchObject({ attributed: false, source: null })
    }
    await world.sync()
    expect((await get(hash)).body.action).toMatchObject({ actionId: built.body.actionId, status: 'verified' })
  })

  it('shows an action as built again when a reorganisation took its transaction back, and as expired after its time', async () => {
    const { hash, actionId, built } = await depositOnce()
    await world.sync()
    expect((await get(hash)).body.action).toMatchObject({ actionId, status: 'verified' })
    await world.anvil.client.request({ method: 'anvil_reorg', params: [1, []] } as never)
    await world.anvil.client.mine({ blocks: 1 })
    await world.sync()
    const queries = ['', `chainId=${world.chainId}`]
    for (const query of queries) {
      const shown = await get(hash, query)
      expect(shown.body).toMatchObject({ attributed: false, watched: [{ retracted: true }] })
      expect(shown.body.action).toMatchObject({ actionId, kind: 'deposit', status: 'built' })
    }
    const now = world.earn.clock.now()
    await world.passBy(built.body.validUntil)
    await world.sync()
    for (const query of queries)
      expect((await get(hash, query)).body.action).toMatchObject({ actionId, status: 'expired' })
    world.earn.clock.set(now)
  })

  it('shows a suffix copied to another wallet as invalid, and no action of another', async () => {
    const { data } = await depositOnce()
    const suffix = `0x${data.slice(2 + 2 * 68)}` as Hex
    await world.write(token, [{ ...approveAbi }], 'approve', [vault.address, 50n * usd], thief)
    const own = encodeFunctionData({ abi: erc4626Abi, functionName: 'deposit', args: [50n * usd, thief.address] })
    const hash = await sendRaw(vault.address, concat([own, suffix]), thief)
    await world.sync()
    const { body } = await get(hash, { chainId: world.chainId })
    expect(body).toMatchObject({ attributed: true, source: 'interaction', action: null })
    expect(body.interactions[0].attribution).toBe('unsigned')
    expect(body.calldata.signature).toEqual({ present: true, valid: false, signer: null })
  })

  it('marks what a reorganisation took back', async () => {
    const { hash } = await depositOnce()
    await world.sync()
    await world.anvil.client.request({ method: 'anvil_reorg', params: [1, []] } as never)
    await world.anvil.client.mine({ blocks: 1 })
    await world.sync()
    const { body } = await get(hash)
    expect(body).toMatchObject({ attributed: false, source: null, distributorId: null, interactions: [] })
    expect(body.watched).toMatchObject([{ retracted: true, distributorId: world.distributorId }])
  })

  it('reads a transaction of the chain that touches no vault', async () => {
    const foreign = concat(['0x12345678', '0x626173656170700700', '0x80218021802180218021802180218021'])
    const hash = await sendRaw(thief.address, foreign)
    const { body } = await get(hash, { chainId: world.chainId })
    expect(body).toMatchObject({ attributed: false, source: null, codes: ['baseapp'] })
    expect(body.calldata).toMatchObject({ found: true, schema: 'erc8021-0', codes: ['baseapp'] })
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it.each([
    ['a chain below 1', 'chainId=0'],
    ['a chain that is no integer', 'chainId=abc'],
    ['a fraction', 'chainId=1.5'],
    ['a chain that is not supported', 'chainId=999999'],
    ['a chain given twice', 'chainId=31337&chainId=31337'],
  ])('refuses %s', async (_name, query) => {
    const answer = await get(`0x${'11'.repeat(32)}`, query)
    expect(answer.body).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' })
  })

  it.each(['0x12', `0x${'1'.repeat(63)}`, `0x${'g'.repeat(64)}`, '1'.repeat(66)])(
    'refuses the hash %s',
    async (hash) => {
      expect((await get(hash)).body).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' })
    },
  )
})

describe('a transaction made to be expensive', () => {
  const call = encodeFunctionData({ abi: erc4626Abi, functionName: 'deposit', args: [5n * usd, user.address] })
  const hostile = multicall(...Array.from({ length: 400 }, (): Hex => `${call}${signed({ code: 'x'.repeat(32) })}`))

  it('is answered in 256 KiB: what is beyond is counted', async () => {
    const hash = await sendRaw(thief.address, hostile, user, 8_000_000n)
    const { body, text } = await get(hash, { chainId: world.chainId })
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(256 * 1024)
    expect(body).toMatchObject({ attributed: false, codes: ['x'.repeat(32)], omitted: { codes: 0 } })
    expect(body.omitted.stacked).toBeGreaterThan(0)
    expect(body.calldata.stacked.length + body.omitted.stacked).toBe(399)
    const tracking = await world.earn.call('VerifyTracking', { query: { chainId: world.chainId, txHash: hash } })
    expect(Buffer.byteLength(tracking.text)).toBeLessThanOrEqual(256 * 1024)
    expect(tracking.body).toMatchObject({ signatureValid: false, tag: `erc8021:2:${'x'.repeat(32)}` })
  })

  it('is read and judged once however many ask for it at the same time', async () => {
    const hash = await sendRaw(thief.address, hostile, user, 8_000_000n)
    const judge = vi.spyOn(world.earn.ctx.judge, 'judge')
    const all = await Promise.all(Array.from({ length: 10 }, () => get(hash, { chainId: world.chainId })))
    expect(judge).toHaveBeenCalledTimes(1)
    judge.mockRestore()
    for (const { text } of all) expect(text).toBe(all[0]?.text)
  })

  it('is judged once when it is final: the next look-up asks no node and judges nothing', async () => {
    const hash = await sendRaw(thief.address, hostile, user, 8_000_000n)
    const { client } = world.anvil
    await client.mine({ blocks: 70 })
    await world.sync()
    const first = await get(hash, { chainId: world.chainId })
    const judge = vi.spyOn(world.earn.ctx.judge, 'judge')
    const second = await world.withNode(goneNode, () => get(hash, { chainId: world.chainId }))
    expect(second.body).toEqual(first.body)
    expect(judge).not.toHaveBeenCalled()
    judge.mockRestore()
    // Another key of ours may vouch for it: then it is judged again.
    await world.earn
      .db`insert into attribution_signers (address, active_from) values (${`0x${'ab'.repeat(20)}`}, now())`
    const third = await world.withNode(goneNode, () => get(hash, { chainId: world.chainId }))
    expect(third.body.calldata.problems).toEqual(['chain unavailable'])
  })

  it('is kept from the block on that is final, and not a block before', async () => {
    const { client } = world.anvil
    for (const [above, isKept] of [
      [0, true],
      [1, false],
    ] as const) {
      const hash = await sendRaw(thief.address, hostile, user, 8_000_000n)
      const { blockNumber } = await client.getTransactionReceipt({ hash })
      await world.sync()
      await world.earn.db`update chain_cursors set finalized_number = ${Number(blockNumber) - above}`
      const first = await get(hash, { chainId: world.chainId })
      const second = await world.withNode(goneNode, () => get(hash, { chainId: world.chainId }))
      expect(second.body.calldata.problems).toEqual(isKept ? first.body.calldata.problems : ['chain unavailable'])
    }
  })
})

describe('404 NOT_FOUND', () => {
  it('has no way to submit an attribution', async () => {
    for (const path of [`/v2/attribution/0x${'11'.repeat(32)}`, '/v2/actions/verify', '/v2/attribution'])
      expect((await world.earn.request('POST', path, { body: {} })).body).toMatchObject({
        code: 404,
        status: 'NOT_FOUND',
      })
  })
})

const approveAbi = {
  type: 'function',
  name: 'approve',
  stateMutability: 'nonpayable',
  inputs: [
    { name: 'spender', type: 'address' },
    { name: 'amount', type: 'uint256' },
  ],
  outputs: [],
} as const

describe('openearn attribution check', () => {
  const check = async (txHash: string) => checkAttribution(world.earn.ctx, { txHash, chainId: world.chainId })

  it('explains a deposit from the chain to the ledger', async () => {
    const { hash } = await depositOnce()
    expect((await check(hash)).lines.at(-1)).toMatch(/watcher has not read this block yet/)
    await world.sync()
    const { attributed, lines } = await check(hash)
    expect(attributed).toBe(true)
    expect(lines).toContain('ok: vault events: Deposit')
    expect(lines.at(-1)).toBe(`ok: deposit credited to ${world.distributorId} (signed)`)
  })

  it('says of each event who it is credited to, or which rule left it out', async () => {
    const { hash } = await depositOnce()
    const why = async (txHash: string) =>
      (await explainMissing(world.earn.ctx, { txHash, chainId: world.chainId })).events
    const event = { logIndex: expect.any(Number), vault: vault.address.toLowerCase(), kind: 'deposit' }
    expect(await why(hash)).toEqual([
      { ...event, creditedTo: [], reason: expect.stringMatching(/has not read this block/) },
    ])
    await world.sync()
    expect(await why(hash)).toEqual([{ ...event, creditedTo: [world.distributorId], reason: null }])
    expect(await why(`0x${'44'.repeat(32)}`)).toEqual([])
  })

  it('tells a deposit that lost its suffix, and one of a code nobody registered', async () => {
    const call = encodeFunctionData({ abi: erc4626Abi, functionName: 'deposit', args: [5n * usd, user.address] })
    await world.write(token, [{ ...approveAbi }], 'approve', [vault.address, 10n * usd], user)
    const bare = await sendRaw(vault.address, call)
    expect((await check(bare)).lines.at(-1)).toMatch(/ends in no suffix/)
    const foreign = concat([call, '0x626173656170700700', '0x80218021802180218021802180218021'])
    expect((await check(await sendRaw(vault.address, foreign))).lines.at(-1)).toMatch(/baseapp is not a registered/)
    expect((await check(`0x${'44'.repeat(32)}`)).lines.at(-1)).toMatch(/does not know this transaction/)
  })
})
