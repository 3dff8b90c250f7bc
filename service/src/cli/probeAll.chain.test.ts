import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { testTokenAbi, testTokenBytecode, yieldVaultAbi, yieldVaultBytecode } from '@openearn/contracts'
import type { Address } from 'viem'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Anvil, startAnvil } from '../../../contracts/test/anvil.js'
import { openTestDatabase, urlOf } from '../../test/database.js'
import { openOutlines } from '../../test/outlines.js'
import { systemClock } from '../kernel/clock.js'
import type { Chain } from '../rpc/chains.js'
import { catalogue } from './catalogue.js'
import { parseProbeFile, probeAll } from './probeAll.js'
import { openUnlisted } from './unlisted.js'

let anvil: Anvil
let chain: Chain
let token: Address
let vault: Address

beforeAll(async () => {
  anvil = await startAnvil({ timestamp: 1_700_000_000 })
  chain = openUnlisted(31337, [anvil.url])
  token = await anvil.deploy({ abi: testTokenAbi, bytecode: testTokenBytecode, args: ['Dollar', 'USD', 6] })
  const args = [token, 'Yield vault', 'yUSD', 6, 0n, true]
  vault = await anvil.deploy({ abi: yieldVaultAbi, bytecode: yieldVaultBytecode, args })
})
afterAll(() => anvil.stop())

describe('catalogue probe', () => {
  async function probe(...words: string[]) {
    const [out, said] = [process.stdout, process.stderr].map((stream) =>
      vi.spyOn(stream, 'write').mockReturnValue(true),
    )
    try {
      await catalogue.run(['probe', '31337', vault, ...words])
      const text = (of: typeof out) => (of?.mock.calls ?? []).map(([each]) => String(each)).join('')
      return { floor: JSON.parse(text(out)).opportunities[0].vault.lpFloor, said: text(said) }
    } finally {
      vi.restoreAllMocks()
    }
  }

  it('drafts an LP floor by the price it is told, or that the installation knows, and says so', async () => {
    const url = ['--rpc', anvil.url]
    const without = await probe(...url)
    expect(without.floor).toBeUndefined()
    expect(without.said).toContain("LP floor: none in the draft; say --price for a cent's worth\n")
    // Nobody holds a share yet: one to one, of 12 decimals for 6.
    expect(await probe(...url, '--price', '2')).toEqual({
      floor: [{ shares: '5000000000' }],
      said: expect.stringContaining(
        "price of the asset: 2 USD\nLP floor: 5000000000 shares in smallest units, a cent's worth\n",
      ),
    })
    const { db, target, close } = await openTestDatabase()
    vi.stubEnv('DATABASE_URL', urlOf(target))
    await db`insert into chains (chain_id, name, slug, rpc_urls) values (31337, 'C', 'c', ${[anvil.url]})`
    expect((await probe()).floor).toBeUndefined()
    await db`
      insert into price_observations (chain_id, address, price_usd, source, observed_at)
      values (31337, ${token.toLowerCase()}, '4', 'a provider', now())`
    expect((await probe()).floor).toEqual([{ shares: '3000000000' }])
    expect((await probe('--price', '1')).floor).toEqual([{ shares: '10000000000' }])
    vi.unstubAllEnvs()
    await close()
  })
})

