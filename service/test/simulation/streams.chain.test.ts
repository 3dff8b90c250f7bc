import { signDigest } from '@openearn/attribution'
import { streamAbi, testTokenAbi, yieldVaultAbi } from '@openearn/contracts'
import { type Abi, type Address, concat, encodeFunctionData, type Hex, parseEther, parseGwei } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { expect, it } from 'vitest'
import { computeSnapshot } from '../../src/features/streams/amounts.js'
import { runStreamCommits, runStreamSnapshots, runStreamTrees } from '../../src/features/streams/index.js'
import { decodeRewardFile, encodeRewardFile, toResult } from '../../src/features/streams/rewards/rewardFile.js'
import { findTerms, readInputs } from '../../src/features/streams/snapshotInputs.js'
import { findRewardFile, findSnapshotOf } from '../../src/features/streams/storeSnapshots.js'
import { findStream, type PauseFlag, updatePause } from '../../src/features/streams/storeStreams.js'
import { vetoSnapshot } from '../../src/features/streams/veto.js'
import { systemClock } from '../../src/kernel/clock.js'
import { recordPeg } from '../../src/prices/index.js'
import { createSender } from '../../src/rpc/sender/index.js'
import { createKeySigner } from '../../src/rpc/signer.js'
import { findStreamTarget } from '../../src/snapshots/index.js'
import { keyOf, type WorldVault } from '../actionWorld.js'
import { codes } from '../handChain.js'
import { rebuildChain } from '../pipeline.js'
import { seededKey, seededRandom, times } from '../seed.js'
import { openStreamChain, type StreamChain } from '../streamChain.js'
import type { Random } from './random.js'

/** Histories that are played side by side on one chain. */
const together = 5
const halfDay = 43_200
const rounds = 9
const unit = 10n ** 6n
const flags: readonly PauseFlag[] = ['snapshotComputationPaused', 'merkleTreeComputationPaused', 'hashCommitmentPaused']

type Played = { id: string; type: number; contract: Address; vault: WorldVault; price: number }

const pick = <T>(random: Random, from: readonly T[]): T => from[random.int(0, from.length - 1)] as T

