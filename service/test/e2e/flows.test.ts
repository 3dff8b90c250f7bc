import { execFile } from 'node:child_process'
import { rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client as McpClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { createEarnClient, type EarnClient, getWalletRequests, type ResponseInfo, type Trust } from '@openearn/sdk'
import {
  beginCancel,
  beginClaim,
  beginClaimRewards,
  beginDeposit,
  beginJoin,
  beginOrder,
  beginSwap,
  beginWithdraw,
  type Flow,
  type Provider,
  run,
  type Word,
} from '@openearn/sdk/flows'
import { erc20Abi } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { patience } from '../../../contracts/test/patience.js'
import { until } from '../../../contracts/test/until.js'
import { link, pack, unpack } from '../../../sdk/test/packing.js'
import { readSnippets } from '../documents.js'
import { openClient } from './client.js'
import { testExamples } from './examples.js'
import { testFlowsInPage } from './flowsInPage.js'
import { main, makeFolder } from './process.js'
import { settleRequests } from './settleRequests.js'
import { testSmartWallets } from './smartWalletFlows.js'
import { startTrustedDevnet, type TrustedDevnet } from './trustedDevnet.js'
import { openWallet } from './wallet.js'

let trusted: TrustedDevnet
let dataDir: string
let devnet: TrustedDevnet['devnet']
let trust: Trust

beforeAll(async () => {
  trusted = await startTrustedDevnet('openearn-flows-')
  ;({ dataDir, devnet, trust } = trusted)
}, 180_000)
afterAll(async () => {
  await trusted?.close()
}, 60_000)

/** Runs a flow to its end; after a `confirm` it goes on, as a user who read the sentences. */
async function finish<F extends Flow>(flow: F, world: { earn: EarnClient; provider: Provider }): Promise<F> {
  const node = openClient(devnet.dev)
  // Shorter pauses than those of a page. A devnet has a block only when it is asked for one.
  let looks = 0
  const pause = async () => {
    let moments = 0
    await until('some moments', () => ++moments > 5)
    if (++looks % 4 === 0) await node.request('evm_mine', [])
  }
  let word: Word | undefined
  let at = flow
  for (let turn = 0; turn < 5; turn++) {
    at = await run(at, { ...world, url: 'https://app.example/earn' }, word, { pause }).done
    if (at.needs !== 'confirm') return at
    word = 'confirm'
  }
  return at
}

const openEarn = (more: object = {}) =>
  createEarnClient({ baseUrl: devnet.dev.baseUrl, apiKey: devnet.dev.keys.publishable, ...more })

describe.each(['file', 'service'] as const)('flows on the devnet, with facts of the %s', (trusts) => {
  const at = trusts === 'file' ? 3 : 4
  let cost = 0
  const open = () => {
    const { provider, address, asked } = openWallet(devnet.dev, at)
    const onResponse = (info: ResponseInfo) => {
      cost += info.cost ?? 0
    }
    return { earn: openEarn({ ...(trusts === 'file' ? { trust } : {}), onResponse }), provider, address, asked }
  }
  const find = (kind: string) => devnet.dev.opportunities.find((each) => each.kind === kind)!
  const units = (decimals: number, whole: bigint) => whole * 10n ** BigInt(decimals)
  const distributorId = () => devnet.dev.distributorIds[0]!

  it('join, deposit and leave', async () => {
    const world = open()
    const wallet = world.address
    const joined = await finish(beginJoin({ wallet, chainId: 31_337, distributorId: distributorId() }), world)
    expect([joined.status, joined.problem]).toEqual(['member', undefined])
    expect(world.asked).toEqual(['personal_sign'])
    const { id: opportunityId, asset, vaultAddress } = find('erc4626')
    const amount = units(asset.decimals, 3n)
    cost = 0
    const params = {
      opportunityId,
      userAddress: wallet,
      tokenIn: asset.address,
      amount,
      distributorId: distributorId(),
    }
    const deposit = await finish(beginDeposit(params), world)
    expect([deposit.status, deposit.problem, deposit.trusts]).toEqual(['credited', undefined, trusts])
    expect(deposit.sentences).toHaveLength(2)
    expect(cost).toBeLessThanOrEqual(30)
    const judged = await openClient(devnet.dev).call('GET', `/v2/attribution/${deposit.txHash}?chainId=31337`)
    expect([judged.distributorId, judged.calldata.signature.valid]).toEqual([distributorId(), true])
    const shares = await openClient(devnet.dev).chain.readContract({
      ...{ address: vaultAddress, abi: erc20Abi, functionName: 'balanceOf', args: [wallet] },
    })
    const out = { opportunityId, userAddress: wallet, amount: shares, distributorId: distributorId() }
    expect(await finish(beginWithdraw(out), world)).toMatchObject({ status: 'credited', trusts })
  }, 120_000)

  it('deposit another token by a swap, and swap alone', async () => {
    const world = open()
    const { id: opportunityId, asset } = find('erc4626')
    const other = devnet.dev.opportunities.find(
      (each) => each.asset.symbol !== asset.symbol && each.kind === 'erc4626',
    )!.asset
    const amount = units(other.decimals, 2n)
    const zap = {
      opportunityId,
      userAddress: world.address,
      tokenIn: other.address,
      amount,
      distributorId: distributorId(),
    }
    expect(await finish(beginDeposit({ ...zap, mode: 'swap' }), world)).toMatchObject({ status: 'credited' })
    const swap = {
      user: world.address,
      chainId: 31_337,
      tokenIn: asset.address,
      tokenOut: 'native' as const,
      slippageBps: 50,
    }
    const done = await finish(
      beginSwap({ ...swap, amountIn: units(asset.decimals, 1n), distributorId: distributorId() }),
      world,
    )
    expect([done.status, done.problem]).toEqual(['done', undefined])
  }, 240_000)

  it('request a deposit and claim it, request another and cancel it', async () => {
    const world = open()
    const { id: opportunityId, asset } = find('erc7540')
    const who = { opportunityId, userAddress: world.address, distributorId: distributorId() }
    const request = (whole: bigint) =>
      finish(beginDeposit({ ...who, tokenIn: asset.address, amount: units(asset.decimals, whole) }), world)
    expect(await request(5n)).toMatchObject({ status: 'requested' })
    // The devnet plays the manager of the vault, who settles after half a minute: one of the two waits for him.
    const isSettled = async () => {
      const { requests } = await getWalletRequests(world.earn, { address: world.address })
      return requests.some(({ state }) => state === 'claimable')
    }
    if (trusts === 'file') await settleRequests(devnet.dev, world.address)
    await until('the request to be settled', isSettled, 6_000 * patience)
    expect(await finish(beginClaim(who), world)).toMatchObject({ status: 'credited', problem: undefined })
    expect(await request(6n)).toMatchObject({ status: 'requested' })
    expect(await finish(beginCancel(who), world)).toMatchObject({ status: 'done' })
    const none = await finish(beginClaim(who), world)
    expect([none.status, none.problem?.code]).toEqual(['refused', 'NOTHING_PENDING'])
  }, 240_000)

  it('sign an order, and see it filled or end it', async () => {
    const world = open()
    const { asset } = find('erc4626')
    const order = beginOrder({
      ...{ userAddress: world.address, chainId: 31_337, tokenIn: asset.address, slippageBps: 100 },
      ...{ tokenOut: 'native', amountIn: units(asset.decimals, 4n), distributorId: distributorId() },
    })
    const filled = await finish(order, world)
    expect([filled.status, filled.problem]).toEqual(['filled', undefined])
    expect(world.asked).toContain('eth_signTypedData_v4')
  }, 120_000)

  it('claim no reward that there is not', async () => {
    const world = open()
    const flow = beginClaimRewards({ streamId: '117fbf7f-1755-4202-9bea-f02ff57091cb', wallet: world.address })
    expect(await finish(flow, world)).toMatchObject({ status: 'refused', problem: { code: 'NOTHING_TO_CLAIM' } })
    expect(world.asked).toEqual([])
  })
})

testFlowsInPage(() => ({ dev: devnet.dev, dataDir, trust }))

testSmartWallets(() => ({ dev: devnet.dev, dataDir, trust }))

testExamples(() => ({ dev: devnet.dev, dataDir }))

describe('openearn mcp', () => {
  it('plans a deposit that its own verdict accepts, checks it by the file of the start, and explains what was credited', async () => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [main, 'mcp', '--url', devnet.dev.baseUrl, '--trust', join(dataDir, 'trust.json')],
      env: { OPENEARN_API_KEY: devnet.dev.keys.publishable },
    })
    const client = new McpClient({ name: 'test', version: '1.0.0' })
    await client.connect(transport)
    const call = async (name: string, args: object) => {
      const { content } = (await client.callTool({ name, arguments: { ...args } })) as unknown as {
        content: [{ text: string }]
      }
      return JSON.parse(content[0].text)
    }
    try {
      expect((await client.listTools()).tools.length).toBeLessThanOrEqual(16)
      const { id: opportunityId, asset } = devnet.dev.opportunities.find(({ kind }) => kind === 'erc4626')!
      const { data } = await call('list_opportunities', { depositToken: `${asset.address}-31337` })
      expect(data.map(({ id }: { id: string }) => id)).toContain(opportunityId)
      const { address, provider } = openWallet(devnet.dev, 3)
      await finish(beginJoin({ wallet: address, chainId: 31_337 }), { earn: openEarn(), provider })
      const wanted = { opportunityId, userAddress: address, distributorId: devnet.dev.distributorIds[0]! }
      const request = { ...wanted, tokenIn: asset.address, amount: '1000000' }
      const { verdict, transactions, actionId } = await call('plan_deposit', request)
      expect(verdict).toMatchObject({ ok: true, trusts: 'file', untrustedProblems: [] })
      expect(verdict.sentences.at(-1)).toContain('1000000 units')
      const check = (more: object) =>
        call('verify_plan', { request: { ...request, type: 'deposit', ...more }, transactions, actionId })
      expect((await check({})).verdict).toEqual(verdict)
      expect((await check({ amount: '2000000' })).verdict.ok).toBe(false)
      const { untrustedTransactions: _, ...portfolio } = await call('get_portfolio', { address })
      expect(portfolio.portfolio.holdings).toBeDefined()
    } finally {
      await client.close()
    }
  }, 60_000)
})

describe('sdk/README.md', () => {
  it('shows a deposit in at most 15 lines, which an empty folder with the packed sdk and viem comes to the end of', async () => {
    const folder = await makeFolder('openearn-quick-')
    try {
      await unpack(await pack(['sdk'], folder), folder)
      await link(['viem', 'cborg'], folder)
      await symlink(dataDir, join(folder, '.openearn'))
      const [quick, ...others] = (await readSnippets('sdk/README.md')).filter(({ language }) => language === 'mjs')
      expect([others, quick!.lines.length <= 15]).toEqual([[], true])
      await writeFile(join(folder, 'quick.mjs'), quick!.lines.join('\n'))
      const { stdout } = await promisify(execFile)(process.execPath, ['quick.mjs'], { cwd: folder })
      expect(stdout).toMatch(/^credited 0x[0-9a-f]{64}\n$/)
      const [, txHash] = stdout.trim().split(' ')
      const judged = await openClient(devnet.dev).call('GET', `/v2/attribution/${txHash}?chainId=31337`)
      expect([judged.distributorId, judged.interactions.length]).toEqual([devnet.dev.distributorIds[0], 1])
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }, 120_000)
})
