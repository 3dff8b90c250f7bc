import {
  dripVaultAbi,
  dripVaultBytecode,
  oddMaxVaultAbi,
  oddMaxVaultBytecode,
  testTokenAbi,
  testTokenBytecode,
  yieldVaultAbi,
  yieldVaultBytecode,
} from '@openearn/contracts'
import { type Abi, type Address, erc20Abi, type Hex, parseUnits } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Anvil, startAnvil } from '../../../../contracts/test/anvil.js'
import { type Earn, openEarn } from '../../../test/harness.js'
import { RpcError } from '../../rpc/rpc.js'
import { runSnapshots } from '../../snapshots/index.js'
import { type CatalogueFile, slugId } from './import/catalogueFile.js'
import { importCatalogue } from './import/index.js'
import type { KeptTrials } from './jobStates.js'
import { runCapabilityAndTvl } from './jobs.js'
import { readNewVaults } from './operator/index.js'

const start = '2026-11-20T12:00:00Z'
const startSeconds = Date.parse(start) / 1000
const id = slugId.opportunity('yield')

let anvil: Anvil
let earn: Earn
let token: Address
let vault: Address
let clean: Hex

beforeAll(async () => {
  anvil = await startAnvil({ timestamp: startSeconds })
  token = await anvil.deploy({ abi: testTokenAbi, bytecode: testTokenBytecode, args: ['Dollar', 'USD', 6] })
  const args = [token, 'Yield', 'yUSD', 6, 0n, true]
  vault = await anvil.deploy({ abi: yieldVaultAbi, bytecode: yieldVaultBytecode, args })
  const me = anvil.client.account.address
  const amount = parseUnits('1000', 6)
  await send(token, testTokenAbi, 'mint', [me, amount * 10n])
  await send(token, erc20Abi, 'approve', [vault, amount * 10n])
  await send(vault, yieldVaultAbi, 'deposit', [amount, me])
  clean = await anvil.client.snapshot()
})
afterAll(() => anvil?.stop())

beforeEach(async () => {
  await anvil.client.revert({ id: clean })
  clean = await anvil.client.snapshot()
  await earn?.close()
  const rpcUrls = [anvil.url]
  const settings = { nativeSymbol: 'ETH', finalityDepth: 64, reorgRecheckSeconds: 2, entryPoints: [] }
  const chains = [{ chainId: 31337, name: 'Anvil', confirmations: 1, pollIntervalMs: 1000, rpcUrls, ...settings }]
  earn = await openEarn({ now: start, chains })
  await load()
})
afterAll(() => earn?.close())

// biome-ignore lint/suspicious/noExplicitAny: calls of several contracts
async function send(address: Address, abi: any, functionName: string, args: unknown[]) {
  await anvil.done(anvil.client.writeContract({ address, abi, functionName, args }))
}

async function load(options: { pegUsd?: number; kind?: string } = { pegUsd: 2 }, address = vault) {
  const { pegUsd, kind = 'erc4626' } = options
  const file: CatalogueFile = {
    chains: [{ chainId: 31337, name: 'Anvil', slug: 'anvil', watched: true }],
    tokens: [
      { chainId: 31337, address: token, decimals: 6, symbol: 'USD', name: 'Dollar', ...(pegUsd ? { pegUsd } : {}) },
      { chainId: 31337, address, decimals: 12, symbol: 'yUSD', name: 'Yield' },
    ],
    opportunities: [
      {
        slug: 'yield',
        name: 'Yield',
        type: 'vault',
        vault: { chainId: 31337, address, kind, asset: token, startBlock: 1 },
      },
    ],
  }
  await importCatalogue(earn.ctx, JSON.stringify(file))
  await earn.ctx.catalogue.refresh()
}

/** Another vault under the same slug, with somebody's shares in it. */
async function replaceVault(abi: Abi, bytecode: Hex, args: readonly unknown[]): Promise<Address> {
  const me = anvil.client.account.address
  const address = await anvil.deploy({ abi, bytecode, args })
  await send(token, erc20Abi, 'approve', [address, parseUnits('1000', 6)])
  await send(address, yieldVaultAbi, 'deposit', [parseUnits('1000', 6), me])
  await load({ pegUsd: 2 }, address)
  return address
}