/** Streams with random terms on a chain of their own, and what may happen to them. */
async function openHistories(random: Random) {
  const chain = await openStreamChain()
  const { earn, anvil, world, reward, secret } = chain
  const { client } = anvil
  await earn.distributor('beta')
  await recordPeg(earn.ctx, { chainId: chain.chainId, address: reward.toLowerCase() }, '0.5')
  const wallets: PrivateKeyAccount[] = Array.from({ length: 4 }, () => privateKeyToAccount(seededKey()))
  for (const { address } of wallets) await client.setBalance({ address, value: parseEther('1') })
  const node = earn.ctx.chains.get(chain.chainId)
  if (!node) throw new Error('the world has a chain')
  const signer = createKeySigner(keyOf(2).key, signDigest)
  const caps = { gasPrice: parseGwei('500'), spending: parseEther('10') }
  const sender = createSender(earn.ctx, { chain: node, signer, caps })
  const endTimestamp = new Date(earn.clock.now().getTime() + (rounds - 2) * halfDay * 1_000).toISOString()

  const adaptersOf = () =>
    random.next() < 0.4
      ? []
      : [
          pick(random, [
            { type: 'boost', params: { multiplierBps: 25_000, distributorIds: ['acme', 'beta'] } },
            { type: 'boost', params: { multiplierBps: 5_000, wallets: [wallets[0]?.address] } },
            { type: 'min-balance', params: { shares: String(20n * 10n ** 18n) } },
            { type: 'blocklist', params: { wallets: [wallets[1]?.address] } },
          ]),
        ]
  const open = async (): Promise<Played> => {
    const vault = await world.vault(chain.asset)
    for (const wallet of wallets)
      await world.write(chain.asset, yieldVaultAbi as Abi, 'approve', [vault.address, 10n ** 30n], wallet)
    const type = random.int(1, 3)
    const targetTokenId = chain.idOf(vault.address)
    const args = [{ tokensPerUSD: '90000000' }, { apr: '0.4' }, { tokensPerDay: '24000007' }][type - 1]
    const made = await chain.stream({
      ...{ type, endTimestamp, adapters: adaptersOf(), customArgs: { targetTokenId, ...args } },
      totalAmount: type === 3 ? null : String(10n ** BigInt(random.int(7, 20))),
    })
    return { ...made, type, vault, price: 1_000_000 }
  }
  for (const { address } of wallets) await world.mint(chain.asset, address, 10n ** 15n)
  const streams: Played[] = []
  for (let count = 0; count < together; count++) streams.push(await open())

  const send = async (as: PrivateKeyAccount, to: Address, data: Hex): Promise<boolean> => {
    const hash = await client.sendTransaction({ account: as, to, data, gas: 1_000_000n })
    return (await client.waitForTransactionReceipt({ hash })).status === 'success'
  }
  const sharesOf = ({ vault }: Played, { address }: PrivateKeyAccount) => world.balance(vault.address, address)
  const dataOf = (functionName: string, args: readonly unknown[], ...said: string[]): Hex => {
    const data = encodeFunctionData({ abi: yieldVaultAbi as Abi, functionName, args })
    return said.length === 0 ? data : concat([data, `0x${codes(...said)}`])
  }
  const moves: Record<string, (stream: Played, wallet: PrivateKeyAccount) => Promise<unknown>> = {
    deposit: ({ vault }, wallet) => {
      const said = pick(random, [[], ['acme'], ['beta'], ['nobody', 'beta']])
      const amount = BigInt(random.int(1, 90)) * unit + BigInt(random.int(0, 999))
      return send(wallet, vault.address, dataOf('deposit', [amount, wallet.address], ...said))
    },
    transfer: async (stream, wallet) => {
      const shares = await sharesOf(stream, wallet)
      const to = pick(random, wallets).address
      return send(wallet, stream.vault.address, dataOf('transfer', [to, shares / BigInt(random.int(1, 4))]))
    },
    redeem: async (stream, wallet) => {
      const shares = (await sharesOf(stream, wallet)) / BigInt(random.int(1, 3))
      return send(wallet, stream.vault.address, dataOf('redeem', [shares, wallet.address, wallet.address]))
    },
    claim: async ({ id, contract }, wallet) => {
      const [proof] = (await earn.call('GetMerkleProofs', { query: { wallet: wallet.address, streamIds: id } })).body
        .proofs
      if (proof?.error !== '') return
      const args = [BigInt(proof.amount), Date.parse(proof.timestamp) / 1_000, proof.proof] as const
      await send(wallet, contract, encodeFunctionData({ abi: streamAbi, functionName: 'claim', args }))
    },
    increase: async ({ id, type }) => {
      if (type === 3) return
      const body = { amount: String(random.int(1_000, 9_000_000)) }
      const answer = await earn.call('IncreaseStreamBudget', { params: { id }, body, key: secret })
      if (answer.status !== 200) return
      await chain.fund(10n ** 8n)
      await chain.send(answer.body.txParams)
    },
    surplus: async ({ id, contract }) => {
      await world.write(reward, testTokenAbi as Abi, 'mint', [contract, BigInt(random.int(1, 1_000))])
      await world.sync()
      const answer = await earn.call('CreateStreamWithdrawal', { params: { id }, body: {}, key: secret })
      if (answer.status === 200) await chain.send(answer.body.txParams)
    },
    price: async (stream) => {
      stream.price += random.int(1, 40_000)
      await recordPrice(stream)
    },
    pause: async ({ id }) => {
      const change = { flag: pick(random, flags), paused: random.next() < 0.4, alarm: null, at: earn.clock.now() }
      await earn.db.begin((tx) => updatePause(tx, id, change))
    },
    veto: async ({ id }) => {
      if (random.next() < 0.4) await earn.db.begin((tx) => vetoSnapshot(tx, id, earn.clock.now()))
    },
  }
  const often = [
    'deposit',
    'deposit',
    'deposit',
    'deposit',
    'transfer',
    'transfer',
    'redeem',
    'claim',
    'claim',
    'claim',
    'increase',
  ]
  const names = [...often, ...Object.keys(moves)]

  async function recordPrice({ vault, price }: Played): Promise<void> {
    const block = await client.getBlock()
    await earn.db`
      insert into vault_snapshots (block_number, block_timestamp, vault_id, price_exponent, total_assets, total_supply,
        price_numerator, price_usd, block_hash)
      select ${Number(block.number)}, to_timestamp(${Number(block.timestamp)}), id, 18, 1, 1000000000, ${price}, 1,
        hex_bytes(${block.hash})
      from vaults where address = ${vault.address.toLowerCase()} on conflict do nothing`
  }
  const act = async (): Promise<void> => {
    await moves[pick(random, names)]?.(pick(random, streams), pick(random, wallets))
    if (random.next() < 0.3) await world.sync()
  }
  for (const stream of streams) await recordPrice(stream)
  const claim = (stream: Played, wallet: PrivateKeyAccount) => moves['claim']?.(stream, wallet)
  return { ...chain, streams, wallets, act, claim, sender, signer }
}

type Histories = Awaited<ReturnType<typeof openHistories>>

