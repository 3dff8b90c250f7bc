import { asyncVaultAbi, batchAccountAbi, batchAccountBytecode, yieldVaultAbi } from '@openearn/contracts'
import {
  type Abi,
  type Address,
  concat,
  encodeAbiParameters,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  pad,
  parseEther,
} from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chainSettings, type WorldVault } from '../../../../test/actionWorld.js'
import { codes as suffixOf } from '../../../../test/handChain.js'
import { seededKey } from '../../../../test/seed.js'
import { openStreamChain, type StreamChain } from '../../../../test/streamChain.js'
import { systemClock } from '../../../kernel/clock.js'
import { silentLog } from '../../../kernel/log.js'
import { createOutbound } from '../../../kernel/outbound.js'
import { openChain } from '../../../rpc/chains.js'
import { runStreamSnapshots } from '../index.js'
import { listFiles } from '../storeReadings.js'
import { findRewardFile } from '../storeSnapshots.js'
import { readRewards } from './recompute.js'
import { decodeRewardFile, type RewardInputs } from './rewardFile.js'
import { judgeRewards, type RewardFile } from './rewardProof.js'

const halfDay = 43_200
const startsAt = Date.parse('2026-11-20T12:00:00Z') / 1_000
const [alpha, beta, strict] = ['alpha', 'beta', 'strict'] as const

let chain: StreamChain
let batch: { abi: Abi; address: Address }
beforeAll(async () => {
  chain = await openStreamChain()
  const { earn, anvil } = chain
  for (const id of [alpha, beta, strict]) await earn.distributor(id)
  await earn.db`
    insert into distributor_settings (distributor_id, signed_only, active_from) values (${strict}, true, 'epoch')`
  const abi = batchAccountAbi as Abi
  batch = { abi, address: await anvil.deploy({ abi, bytecode: batchAccountBytecode, args: [] }) }
})
afterAll(() => chain.close())

/** A wallet with gas and money that it lets the vaults take. */
async function openWallet(...vaults: readonly WorldVault[]): Promise<PrivateKeyAccount> {
  const { world, anvil } = chain
  const wallet = privateKeyToAccount(seededKey())
  await anvil.client.setBalance({ address: wallet.address, value: parseEther('1') })
  for (const { asset, address } of vaults) {
    await world.mint(asset, wallet.address, 10n ** 12n)
    await world.write(asset, erc20Abi as unknown as Abi, 'approve', [address, 10n ** 12n], wallet)
  }
  return wallet
}

/** Data of a call with codes behind it. */
const dataOf = (abi: unknown, functionName: string, args: readonly unknown[], ...codes: string[]): Hex => {
  const data = encodeFunctionData({ abi: abi as Abi, functionName, args })
  return codes.length === 0 ? data : concat([data, `0x${suffixOf(...codes)}`])
}

async function send(wallet: PrivateKeyAccount, to: Address, data: Hex): Promise<void> {
  const { client } = chain.anvil
  const { status } = await client.waitForTransactionReceipt({
    hash: await client.sendTransaction({ account: wallet, to, data, gas: 2_000_000n }),
  })
  expect(status).toBe('success')
}

/** A wallet runs several calls at once, as an account that lends itself code. */
async function sendAll(wallet: PrivateKeyAccount, calls: { target: Address; data: Hex }[]): Promise<void> {
  const { client } = chain.anvil
  const { chainId } = chain
  const nonce = (await client.getTransactionCount({ address: wallet.address })) + 1
  const authorization = await wallet.signAuthorization({ address: batch.address, chainId, nonce })
  const packed = encodeAbiParameters(
    [
      {
        type: 'tuple[]',
        components: [
          { name: 'target', type: 'address' },
          { name: 'value', type: 'uint256' },
          { name: 'data', type: 'bytes' },
        ],
      },
    ],
    [calls.map((call) => ({ ...call, value: 0n }))],
  )
  const data = encodeFunctionData({
    abi: batch.abi,
    functionName: 'execute',
    args: [pad('0x01', { dir: 'right' }), packed],
  })
  const hash = await client.sendTransaction({
    ...{ account: wallet, to: wallet.address, data, gas: 2_000_000n, authorizationList: [authorization] },
  })
  expect((await client.waitForTransactionReceipt({ hash })).status).toBe('success')
}

/** The chain comes to an instant, what was before it is final, and its snapshot is taken. */
async function passTo(at: number): Promise<void> {
  const { anvil, earn, world } = chain
  await anvil.client.setNextBlockTimestamp({ timestamp: BigInt(at) })
  await anvil.client.mine({ blocks: 70, interval: 1 })
  earn.clock.set(new Date((at + 70) * 1_000))
  await world.sync()
  await runStreamSnapshots(earn.ctx, { everySeconds: halfDay })
}