async function run() {
  await runCapabilityAndTvl(earn.ctx)
  await runSnapshots(earn.ctx)
  await earn.ctx.catalogue.refresh()
  return (await earn.call('GetOpportunity', { params: { id } })).body
}

const version = () => earn.ctx.catalogue.current().liveVersion

describe('an import', () => {
  it('reads what its new vaults hold and allow, once, and leaves them to the job where no node answers', async () => {
    const shown = async () => {
      await earn.ctx.catalogue.refresh()
      return (await earn.call('GetOpportunity', { params: { id } })).body
    }
    await send(vault, yieldVaultAbi, 'setDepositsPaused', [true])
    await earn.db`update chains set rpc_urls = ${['http://127.0.0.1:1']}`
    await readNewVaults(earn.ctx)
    expect(await shown()).toMatchObject({ tvl: 0, freshness: { analyticsAt: null, capabilityAt: null } })
    // The urls of a setting come before those of the catalogue.
    const rpcUrls = new Map([[31_337, [anvil.url]]])
    await readNewVaults({ ...earn.ctx, config: { ...earn.ctx.config, rpcUrls } })
    await earn.db`update chains set rpc_urls = ${[anvil.url]}`
    const { now } = earn.clock
    const readAt = now().toISOString()
    const read = {
      tvl: 2000,
      meta: { depositEnabled: false },
      freshness: { analyticsAt: readAt, capabilityAt: readAt },
    }
    expect(await shown()).toMatchObject(read)
    const floors = () => earn.db`select lp_floor as floor from vaults where address = ${vault.toLowerCase()}`
    // The asset costs a dollar and a share one unit of it: a cent's worth, since the entry names no floor.
    const [first] = await floors()
    expect(first).toMatchObject({ floor: [{ shares: expect.stringMatching(/^[1-9]0*$/) }] })
    earn.clock.advance(60_000)
    await readNewVaults(earn.ctx)
    expect(await shown()).toMatchObject(read)
  })
})