async function play(histories: Histories, random: Random): Promise<void> {
  const { earn, anvil, world, act, sender, signer } = histories
  const { client } = anvil
  const began = Math.floor(earn.clock.now().getTime() / 1_000)
  const work = async () => {
    await runStreamSnapshots(earn.ctx, { everySeconds: halfDay })
    if (random.next() < 0.9) await runStreamTrees(earn.ctx)
    if (random.next() < 0.9)
      await runStreamCommits(earn.ctx, { vetoSeconds: 0, committerOf: () => signer.address, costMax: 10n ** 18n })
    await sender.step()
    await client.mine({ blocks: 1 })
    await sender.step()
    await world.sync()
  }
  for (let round = 1; round <= rounds; round++) {
    for (let count = random.int(2, 10); count > 0; count--) await act()
    if (random.next() < 0.4) {
      // What is orphaned has never been.
      const before = await client.snapshot()
      for (let count = random.int(1, 3); count > 0; count--) await act()
      await world.sync()
      await client.revert({ id: before })
      await client.mine({ blocks: 3 })
      await world.sync()
    }
    const at = began + round * halfDay + random.int(1, 7_000)
    await client.setNextBlockTimestamp({ timestamp: BigInt(at) })
    await client.mine({ blocks: 70, interval: 1 })
    earn.clock.set(new Date((at + 70) * 1_000))
    await world.sync()
    await work()
    for (const stream of histories.streams)
      if (random.next() < 0.3) await histories.claim(stream, pick(random, histories.wallets))
  }
  for (const stream of histories.streams) for (const wallet of histories.wallets) await histories.claim(stream, wallet)
  await world.sync()
}

/** All that is kept of streams, their snapshots and what was claimed of them, as text. */
async function dump({ earn }: StreamChain): Promise<Record<string, string[]>> {
  const { db } = earn
  const tables = [
    'streams',
    'stream_events',
    'stream_operations',
    'stream_snapshots',
    'stream_wallet_snapshots',
  ] as const
  const rows: Record<string, string[]> = {}
  for (const table of tables)
    rows[table] = (await db<{ row: string }[]>`select to_jsonb(t)::text as row from ${db(table)} t order by 1`).map(
      ({ row }) => row,
    )
  return rows
}

/** Every snapshot that counts, counted again from the tables: the same file to the byte, and the same rows of wallets. */
async function expectSameSnapshots({ earn }: StreamChain): Promise<number> {
  const { db } = earn
  const files = await db<{ hash: string }[]>`
    select hex_text(file_hash) as hash from stream_snapshots where vetoed_at is null order by stream_id, snapshot_at`
  for (const { hash } of files) {
    const text = (await findRewardFile(db, hash)) ?? ''
    const { terms: kept, to, origin } = decodeRewardFile(text).inputs
    const [stream, found] = await Promise.all([findStream(db, kept.streamId), findSnapshotOf(db, hash)])
    const target = stream && (await findStreamTarget(db, stream.targetVaultId))
    if (!found || !target) throw new Error(`a snapshot of stream ${kept.streamId} is not there any more`)
    const terms = await findTerms(db, stream, kept.rewardDecimals)
    const then = { ...terms, increases: terms.increases.filter(({ at }) => at <= to) }
    const { previous, snapshot } = found
    const inputs = await readInputs(db, { stream, target, previous, to, block: origin.block, terms: then })
    const { amounts } = computeSnapshot(then, inputs.facts, to, inputs.from, inputs.shown)
    expect(encodeRewardFile(inputs, toResult(amounts.wallets))).toEqual({
      text,
      hash,
    })
    const rows = await db`
      select hex_text(wallet) as wallet, rewards::text, rewards_base::text as "rewardsBase", accrued::text,
        accrued_base::text as "accruedBase", tvl::text, base_tvl::text as "baseTvl", apr::text, base_apr::text as "baseApr"
      from stream_wallet_snapshots where snapshot_id = ${snapshot.id} order by 1`
    const shown = amounts.wallets.map(({ rewards, rewardsBase, accrued, accruedBase, ...rest }) => ({
      ...{ ...rest, rewards: `${rewards}`, rewardsBase: `${rewardsBase}` },
      ...{ accrued: `${accrued}`, accruedBase: `${accruedBase}` },
    }))
    expect([...rows]).toEqual(shown)
  }
  return files.length
}

/** What every wallet is told it may claim. */
async function listProofs({ earn, streams, wallets }: Histories): Promise<unknown[]> {
  const streamIds = streams.map(({ id }) => id).join()
  const told = []
  for (const { address } of wallets)
    told.push((await earn.call('GetMerkleProofs', { query: { wallet: address, streamIds } })).body)
  return told
}

it.each(Array.from({ length: times }, (_, world) => world))(
  `${together} random histories: a rebuilt database has the same streams, snapshots and claims as the live one, row for row (world %i)`,
  async () => {
    const random = seededRandom()
    const histories = await openHistories(random)
    try {
      await play(histories, random)
      const { earn, chainId } = histories
      const [live, proofs] = [await dump(histories), await listProofs(histories)]
      await rebuildChain({ db: earn.db, clock: systemClock }, { chainId })
      expect(await dump(histories)).toEqual(live)
      expect(await listProofs(histories)).toEqual(proofs)
      const snapshots = await expectSameSnapshots(histories)
      const kinds = await earn.db<{ kind: string; count: number }[]>`
        select kind, count(*)::int as count from stream_events group by kind order by kind`
      expect(kinds.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['claimed', 'created', 'root']))
      expect(snapshots).toBeGreaterThan(together)
      if (times > 1)
        console.log(
          `${together} histories: ${snapshots} snapshots, ${kinds.map(({ kind, count }) => `${count} ${kind}`).join()}`,
        )
    } finally {
      await histories.close()
    }
  },
  120_000,
)
