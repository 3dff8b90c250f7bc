import { execFile } from 'node:child_process'
import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { tellerAbi, tellerVaultAbi, tellerVaultBytecode } from '@openearn/contracts'
import { type Address, erc20Abi } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../contracts/test/anvil.js'
import type { VaultKind } from '../src/vaults/kind.js'
import type { World } from './actionWorld.js'
import type { tellStories } from './asyncStories.js'
import { copyService, load, root } from './copy.js'
import type { Lists } from './kinds/walk.js'

const example = join(root, 'examples/vault-kind')

/** Where each file of the example goes. */
const files: Readonly<Record<string, string>> = {
  'teller.ts': 'service/src/vaults/kinds/teller.ts',
  'expected.ts': 'sdk/src/verify/kinds/teller.ts',
  'fixture.ts': 'service/test/kinds/teller.ts',
}
/** The lists, the line of each, and the line before it. */
const listed: readonly { path: string; after: string; line: string; imports?: string }[] = [
  {
    path: 'service/src/vaults/kinds.ts',
    after: '  other,\n',
    line: '  teller,\n',
    imports: "import { teller } from './kinds/teller.js'\n",
  },
  {
    path: 'sdk/src/verify/expected.ts',
    after: '  lagoon,\n',
    line: '  teller,\n',
    imports: "import { teller } from './kinds/teller.js'\n",
  },
  {
    path: 'service/test/kinds/fixtures.ts',
    after: '  other,\n',
    line: '  teller,\n',
    imports: "import { teller } from './teller.js'\n",
  },
  {
    path: 'docs/vault-kinds.md',
    after: '| `other` | – | – | listed and watched only |\n',
    line: '| `teller` | `buy(paid, holder)` | `sell(shares, receiver)` | – |\n',
  },
]

let copy: string
let lists: Lists
let listGaps: (lists: Lists) => string[]
let world: World

beforeAll(async () => {
  copy = await copyService({ sdk: true })
  for (const [name, path] of Object.entries(files)) await cp(join(example, name), join(copy, path))
  for (const { path, after, line, imports = '' } of listed) {
    const text = await readFile(join(copy, path), 'utf8')
    expect(text.split(after), path).toHaveLength(2)
    await writeFile(join(copy, path), imports + text.replace(after, after + line))
  }
  ;({ lists } = await load(copy, 'service/test/kinds/lists.ts'))
  ;({ listGaps } = await load(copy, 'service/test/kinds/walk.ts'))
}, 120_000)
afterAll(async () => {
  await world?.close()
  await rm(copy, { recursive: true, force: true })
})

describe('a vault kind with a contract beside the vault', () => {
  it('is a file of the service, one of the sdk, a fixture, and a line in each list', async () => {
    expect(lists.kinds.map(({ name }) => name)).toContain('teller')
    expect(listGaps(lists)).toEqual([])
    const compile = promisify(execFile)(process.execPath, [
      join(root, 'node_modules/typescript-native/bin/tsc'),
      '-p',
      await writeProject(),
    ])
    await expect(
      compile.catch((error: { stdout: string }) => Promise.reject(new Error(error.stdout))),
    ).resolves.toBeDefined()
  }, 600_000)

  const change = (how: (kind: VaultKind) => Partial<VaultKind>): Lists => ({
    ...lists,
    kinds: lists.kinds.map((kind) => (kind.name === 'teller' ? { ...kind, ...how(kind) } : kind)),
  })
  const beside = (how: (teller: NonNullable<VaultKind['beside']>[string]) => object): Lists =>
    change((kind) => {
      const teller = kind.beside?.['teller']
      if (!teller) throw new Error('the example has a teller')
      return { beside: { teller: { ...teller, ...how(teller) } } }
    })
  it.each<[part: string, changed: () => Lists, gap: string]>([
    [
      'the line of the service',
      () => ({ ...lists, kinds: lists.kinds.filter(({ name }) => name !== 'teller') }),
      'the sdk expects calls of it, but the service does not list it',
    ],
    [
      'the line of the sdk',
      () => ({
        ...lists,
        expected: Object.fromEntries(Object.entries(lists.expected).filter(([name]) => name !== 'teller')),
      }),
      'the sdk does not know its calls',
    ],
    [
      'the line of the fixture',
      () => ({ ...lists, fixtures: lists.fixtures.filter(({ kind }) => kind !== 'teller') }),
      'there is no fixture of it',
    ],
    ['the row in the docs', () => ({ ...lists, docs: '' }), 'docs/vault-kinds.md has no row of it'],
    ['what the teller emits', () => beside(() => ({ emits: [] })), 'nothing it emits is a deposit'],
    ['what makes it', () => beside(() => ({ calls: [] })), 'no call is said to make its deposit'],
    [
      'one of its calls',
      () => beside(({ calls }) => ({ calls: calls.slice(0, 1) })),
      'no call is said to make its withdraw',
    ],
    ['the teller', () => change(() => ({ beside: {} })), 'nothing it emits is a deposit'],
    ['its figures', () => change(() => ({ readFigures: undefined })), 'the figures of its vaults are not read'],
    [
      'how it is recognised',
      () => change(() => ({ recognise: () => ({ reads: [], answer: () => undefined }) })),
      'a vault of the kind is not recognised',
    ],
    [
      'where the sdk finds its calls',
      () => {
        const { contracts: _, ...rest } = lists.expected['teller']!
        return { ...lists, expected: { ...lists.expected, teller: rest } }
      },
      'the sdk expects its deposit at another contract',
    ],
  ])('turns the walk red without %s', (_part, changed, gap) => {
    expect(listGaps(changed())).toContain(`teller: ${gap}`)
  })
})

