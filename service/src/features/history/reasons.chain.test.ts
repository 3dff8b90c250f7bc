import { testTokenAbi, testTokenBytecode, yieldVaultAbi, yieldVaultBytecode } from '@openearn/contracts'
import { type Address, erc20Abi, type Hex, parseUnits } from 'viem'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Anvil, startAnvil } from '../../../../contracts/test/anvil.js'
import { openTestDatabase, urlOf } from '../../../test/database.js'
import { type Earn, openEarn } from '../../../test/harness.js'
import { vaults as vaultsCommand } from '../../cli/vaults.js'
import { runSnapshots } from '../../snapshots/index.js'
import { importCatalogue } from '../catalogue/import/index.js'

const chainId = 31_337
const interval = 900
/** The chain's grid begins here; contracts are deployed in the hour before. */
const first = Date.UTC(2026, 10, 20, 12) / 1000
const iso = (seconds: number) => new Date(seconds * 1000).toISOString()

/** What state each vault is in, as the catalogue file has it. Pauses, dust and code that went come of what happens. */
const settings: Record<string, object> = {
  steady: {},
  paused: {},
  unmapped: { growthSources: [] },
  listed: { kind: 'other' },
  twofold: { growthSources: [{ source: 'share-price' }, { source: 'nav', activeFrom: iso(first) }] },
  dust: {},
  broken: {},
  new: {},
}

let anvil: Anvil
let earn: Earn
let token: Address
const addresses: Record<string, Address> = {}
let code: Hex
let ticks = 0

const addressOf = (name: string): Address => {
  const address = addresses[name]
  if (!address) throw new Error(`no vault ${name}`)
  return address
}

beforeAll(async () => {
  anvil = await startAnvil({ timestamp: first - 3_600 })
  const { client, deploy, done } = anvil
  token = await deploy({ abi: testTokenAbi, bytecode: testTokenBytecode, args: ['Dollar', 'USD', 6] })
  const me = client.account.address
  const mint = { address: token, abi: testTokenAbi, functionName: 'mint', args: [me, parseUnits('100000', 6)] } as const
  await done(client.writeContract(mint))
  for (const name of Object.keys(settings)) {
    const args = [token, name, 'v', 0, parseUnits('0.05', 18), true]
    const vault = await deploy({ abi: yieldVaultAbi, bytecode: yieldVaultBytecode, args })
    addresses[name] = vault
    const minter = { address: token, abi: testTokenAbi, functionName: 'setMinter', args: [vault, true] } as const
    await done(client.writeContract(minter))
    await done(
      client.writeContract({ address: token, abi: erc20Abi, functionName: 'approve', args: [vault, 10n ** 18n] }),
    )
    await deposit(name, name === 'dust' ? 999n : parseUnits('1000', 6))
  }
  code = (await client.getCode({ address: addressOf('broken') })) ?? '0x'
  const database = await openTestDatabase()
  vi.stubEnv('DATABASE_URL', urlOf(database.target))
  vi.stubEnv('SUDO_USER', '')
  const chain = { chainId, name: 'Anvil', confirmations: 1, pollIntervalMs: 1_000, rpcUrls: [anvil.url] }
  const more = { nativeSymbol: 'ETH', finalityDepth: 64, reorgRecheckSeconds: 2, entryPoints: [] }
  earn = await openEarn({ database, now: iso(first), chains: [{ ...chain, ...more }] })
  await list(Object.keys(settings).filter((name) => name !== 'new'))
  while (ticks < 12) {
    if (ticks === 6) await client.setCode({ address: addressOf('broken'), bytecode: '0xfe' })
    await tick()
  }
  await list(Object.keys(settings))
  await command('pause', addressOf('paused'), '--from', iso(first + 9 * interval))
}, 120_000)
afterAll(async () => {
  vi.unstubAllEnvs()
  await anvil?.stop()
  await earn?.close()
})

async function deposit(name: string, assets: bigint) {
  const { client, done } = anvil
  const args = [assets, client.account.address] as const
  await done(client.writeContract({ address: addressOf(name), abi: yieldVaultAbi, functionName: 'deposit', args }))
}

/** Imports the vaults of a chain with their settings. */
async function list(names: readonly string[]) {
  const share = (name: string) => ({ chainId, address: addressOf(name), decimals: 6, symbol: 'v', name })
  const file = {
    chains: [{ chainId, name: 'Anvil', slug: 'anvil', watched: true }],
    tokens: [{ chainId, address: token, decimals: 6, symbol: 'USD', name: 'Dollar', pegUsd: 1 }, ...names.map(share)],
    opportunities: names.map((name) => {
      const vault = {
        chainId,
        address: addressOf(name),
        kind: 'erc4626',
        asset: token,
        startBlock: 1,
        ...settings[name],
      }
      return { slug: name, name, type: 'vault', vault }
    }),
  }
  await importCatalogue(earn.ctx, JSON.stringify(file))
  await earn.ctx.catalogue.refresh()
}