describe('runCapabilityAndTvl and runSnapshots', () => {
  it('shows the TVL at the price of the asset and says when it was read', async () => {
    expect(await run()).toMatchObject({ tvl: 2000, freshness: { analyticsAt: start, capabilityAt: start } })
  })

  it('leaves the TVL of an asset without a price at 0, with no instant', async () => {
    await earn.db`delete from price_observations`
    expect(await run()).toMatchObject({ tvl: 0, freshness: { analyticsAt: null, capabilityAt: start } })
  })

  it('follows the vault: paused deposits, a full cap, and open again', async () => {
    expect((await run()).meta).toMatchObject({ depositEnabled: true, depositDisabledReason: '' })
    await send(vault, yieldVaultAbi, 'setDepositsPaused', [true])
    const closed = 'The vault takes no deposits at present.'
    expect((await run()).meta).toMatchObject({
      depositEnabled: false,
      depositDisabledReason: closed,
      withdrawEnabled: true,
    })
    await send(vault, yieldVaultAbi, 'setDepositsPaused', [false])
    await send(vault, yieldVaultAbi, 'setDepositCap', [parseUnits('1000', 6)])
    expect((await run()).meta).toMatchObject({ depositEnabled: false, depositDisabledReason: closed })
    await send(vault, yieldVaultAbi, 'setDepositCap', [parseUnits('1001', 6)])
    expect((await run()).meta).toMatchObject({ depositEnabled: true, depositDisabledReason: '' })
  })

  it('is not told by max*: one that answers 0 is open while it works, and closed once a trial reverts', async () => {
    const odd = await replaceVault(oddMaxVaultAbi, oddMaxVaultBytecode, [token, 6, 0n])
    expect((await run()).meta).toMatchObject({ depositEnabled: true, withdrawEnabled: true })
    await send(odd, oddMaxVaultAbi, 'setClosed', [true])
    expect((await run()).meta).toMatchObject({
      depositEnabled: false,
      depositDisabledReason: 'The vault takes no deposits at present.',
      withdrawEnabled: false,
      withdrawalDisabledReason: 'The vault allows no withdrawals at present.',
    })
  })

  it('tries a vault again when it says something else, ten minutes after it failed, an hour after it worked', async () => {
    const trials: KeptTrials = new Map()
    const isOpen = async () => {
      await runCapabilityAndTvl(earn.ctx, trials)
      await earn.ctx.catalogue.refresh()
      return (await earn.call('GetOpportunity', { params: { id } })).body.meta.depositEnabled
    }
    const odd = await replaceVault(oddMaxVaultAbi, oddMaxVaultBytecode, [token, 6, 0n])
    expect(await isOpen()).toBe(true)
    // Closed in a way that none of its views tells.
    await send(odd, oddMaxVaultAbi, 'setClosed', [true])
    earn.clock.advance(3_599_000)
    expect(await isOpen()).toBe(true)
    earn.clock.advance(1_000)
    expect(await isOpen()).toBe(false)
    await send(odd, oddMaxVaultAbi, 'setClosed', [false])
    earn.clock.advance(599_000)
    expect(await isOpen()).toBe(false)
    earn.clock.advance(1_000)
    expect(await isOpen()).toBe(true)
    await load()
    expect(await isOpen()).toBe(true)
    await send(vault, yieldVaultAbi, 'setDepositCap', [0n])
    expect(await isOpen()).toBe(false)
    await send(vault, yieldVaultAbi, 'setDepositCap', [parseUnits('1001', 6)])
    expect(await isOpen()).toBe(true)
  })

  it('stays as a trial found it while no node can try it again', async () => {
    const trials: KeptTrials = new Map()
    const isOpen = async () => {
      await runCapabilityAndTvl(earn.ctx, trials)
      await earn.ctx.catalogue.refresh()
      return (await earn.call('GetOpportunity', { params: { id } })).body.meta.depositEnabled
    }
    const odd = await replaceVault(oddMaxVaultAbi, oddMaxVaultBytecode, [token, 6, 0n])
    await send(odd, oddMaxVaultAbi, 'setClosed', [true])
    expect(await isOpen()).toBe(false)
    const chain = earn.ctx.chains.get(31337)!
    const { request } = chain.rpc
    chain.rpc.request = async (asked) => {
      const overrides = asked.method === 'eth_call' && Array.isArray(asked.params) && asked.params.length > 2
      if (overrides) throw new RpcError(-32000, 'header not found', undefined)
      return request(asked)
    }
    earn.clock.advance(600_000)
    expect(await isOpen()).toBe(false)
    chain.rpc.request = request
    await send(odd, oddMaxVaultAbi, 'setClosed', [false])
    earn.clock.advance(600_000)
    expect(await isOpen()).toBe(true)
    await load()
  })

  it('sees that nobody could leave a vault that takes money, and lets a full one be left', async () => {
    const drip = await replaceVault(dripVaultAbi, dripVaultBytecode, [token, 6, 0n, 4n])
    await send(drip, dripVaultAbi, 'setWaits', [true])
    expect((await run()).meta).toMatchObject({ depositEnabled: true, withdrawEnabled: false })
    await load()
    await send(vault, yieldVaultAbi, 'setDepositCap', [0n])
    expect((await run()).meta).toMatchObject({ depositEnabled: false, withdrawEnabled: true })
  })

  it('concludes nothing where the node takes no overrides, or the token keeps its balances nobody knows where', async () => {
    await send(vault, yieldVaultAbi, 'setDepositsPaused', [true])
    const chain = earn.ctx.chains.get(31337)!
    const { request } = chain.rpc
    chain.rpc.request = async (asked) => {
      const overrides = asked.method === 'eth_call' && Array.isArray(asked.params) && asked.params.length > 2
      if (overrides) throw new RpcError(-32602, 'refused', undefined)
      return request(asked)
    }
    expect((await run()).meta).toMatchObject({ depositEnabled: true, withdrawEnabled: true })
    chain.rpc.request = async (asked) => {
      const [, , overrides] = Array.isArray(asked.params) ? asked.params : []
      // As if no place that is written to were the one.
      if (overrides) for (const account of Object.values(overrides)) Object.assign(account as object, { stateDiff: {} })
      return request(asked)
    }
    expect((await run()).meta).toMatchObject({ depositEnabled: true, withdrawEnabled: true })
    chain.rpc.request = request
    expect((await run()).meta).toMatchObject({ depositEnabled: false, withdrawEnabled: true })
  })

  it('takes maxDeposit of an asynchronous vault for what it is: claims, not room', async () => {
    await send(vault, yieldVaultAbi, 'setDepositCap', [0n])
    await load({ pegUsd: 2, kind: 'erc7540-deposit' })
    expect((await run()).meta).toMatchObject({ depositEnabled: true })
  })

  it('closes both sides of a vault that is not there', async () => {
    await anvil.client.setCode({ address: vault, bytecode: '0x' })
    const gone = 'There is no contract at the address of the vault.'
    expect((await run()).meta).toMatchObject({
      depositEnabled: false,
      depositDisabledReason: gone,
      withdrawEnabled: false,
      withdrawalDisabledReason: gone,
    })
  })

  it('raises the version only when something changed or has grown a minute old', async () => {
    await run()
    const first = version()
    earn.clock.advance(30_000)
    await run()
    expect(version()).toBe(first)
    await send(vault, yieldVaultAbi, 'setDepositsPaused', [true])
    await run()
    expect(version()).toBe(first + 1)
    earn.clock.advance(61_000)
    await run()
    expect(version()).toBe(first + 2)
  })

  it('records the last block at or before each grid instant, once, with figures and price', async () => {
    const mineAt = async (offset: number) => {
      await anvil.client.setNextBlockTimestamp({ timestamp: BigInt(startSeconds + offset) })
      await anvil.client.mine({ blocks: 1 })
    }
    for (const offset of [600, 899, 905, 1000]) await mineAt(offset)
    await run()
    await run()
    await mineAt(1800)
    // Whether another block comes at that time is known by the next one.
    await mineAt(1801)
    await run()
    const rows = await earn.db`
      select extract(epoch from s.block_timestamp)::bigint as at, total_assets, total_supply, price_numerator,
        price_exponent, (select price_usd::text from price_observations o where o.observed_at <= s.block_timestamp
          order by observed_at desc, id desc limit 1) as price_usd
      from vault_snapshots s order by s.block_number`
    expect(rows.map((row) => row['at'] - startSeconds)).toEqual([899, 1800])
    expect(rows[0]).toMatchObject({
      total_assets: '1000000000',
      total_supply: '1000000000000000',
      price_numerator: (10n ** 18n).toString(),
      price_exponent: 24,
      price_usd: '2',
    })
  })

  it('removes a snapshot with its block, and takes the one of the block that came instead', async () => {
    await anvil.client.setNextBlockTimestamp({ timestamp: BigInt(startSeconds + 880) })
    await anvil.client.mine({ blocks: 1 })
    const fork = await anvil.client.snapshot()
    const mineAt = async (offset: number) => {
      await anvil.client.setNextBlockTimestamp({ timestamp: BigInt(startSeconds + offset) })
      await anvil.client.mine({ blocks: 1 })
    }
    await mineAt(890)
    await mineAt(905)
    await run()
    const snapshots = () => earn.db`
      select extract(epoch from block_timestamp)::bigint - ${startSeconds}::bigint as at from vault_snapshots`
    expect(await snapshots()).toMatchObject([{ at: 890 }])
    await anvil.client.revert({ id: fork })
    await mineAt(895)
    await mineAt(896)
    await mineAt(910)
    await run()
    expect(await snapshots()).toMatchObject([{ at: 896 }])
  })

  it('keeps what it knew when the chain does not answer', async () => {
    const before = await run()
    const dead = await openEarn({
      now: start,
      chains: [
        {
          ...[...earn.ctx.chains.values()][0]!,
          rpcUrls: ['http://127.0.0.1:1'],
        },
      ],
    })
    try {
      await runCapabilityAndTvl({ ...earn.ctx, chains: dead.ctx.chains })
      await runSnapshots({ ...earn.ctx, chains: dead.ctx.chains })
      await earn.ctx.catalogue.refresh()
      expect((await earn.call('GetOpportunity', { params: { id } })).body).toEqual(before)
    } finally {
      await dead.close()
    }
  })
})