describe('catalogue probe --all', () => {
  const findPrices = async () => new Map<string, string>()

  it('drafts LP floors by the prices of the installation where a chain is read as it is configured, and says where none', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'openearn-probe-'))
    const { db, target, close } = await openTestDatabase()
    vi.stubEnv('DATABASE_URL', urlOf(target))
    await db`insert into chains (chain_id, name, slug, rpc_urls) values (31337, 'C', 'c', ${[anvil.url]})`
    await db`
      insert into price_observations (chain_id, address, price_usd, source, observed_at)
      values (31337, ${token.toLowerCase()}, '4', 'a provider', now())`
    const unpriced = await anvil.deploy({ abi: testTokenAbi, bytecode: testTokenBytecode, args: ['Euro', 'EUR', 6] })
    const args = [unpriced, 'Euro vault', 'yEUR', 6, 0n, true]
    const other = await anvil.deploy({ abi: yieldVaultAbi, bytecode: yieldVaultBytecode, args })
    const list = join(folder, 'vaults')
    await writeFile(list, `31337 ${vault}\n31337 ${other}\n`)
    const run = async (name: string, ...words: string[]) => {
      const [, stderr] = [process.stdout, process.stderr].map((stream) =>
        vi.spyOn(stream, 'write').mockReturnValue(true),
      )
      try {
        const out = join(folder, name)
        await catalogue.run(['probe', '--all', list, '--out', out, ...words])
        const { opportunities } = JSON.parse(await readFile(out, 'utf8'))
        const floors = opportunities.map((entry: { vault: { lpFloor?: object } }) => entry.vault.lpFloor)
        return { floors, said: stderr?.mock.calls.map(([each]) => String(each)).join('') }
      } finally {
        vi.restoreAllMocks()
      }
    }
    expect(await run('stored')).toEqual({
      floors: [[{ shares: '3000000000' }], undefined],
      said: expect.stringContaining(
        `LP floor of a cent's worth: 1 of 2\nno LP floor, for want of a price: vaults of 31337:${unpriced}\n`,
      ),
    })
    // By another url the chain may be another one.
    expect((await run('by-url', '--rpc', anvil.url)).floors).toEqual([undefined, undefined])
    vi.unstubAllEnvs()
    await close()
    await rm(folder, { recursive: true })
  })

  it('probes every vault of a file, leaves out what is none, goes on where it stopped, and drafts one file that imports', async () => {
    const other = await anvil.deploy({
      ...{ abi: yieldVaultAbi, bytecode: yieldVaultBytecode },
      args: [token, 'Yield vault', 'yUSD', 6, 0n, true],
    })
    const stranger = '0x00000000000000000000000000000000000c0de0'
    const text = `31337 ${vault}\n# a note\n31337 ${stranger}  # no contract\n\n31337,${other}\n31337 ${vault}\n`
    const vaults = parseProbeFile(text)
    expect(vaults.map(({ address }) => address)).toEqual([vault, stranger, other].map((each) => each.toLowerCase()))
    expect(() => parseProbeFile('31337 0x12')).toThrow('line 1 is no chain id and address')

    const folder = await mkdtemp(join(tmpdir(), 'openearn-probe-'))
    const progressFile = join(folder, 'found')
    const said: string[] = []
    let opened = 0
    const run = () =>
      probeAll({
        ...{
          vaults,
          progressFile,
          clock: systemClock,
          perRound: 1,
          say: (line: string) => said.push(line),
          findPrices,
        },
        openChain: async () => {
          opened += 1
          if (opened === 3) throw new Error('the node went away')
          return chain
        },
      })
    await expect(run()).rejects.toThrow('the node went away')
    // The run was cut while it wrote.
    await appendFile(progressFile, '{"chainId":31')
    const draft = await run()
    expect(opened).toBe(4)
    expect(said.join('\n')).toContain('2 of 3 are known from before')
    expect(said.join('\n')).toMatch(
      /31337 +0x0{34}0c0de0 +none .*\[2\/3, \d+\.\d a second, \d+ s left\]\n +there is no contract at/,
    )
    expect(draft.opportunities?.map(({ slug }) => slug)).toEqual(['yield-vault-31337', 'yield-vault-31337-2'])
    expect(draft.tokens).toHaveLength(3)
    await rm(folder, { recursive: true })
  })

  it('drafts a vault once that several of its contracts were asked about, with its escrow and its own first block', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'openearn-probe-'))
    const { vault: shares, teller, queue } = await openOutlines(anvil, token).veda()
    const vaults = parseProbeFile([teller, shares, queue].map((each) => `31337 ${each}`).join('\n'))
    const openChain = async () => chain
    const asked = { openChain, findPrices, say: () => undefined }
    const draft = await probeAll({ vaults, progressFile: join(folder, 'found'), clock: systemClock, ...asked })
    const { startBlock } = draft.opportunities![0]!.vault
    expect(draft.opportunities).toMatchObject([
      { vault: { address: shares, kind: 'veda', contracts: { teller, queue }, escrow: queue, startBlock } },
    ])
    expect(await anvil.client.getCode({ address: shares, blockNumber: BigInt(startBlock!) })).toBeDefined()
    expect(await anvil.client.getCode({ address: shares, blockNumber: BigInt(startBlock! - 1) })).toBeUndefined()
    await rm(folder, { recursive: true })
  })

  it('drafts 280 of 300 addresses, 20 being no contracts, in two runs, each with the block it began at', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'openearn-probe-'))
    const code = (await anvil.client.getCode({ address: vault }))!
    const begins = new Map<string, number>()
    const lines = Array.from(
      { length: 300 },
      (_, at) => `0x${'d'.concat((at + 1).toString(16).padStart(39, '0'))}` as Address,
    )
    for (const [at, address] of lines.entries()) {
      if (at % 15 === 0) continue
      await anvil.client.setCode({ address, bytecode: code })
      // What is set by hand is part of the newest block already.
      begins.set(address, Number(await anvil.client.getBlockNumber()))
      await anvil.client.mine({ blocks: 3 })
    }
    const counted = { calls: 0 }
    const counting = openUnlisted(31337, [anvil.url])
    const { request } = counting.rpc
    counting.rpc.request = (asked) => {
      counted.calls += 1
      return request(asked)
    }
    const said: string[] = []
    let rounds = 0
    const run = () =>
      probeAll({
        ...{ vaults: parseProbeFile(lines.map((address) => `31337 ${address}`).join('\n')), clock: systemClock },
        ...{ progressFile: join(folder, 'found'), say: (line: string) => said.push(line), findPrices },
        openChain: async () => {
          rounds += 1
          if (rounds === 8) throw new Error('the node went away')
          return counting
        },
      })
    await expect(run()).rejects.toThrow('the node went away')
    const draft = await run()
    expect(said).toContain('140 of 300 are known from before')
    const rows = said.filter((line) => /\[\d+\/300, \d+\.\d a second, \d+ s left\]$/.test(line))
    expect(rows.map((line) => line.split(/ +/)[1])).toEqual(lines)
    expect(rows.filter((line) => / none /.test(line))).toHaveLength(20)
    expect(said.filter((line) => line.includes('there is no contract at'))).toHaveLength(20)
    expect(new Set(draft.opportunities?.map(({ slug }) => slug)).size).toBe(280)
    const starts = draft.opportunities!.map((entry) => [entry.vault.address.toLowerCase(), entry.vault.startBlock])
    expect(Object.fromEntries(starts)).toEqual(Object.fromEntries(begins))
    expect(counted.calls / lines.length).toBeLessThan(12)
    await rm(folder, { recursive: true })
  }, 60_000)
})