/** The chain passes an instant of the grid, and what is due is read. The clock is a second past it. */
async function tick() {
  const at = first + ticks * interval
  for (const timestamp of [at, at + 1]) {
    await anvil.client.setNextBlockTimestamp({ timestamp: BigInt(timestamp) })
    await anvil.client.mine({ blocks: 1 })
  }
  ticks += 1
  earn.clock.set(iso(at + 1))
  await runSnapshots(earn.ctx)
}

/** What an operator types. */
async function command(verb: string, vault: Address, ...words: string[]) {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    await vaultsCommand.run([verb, String(chainId), vault, ...words])
  } finally {
    write.mockRestore()
  }
  await earn.ctx.catalogue.refresh()
}

const operations = ['', 'APR', 'APY', 'SharePrice', 'TVL'] as const

async function ask(operation: (typeof operations)[number], name: string) {
  const params = { chainId, vaultAddress: addressOf(name) }
  const query = { startDate: iso(first), step: interval, ...(/^(|AP.)$/.test(operation) ? { apyInterval: 3_600 } : {}) }
  return earn.call(`GetOpportunityHistorical${operation}`, { params, query })
}

/** Each answer in a word: the status, the reason, and the seconds of Retry-After. */
async function say(name: string) {
  const said: string[] = []
  for (const operation of operations) {
    const { status, body, headers } = await ask(operation, name)
    said.push([status, body.reason, headers['retry-after']].filter((part) => part !== undefined).join(' '))
  }
  return said
}

/** Seconds to the next instant of the grid. */
const due = interval - 1
const notStarted = `503 INDEXING_NOT_STARTED ${due}`
const stalled = `503 INDEXING_STALLED ${due}`
const unsupported = '404 PROTOCOL_UNSUPPORTED'

describe('base, apr, apy, share-price and tvl of vaults a chain and an operator brought into each state', () => {
  it.each([
    ['steady', ['200', '200', '200', '200', '200']],
    ['paused', ['200', stalled, stalled, stalled, '200']],
    ['unmapped', ['200', notStarted, notStarted, notStarted, '200']],
    ['listed', ['200', unsupported, notStarted, unsupported, '200']],
    ['twofold', ['200', '200', '412', '200', '200']],
    ['dust', ['200', stalled, stalled, stalled, '200']],
    // Its last reading is seven intervals old, so that the next one is overdue.
    ['broken', ['200', ...Array(3).fill('503 INDEXING_STALLED 30'), '200']],
    ['new', ['200', notStarted, notStarted, notStarted, '200']],
  ])('%s: %j', async (name, wanted) => {
    expect(await say(name)).toEqual(wanted)
  })

  it('base says apy null wherever apy is refused, with the TVL and share price it has, and a number where it is served', async () => {
    for (const name of Object.keys(settings)) {
      const { data } = (await ask('', name)).body
      const tvl = (await ask('TVL', name)).body.data
      const count = { listed: 0, new: 0, broken: 6 }[name] ?? 12
      expect([data.length, tvl.length], name).toEqual([count, count])
      const rates = data.filter(({ apy }: { apy: unknown }) => apy !== null).length
      expect(rates, name).toBe(name === 'steady' ? 8 : 0)
      for (const { tvl: held, sharePrice } of data) {
        expect(held.native, name).toBeGreaterThan(0)
        expect(sharePrice.native, name).toBeGreaterThan(0)
      }
    }
  })

  it('each is served once its state is over: resumed, measured again, deposited into, answering again, read once', async () => {
    await command('resume', addressOf('paused'), '--from', iso(first + 11 * interval))
    await command('growth', addressOf('unmapped'), 'share-price', '--from', iso(first))
    await deposit('dust', parseUnits('1000', 6))
    await anvil.client.setCode({ address: addressOf('broken'), bytecode: code })
    await tick()
    for (const name of ['steady', 'paused', 'unmapped', 'dust', 'broken', 'new'])
      expect(await say(name), name).toEqual(['200', '200', '200', '200', '200'])
    expect((await ask('', 'paused')).body.data.at(-1).apy).not.toBeNull()
  })

  it('all are stalled when the chain stands still for more than three intervals, but for what never had a reading', async () => {
    earn.clock.advance(3 * interval * 1_000)
    const late = '503 INDEXING_STALLED 30'
    expect(await say('steady')).toEqual(['200', late, late, late, '200'])
    expect(await say('twofold')).toEqual(['200', late, '412', late, '200'])
    expect(await say('listed')).toEqual([
      '200',
      unsupported,
      expect.stringContaining('503 INDEXING_NOT_STARTED'),
      unsupported,
      '200',
    ])
  })
})