/** What the example adds, and what it is checked with. */
async function writeProject(): Promise<string> {
  const project = join(copy, 'service/tsconfig.example.json')
  const include = ['src/vaults/kinds.ts', 'test/kinds/*.ts', '../sdk/src/verify/expected.ts']
  await writeFile(project, JSON.stringify({ extends: './tsconfig.test.json', include, exclude: [] }))
  return project
}

describe('the kind on a chain', () => {
  const user = account(1)
  const usd = 1_000_000n
  let token: Address
  let vault: Address
  let teller: Address
  let opportunityId: string
  let story: ReturnType<typeof tellStories>
  const listedVault = () => ({ opportunityId, address: vault, asset: token, decimals: 6 })

  beforeAll(async () => {
    const { openStories } = await load(copy, 'service/test/asyncStories.ts')
    ;({ world, token, story } = await openStories(user))
    const args = [token, 'Teller shares', 'tTUSD']
    vault = await world.anvil.deploy({ abi: tellerVaultAbi, bytecode: tellerVaultBytecode, args })
    const { client } = world.anvil
    teller = await client.readContract({ address: vault, abi: tellerVaultAbi, functionName: 'teller' })
  }, 120_000)

  it('is found by the probe with its teller, and the draft of it is imported', async () => {
    const { probeVault } = await load(copy, 'service/src/probing/index.ts')
    const { draftEntry } = await load(copy, 'service/src/features/catalogue/import/draftEntry.ts')
    const { importCatalogue } = await load(copy, 'service/src/features/catalogue/import/index.ts')
    const chain = world.earn.ctx.chains.get(world.chainId)
    const probed = await probeVault(chain, vault)
    expect(probed).toMatchObject({ kind: 'teller', contracts: { teller }, roundTripLossBps: 0, notes: [] })
    const draft = draftEntry(world.chainId, vault, probed)
    const [entry] = draft.opportunities
    expect(entry.vault).toMatchObject({ kind: 'teller', contracts: { teller } })
    const load_ = (contracts: object) =>
      importCatalogue(
        { db: world.earn.db, clock: world.earn.ctx.clock },
        JSON.stringify({
          ...draft,
          opportunities: [{ ...entry, vault: { ...entry.vault, contracts, activeFrom: '2020-01-01T00:00:00Z' } }],
        }),
      )
    await expect(load_({})).rejects.toThrow('a vault of kind teller needs the address of its teller')
    await expect(load_({ teller, queue: teller })).rejects.toThrow('has no contract of that name')
    await load_(entry.vault.contracts)
    await world.refresh()
    const [row] = await world.earn.db<{ id: string }[]>`
      select id from opportunities where vault_address = ${vault.toLowerCase()}`
    opportunityId = row?.id ?? ''
  })

  it('is deposited into and withdrawn from by verified plans, and the ledger has both', async () => {
    const deposit = await story.deposit(listedVault(), 1_000n * usd)
    const [approval, call] = deposit.body.transactions
    expect([approval.transaction.to, call.transaction.to]).toEqual([token, teller])
    expect(approval.description).toContain(teller)
    expect(deposit.body.simulation.assetChanges).toHaveLength(2)
    await world.send(deposit, user)
    await world.mint(token, teller, 250n * usd)
    const shares = await world.anvil.client.readContract({
      address: vault,
      abi: erc20Abi,
      functionName: 'balanceOf',
      args: [user.address],
    })
    const withdraw = await story.withdraw(listedVault(), shares / 2n)
    expect(withdraw.body.transactions[0].transaction.to).toBe(teller)
    await world.send(withdraw, user)
    expect(await story.entries(listedVault())).toMatchObject([
      { interaction: 'deposit', amountRaw: String(1_000n * usd), attribution: 'signed' },
      { interaction: 'withdraw', amountRaw: String(625n * usd), attribution: 'signed' },
    ])
    expect(world.plans).toHaveLength(2)
    const hash = (await world.anvil.client.getBlock()).transactions[0]
    const { body } = await world.earn.call('GetAttribution', {
      params: { txHash: String(hash) },
      query: { chainId: world.chainId },
    })
    expect(body).toMatchObject({ attributed: true, distributorId: world.distributorId })
  })

  it('has snapshots by the price of its teller', async () => {
    const { readVaultStates } = await load(copy, 'service/src/vaults/index.ts')
    const { hash } = await world.anvil.client.getBlock()
    const chain = world.earn.ctx.chains.get(world.chainId)
    const receipt = { receiptToken: vault, receiptDecimals: 18 }
    const observed = { address: vault, ...receipt, kind: 'teller', contracts: { teller } }
    const [state] = await readVaultStates(chain, [observed], hash)
    expect(state).toMatchObject({ depositOpen: true, withdrawOpen: true })
    expect(state.figures).toEqual({
      totalAssets: 625n * usd,
      totalSupply: 500n * 10n ** 18n,
      priceNumerator: 1_250_000n * 10n ** 12n,
      priceExponent: 30,
    })
    const rate = await world.anvil.client.readContract({ address: teller, abi: tellerAbi, functionName: 'rate' })
    expect(rate).toBe(1_250_000n)
  })
})
