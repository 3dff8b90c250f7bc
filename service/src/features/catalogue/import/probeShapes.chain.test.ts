import {
  mapleManagerAbi,
  maplePoolAbi,
  maplePoolBytecode,
  testTokenAbi,
  testTokenBytecode,
  umbrellaStakeAbi,
  umbrellaStakeBytecode,
  yieldVaultAbi,
  yieldVaultBytecode,
} from '@openearn/contracts'
import type { Address } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Anvil, startAnvil } from '../../../../../contracts/test/anvil.js'
import { openTestDatabase } from '../../../../test/database.js'
import { type Answers, names, type Outlines, openOutlines, share } from '../../../../test/outlines.js'
import { systemClock } from '../../../kernel/clock.js'
import { createOutbound } from '../../../kernel/outbound.js'
import { type ProbedVault, ProbeError, probeVaults } from '../../../probing/index.js'
import { type Chain, openChain } from '../../../rpc/chains.js'
import { buildSnapshot, findOpportunityByVault } from '../memory/snapshot.js'
import { readCatalogue } from '../store.js'
import { draftEntry } from './draftEntry.js'
import { importCatalogue } from './importCatalogue.js'

let anvil: Anvil
let chain: Chain
let token: Address
let outlines: Outlines
let calls = 0

beforeAll(async () => {
  anvil = await startAnvil({ timestamp: 1_700_000_000 })
  chain = openChain(createOutbound(systemClock), {
    ...{ chainId: 31337, name: 'Anvil', rpcUrls: [anvil.url], reorgRecheckSeconds: 2, entryPoints: [] },
    ...{ nativeSymbol: 'ETH', confirmations: 1, finalityDepth: 64, pollIntervalMs: 1000 },
  })
  const { request } = chain.rpc
  chain.rpc.request = (asked) => {
    calls += 1
    return request(asked)
  }
  token = await anvil.deploy({ abi: testTokenAbi, bytecode: testTokenBytecode, args: ['Dollar', 'USD', 6] })
  outlines = openOutlines(anvil, token)
})
afterAll(() => anvil.stop())

const native = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'
async function mellow() {
  const [vault, shares, queue] = [
    await outlines.outline(),
    await outlines.outline(share('Mellow')),
    await outlines.outline(),
  ] as const
  await outlines.tell(vault, {
    ...names('shareManager', shares),
    'hasQueue(address) view returns (bool)': { of: [queue], is: true },
  })
  await outlines.tell(vault, { 'assetAt(uint256) view returns (address)': { of: [0n], is: native } })
  await outlines.tell(vault, { 'assetAt(uint256) view returns (address)': { of: [1n], is: token } })
  await outlines.tell(shares, names('vault', vault))
  await outlines.tell(queue, { ...names('vault', vault), ...names('asset', token) })
  return { vault, shares, queue }
}

async function midas() {
  const feed = await outlines.outline()
  const mToken = await outlines.outline({
    ...share('Midas'),
    ...names('accessControl', feed),
    'metadata(bytes32) view returns (bytes)': '0x',
  })
  const both = {
    ...names('mToken', mToken),
    ...names('mTokenDataFeed', feed),
    'getPaymentTokens() view returns (address[])': [token],
  }
  return {
    mToken,
    issues: await outlines.outline(both),
    redeems: await outlines.outline({ ...both, ...names('requestRedeemer', feed) }),
  }
}

async function aera() {
  const [vault, provisioner] = [await outlines.outline(share('Aera')), await outlines.outline()] as const
  await outlines.tell(vault, names('provisioner', provisioner))
  await outlines.tell(provisioner, names('MULTI_DEPOSITOR_VAULT', vault))
  return { vault, provisioner }
}

/** An outline with the views of ERC-4626, and what tells it from another. */
const vault4626 = (name: string, more: Answers) =>
  outlines.outline({ ...share(name), ...names('asset', token), 'totalAssets() view returns (uint256)': 5n, ...more })

async function maple() {
  const pool = await anvil.deploy({ abi: maplePoolAbi, bytecode: maplePoolBytecode, args: [token, 'Maple', 'mUSD'] })
  const manager = await anvil.client.readContract({ address: pool, abi: maplePoolAbi, functionName: 'manager' })
  const read = { address: manager, abi: mapleManagerAbi, functionName: 'withdrawalManager' } as const
  return { pool, manager, queue: await anvil.client.readContract(read) }
}