/** Points to those who hold a vault, more where a distributor brought them. */
async function boost(vault: WorldVault): Promise<string> {
  const { earn, secret } = chain
  const point = { symbol: `P${vault.address.slice(2, 8)}`.toUpperCase(), name: 'Points' }
  const { id: pointId } = (await earn.call('CreateStreamPoint', { body: point, key: secret })).body.point
  const boosts = [alpha, beta, strict].map((distributorId, index) => ({
    type: 'boost',
    params: { multiplierBps: 20_000 + index * 10_000, distributorIds: [distributorId] },
  }))
  const now = earn.clock.now().getTime()
  const { status, body } = await chain.create({
    ...{ startTimestamp: new Date(now).toISOString(), endTimestamp: new Date(now + 86_400_000).toISOString() },
    ...{ type: 3, rewardTokenId: null, pointId, walletAddress: null, totalAmount: null, adapters: boosts },
    customArgs: { targetTokenId: chain.idOf(vault.address), tokensPerDay: String(10n ** 18n) },
  })
  expect(status).toBe(200)
  return body.stream.id
}

async function listRewards(id: string): Promise<RewardFile[]> {
  const { db } = chain.earn
  const files = await listFiles(db, id)
  return Promise.all(
    files.map(async ({ hash }) => ({ name: hash, hash, ...decodeRewardFile((await findRewardFile(db, hash)) ?? '') })),
  )
}

/** By the node alone: nothing here has a database. */
async function judge(files: readonly RewardFile[]) {
  const node = openChain(createOutbound(systemClock), chainSettings(chain.anvil.url))
  const ctx = { chains: new Map([[node.chainId, node]]), clock: systemClock, log: silentLog }
  const { files: judged, believed } = judgeRewards(files, { found: await readRewards(ctx, files) })
  return { judged, believed }
}

const change = (files: readonly RewardFile[], to: (inputs: RewardInputs) => RewardInputs): RewardFile[] =>
  files.map((file) => ({ ...file, inputs: to(file.inputs) }))

async function expectSame(id: string, brought: readonly string[]): Promise<void> {
  const files = await listRewards(id)
  expect(files).toHaveLength(2)
  const kept = files.map(({ result }) => ({ ...result, kept: result.root, problems: [] }))
  for (const { inputs } of files)
    expect(new Set(inputs.facts.lots.map(({ distributorId }) => distributorId))).toEqual(new Set(brought))
  expect(await judge(files)).toMatchObject({
    judged: kept,
    believed: [
      expect.stringMatching(/^the terms 0x/),
      'the distributors and their signers',
      'every root: points are on no chain',
    ],
  })
  // What the files say of lots is not believed: the root comes out of what the node tells.
  const without = change(files, (inputs) => ({ ...inputs, facts: { ...inputs.facts, lots: [] } }))
  const problems = ['its sources of shares are not those that the node tells']
  expect((await judge(without)).judged).toMatchObject(kept.map((each) => ({ ...each, problems })))
}

describe('boosts by distributor, out of a file and the inputs of transactions at a node', () => {
  it('are those of the database: of single calls, of batches into two vaults, after transfers and redemptions', async () => {
    const { world, vault } = chain
    const second = await world.vault(await world.token())
    const id = await boost(vault)
    const [ann, bob, cat] = [
      await openWallet(vault, second),
      await openWallet(vault, second),
      await openWallet(vault, second),
    ]
    const deposit = (wallet: PrivateKeyAccount, amount: bigint, ...codes: string[]) =>
      send(wallet, vault.address, dataOf(yieldVaultAbi, 'deposit', [amount, wallet.address], ...codes))
    await deposit(ann, 1_000_000n, alpha)
    await deposit(ann, 500_000n, 'nobody', beta)
    await deposit(bob, 700_000n)
    await deposit(bob, 300_000n, strict)
    const into = (target: Address, amount: bigint, code: string) => ({
      target,
      data: dataOf(yieldVaultAbi, 'deposit', [amount, cat.address], code),
    })
    await sendAll(cat, [into(second.address, 200_000n, alpha), into(vault.address, 900_000n, beta)])
    await passTo(startsAt + halfDay + 1)
    await send(ann, vault.address, dataOf(erc20Abi, 'transfer', [bob.address, 10n ** 17n]))
    await send(cat, vault.address, dataOf(yieldVaultAbi, 'redeem', [3n * 10n ** 17n, cat.address, cat.address]))
    await deposit(bob, 400_000n, alpha)
    await passTo(startsAt + 2 * halfDay + 1)
    await expectSame(id, [alpha, beta])
    // By when a distributor was registered is in the file, and decides.
    const files = await listRewards(id)
    const late = change(files, (inputs) => {
      const { configuration } = inputs
      if (!configuration) throw new Error('the file says how lots are found')
      const distributors = configuration.distributors.map(([name, from]): [string, number] => [
        name,
        name === alpha ? 2 ** 40 : from,
      ])
      return { ...inputs, configuration: { ...configuration, distributors } }
    })
    expect((await judge(late)).judged[1]?.root).not.toBe(files[1]?.result.root)
    const older = change(files, ({ configuration: _, ...inputs }) => inputs)
    const told = await judge(older)
    expect(told.judged.map(({ root }) => root)).toEqual(files.map(({ result }) => result.root))
    expect(told.believed).toContain('the sources of shares: the file does not say how they are found')
  }, 120_000)

  it('are those of the database in a vault whose deposits are asked for and claimed', async () => {
    const { world, earn } = chain
    const vault = await world.asyncVault(await world.token())
    const now = Math.floor(earn.clock.now().getTime() / 1_000)
    const id = await boost(vault)
    const [ann, bob] = [await openWallet(vault), await openWallet(vault)]
    const ask = (wallet: PrivateKeyAccount, amount: bigint, ...codes: string[]) =>
      send(
        wallet,
        vault.address,
        dataOf(asyncVaultAbi, 'requestDeposit', [amount, wallet.address, wallet.address], ...codes),
      )
    const claim = (wallet: PrivateKeyAccount, amount: bigint) =>
      send(wallet, vault.address, dataOf(asyncVaultAbi, 'deposit', [amount, wallet.address, wallet.address]))
    await ask(ann, 600_000n, alpha)
    await ask(ann, 200_000n, beta)
    await ask(bob, 500_000n, beta)
    await world.settle(vault.address, ann.address)
    await world.settle(vault.address, bob.address)
    await claim(ann, 400_000n)
    await claim(bob, 500_000n)
    const next = Math.ceil(now / halfDay) * halfDay
    await passTo(next + 1)
    await claim(ann, 400_000n)
    await passTo(next + halfDay + 1)
    await expectSame(id, [alpha, beta])
  }, 120_000)
})

describe('a target without a price for part of the time', () => {
  it('earns at a fixed rate from its first price on, and the snapshot says for how long it had none', async () => {
    const { world, earn, secret } = chain
    const vault = await world.vault(await world.token({ pegUsd: '1' }))
    const ann = await openWallet(vault)
    await send(ann, vault.address, dataOf(yieldVaultAbi, 'deposit', [1_000_000_000n, ann.address]))
    const began = Math.ceil(earn.clock.now().getTime() / 1_000 / halfDay) * halfDay
    const body = { symbol: 'UNPRICED', name: 'Points' }
    const { id: pointId } = (await earn.call('CreateStreamPoint', { body, key: secret })).body.point
    const { body: made } = await chain.create({
      ...{ startTimestamp: new Date(began * 1_000).toISOString(), endTimestamp: null, totalAmount: null },
      ...{ rewardTokenId: null, pointId, walletAddress: null },
      customArgs: { targetTokenId: chain.idOf(vault.address), tokensPerUSD: '1000' },
    })
    const show = async () => {
      const { streams } = (await earn.call('GetStreams', { query: { id: made.stream.id } })).body
      const { amountDistributed, customMetrics, tvl } = streams[0].lastSnapshot
      return { amountDistributed, unpricedSeconds: customMetrics.unpricedSeconds, tvl }
    }
    await passTo(began + halfDay + 1)
    expect(await show()).toEqual({ amountDistributed: '0', unpricedSeconds: halfDay, tvl: null })
    // A quarter of a day later a share of 18 decimals is worth a dollar.
    const pricedAt = began + halfDay + halfDay / 2
    await earn.db`
      insert into vault_snapshots (block_number, block_timestamp, vault_id, price_exponent, total_assets, total_supply,
        price_numerator, price_usd, block_hash)
      select 1, to_timestamp(${pricedAt}), id, 18, 1, 1000000000, 1000000, 1, decode(lpad('', 64, '0'), 'hex')
      from vaults where address = ${vault.address.toLowerCase()}`
    await passTo(began + 2 * halfDay + 1)
    // 1,000 USD for a quarter of a day.
    expect(await show()).toEqual({ amountDistributed: '250', unpricedSeconds: halfDay + halfDay / 2, tvl: '1000' })
    const [first, second] = await listRewards(made.stream.id)
    expect([first?.inputs.facts.sharePrices.length, second?.inputs.facts.sharePrices.length]).toEqual([0, 1])
  }, 120_000)
})