/** Probes one address, with at most a dozen calls to the node. */
async function probe(address: Address): Promise<ProbedVault | string> {
  calls = 0
  const { found } = await probeVaults(chain, [address])
  expect(calls).toBeLessThanOrEqual(12)
  const [probed] = found
  if (probed instanceof ProbeError) return probed.message
  return probed!
}

async function expectOther(asked: Address, listed: { address: Address; receiptToken?: Address; note: string }) {
  const probed = await probe(asked)
  if (typeof probed === 'string') throw new Error(probed)
  const { address, receiptToken = address, note } = listed
  expect(probed).toMatchObject({ address, kind: 'other', receiptToken: { address: receiptToken } })
  expect(probed.notes.join('\n')).toContain(note)
  const [entry] = draftEntry(31337, probed.address, probed).opportunities!
  expect(entry).toMatchObject({ depositEnabled: false, withdrawEnabled: false, vault: { kind: 'other', address } })
  return probed
}

describe('a vault of Veda', () => {
  it('is drafted from the vault, its teller, its accountant and its queue, at the vault, closed, and with its queue where that is asked about', async () => {
    const { vault, teller, accountant, queue } = await outlines.veda()
    for (const part of [vault, teller, accountant, queue]) {
      const probed = await probe(part)
      if (typeof probed === 'string') throw new Error(probed)
      const isQueue = part === queue
      const contracts = { teller, accountant, ...(isQueue ? { queue } : {}) }
      expect(probed).toMatchObject({ kind: 'veda', address: vault, asset: { address: token } })
      expect(probed.contracts).toEqual(contracts)
      expect(probed.escrow).toBe(isQueue ? queue : undefined)
      expect(probed.notes.join()).toContain(isQueue ? 'with its queue' : 'ask the probe about the queue')
      const [entry] = draftEntry(31337, probed.address, probed).opportunities!
      expect(entry).toMatchObject({ depositEnabled: false, withdrawEnabled: false, vault: { kind: 'veda' } })
    }
  })

  it('is imported from its draft with its contracts', async () => {
    const { vault, teller, accountant, queue } = await outlines.veda()
    const probed = await probe(queue)
    if (typeof probed === 'string') throw new Error(probed)
    const { db, close } = await openTestDatabase()
    const chains = [{ chainId: 31337, name: 'Anvil', slug: 'anvil' }]
    const draft = draftEntry(31337, probed.address, probed)
    await importCatalogue({ db, clock: systemClock }, JSON.stringify({ ...draft, chains }))
    const lower = (each: string) => each.toLowerCase()
    expect(findOpportunityByVault(buildSnapshot(await readCatalogue(db)), 31337, vault)).toMatchObject({
      vault: {
        ...{ kind: 'veda', escrow: lower(queue) },
        contracts: { teller: lower(teller), accountant: lower(accountant), queue: lower(queue) },
      },
    })
    await close()
  })
})

describe('what the field has and no kind serves', () => {
  it('is no vault of Veda where the teller names another vault, or the accountant is not that of the teller', async () => {
    const { vault, teller, accountant } = await outlines.veda()
    const { vault: another } = await outlines.veda()
    const stranger = await outlines.outline({ ...names('vault', vault), ...names('base', token) })
    expect(await probe(stranger)).toContain('no other kind that is known')
    await outlines.tell(teller, names('vault', another))
    for (const part of [vault, teller, accountant]) expect(await probe(part)).toContain('no other kind that is known')
  })

  it('is, of Mellow, named from the vault, its share manager and its queues, with its first asset that is a token', async () => {
    const { vault, shares, queue } = await mellow()
    for (const part of [vault, shares, queue]) {
      const probed = await expectOther(part, {
        address: vault,
        receiptToken: shares,
        note: 'a flexible vault of Mellow',
      })
      expect(probed.asset.address).toBe(token)
    }
    const stranger = await outlines.outline({ ...names('vault', vault), ...names('asset', token) })
    expect(await probe(stranger)).toContain('no other kind that is known')
  })

  it('is, of Midas, listed at its token from wherever it was asked for, and says what has to be set by hand', async () => {
    const { mToken, issues, redeems } = await midas()
    const issued = await expectOther(issues, { address: mToken, note: `it is issued at ${issues}` })
    const redeemed = await expectOther(redeems, { address: mToken, note: `it is redeemed at ${redeems}` })
    for (const { asset } of [issued, redeemed]) expect(asset.address).toBe(token)
    await expectOther(mToken, { address: mToken, note: 'set its asset by hand' })
  })

  it('is, of Aera, listed where it has shares, and told to have none where it has an owner', async () => {
    const { vault, provisioner } = await aera()
    for (const part of [vault, provisioner]) await expectOther(part, { address: vault, note: 'a vault of Aera' })
    const second = await outlines.outline({ ...names('assetRegistry', token), ...names('guardian', token) })
    expect(await probe(second)).toContain('it has one owner and no shares, so there is nothing to list')
    const liar = await outlines.outline({ ...share('Liar'), ...names('provisioner', provisioner) })
    expect(await probe(liar)).toContain('no other kind that is known')
  })

  it('is, of Lido, the token that wraps the one whose balances grow', async () => {
    const wrapped = await outlines.outline({
      ...share('Wrapped'),
      ...names('stETH', token),
      'stEthPerToken() view returns (uint256)': 12n * 10n ** 17n,
    })
    const probed = await expectOther(wrapped, { address: wrapped, note: `wraps the token ${token} of Lido` })
    expect(probed.asset.address).toBe(token)
  })

  it('is, of Upshift, named in both its shapes', async () => {
    const lag: Answers = { 'lagDuration() view returns (uint256)': 259_200n }
    const shares = await outlines.outline(share('Upshift'))
    const several = await outlines.outline({ ...names('asset', token), ...names('lpTokenAddress', shares), ...lag })
    await expectOther(several, { address: several, receiptToken: shares, note: 'claimed 259200 seconds later' })
    const single = await probe(await vault4626('Upshift', lag))
    expect(single).toMatchObject({ kind: 'erc4626', canLeave: false })
    expect((single as ProbedVault).notes.join()).toContain('a vault of Upshift')
  })
})

describe('what a kind serves only in part', () => {
  it('is said of IPOR Fusion, and of a SuperVault', async () => {
    const fusion = (await probe(await vault4626('Fusion', names('getAccessManagerAddress', token)))) as ProbedVault
    expect(fusion.notes.join()).toContain('a vault of IPOR Fusion')
    const superVault = await vault4626('Super', { ...names('strategy', token), ...names('escrow', token) })
    await outlines.tell(superVault, {
      'supportsInterface(bytes4) view returns (bool)': { of: ['0x620ee8e4'], is: true },
    })
    const requested = (await probe(superVault)) as ProbedVault
    expect(requested).toMatchObject({ kind: 'erc7540-redeem' })
    expect(requested.notes.join()).toContain('a SuperVault of Superform')
  })

  it('is not said of a pool of Maple, which is found with its contracts, and whose draft imports', async () => {
    const { pool, queue, manager } = await maple()
    const probed = (await probe(pool)) as ProbedVault
    expect(probed).toMatchObject({ kind: 'maple', canLeave: false, contracts: { queue, manager } })
    expect(probed.notes.join()).toContain('name its SyrupRouter as vault.contracts.router')
    const { db, close } = await openTestDatabase()
    const chains = [{ chainId: 31337, name: 'Anvil', slug: 'anvil' }]
    const draft = draftEntry(31337, probed.address, probed)
    await importCatalogue({ db, clock: systemClock }, JSON.stringify({ ...draft, chains }))
    expect(findOpportunityByVault(buildSnapshot(await readCatalogue(db)), 31337, pool)).toMatchObject({
      vault: { kind: 'maple', contracts: { queue: queue.toLowerCase(), manager: manager.toLowerCase() } },
    })
    await close()
    const older = await outlines.outline()
    const [liar, cycles] = [
      await vault4626('Liar', names('manager', manager)),
      await vault4626('Cycles', names('manager', older)),
    ]
    await outlines.tell(older, { ...names('pool', cycles), ...names('withdrawalManager', token) })
    for (const each of [liar, cycles]) expect(await probe(each)).toMatchObject({ kind: 'erc4626' })
  })

  it('is not said of a plain vault or a stake of Umbrella, which are served, in as few calls', async () => {
    const plain = await anvil.deploy({
      ...{ abi: yieldVaultAbi, bytecode: yieldVaultBytecode },
      args: [token, 'Yield vault', 'yUSD', 6, 0n, true],
    })
    expect(await probe(plain)).toMatchObject({ kind: 'erc4626', address: plain, canLeave: true })
    const stake = await anvil.deploy({
      ...{ abi: umbrellaStakeAbi, bytecode: umbrellaStakeBytecode },
      args: [token, 'Staked', 'stkUSD', 604_800, 172_800],
    })
    expect(await probe(stake)).toMatchObject({ kind: 'umbrella', address: stake })
  })
})
