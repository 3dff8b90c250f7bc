import { signDigest } from '@openearn/attribution'
import {
  streamAbi,
  streamFactoryAbi,
  streamFactoryBytecode,
  testTokenAbi,
  testTokenBytecode,
} from '@openearn/contracts'
import { type Abi, type Address, type Hex, parseAbiItem, parseEther, parseGwei } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Anvil, account, startAnvil } from '../../../../contracts/test/anvil.js'
import { openTestDatabase, type TestDatabase } from '../../../test/database.js'
import { recountStream } from '../../../test/recount/naiveStream.js'
import { seededBytes, seededKey, seededRandom, times } from '../../../test/seed.js'
import { fakeClock, systemClock } from '../../kernel/clock.js'
import { formatUuid, uuidToBytes16 } from '../../kernel/ids.js'
import { silentLog } from '../../kernel/log.js'
import { createOutbound } from '../../kernel/outbound.js'
import type { Database } from '../../postgres/pool.js'
import { type Chain, openChain } from '../../rpc/chains.js'
import type { Rpc } from '../../rpc/rpc.js'
import { createSender } from '../../rpc/sender/index.js'
import { createKeySigner, type Signer } from '../../rpc/signer.js'
import { runStreamCommits, runStreamTrees } from './jobCommits.js'
import { retakeSnapshot, runStreamSnapshots, type StreamJobContext } from './jobSnapshots.js'
import { findProofs } from './proofs.js'
import { decodeRewardFile, hashFile, recomputeRewards } from './rewardFile.js'
import { listRoots } from './storeEvents.js'
import { findRewardFile, vetoSnapshot } from './storeSnapshots.js'
import { updatePause } from './storeStreams.js'

const chainId = 31_337
const hour = 3_600
const everySeconds = hour
const start = Math.ceil(1_760_000_000 / hour) * hour
const admin = account(5)
const wallets = [1, 2, 3].map((index) => account(index).address.toLowerCase())
const vault = `0x${'7a'.repeat(20)}`
const tokensPerDay = 24_000_003n
const lasts = 10 * hour
const total = (tokensPerDay * BigInt(lasts)) / 86_400n

let anvil: Anvil
let chain: Chain
let factory: Address
let token: Address
let signer: Signer
const verifierKey = seededKey()
const verifier = createKeySigner(verifierKey, signDigest)

beforeAll(async () => {
  anvil = await startAnvil({ timestamp: start - 10 })
  signer = createKeySigner(seededKey(), signDigest)
  const holders = [verifier, verifier, signer, verifier, verifier].map(({ address }) => address)
  factory = await anvil.deploy({
    abi: streamFactoryAbi as Abi,
    bytecode: streamFactoryBytecode,
    args: [admin.address, holders],
  })
  token = await anvil.deploy({ abi: testTokenAbi as Abi, bytecode: testTokenBytecode, args: ['Reward', 'RWD', 6] })
  await anvil.client.setBalance({ address: signer.address as Address, value: parseEther('100') })
  chain = openChain(createOutbound(systemClock), {
    ...{ chainId, name: 'Test', rpcUrls: [anvil.url], nativeSymbol: 'ETH', confirmations: 2, finalityDepth: 64 },
    ...{ pollIntervalMs: 50, reorgRecheckSeconds: 0, entryPoints: [] },
  })
})
afterAll(async () => {
  await anvil?.stop()
})

class Death extends Error {
  override readonly name = 'Death'
}

/** A database that is gone after so many statements, in transactions too, or right after one of these. */
function dyingDb(db: Database, at: number): Database {
  let calls = 0
  const live = () => {
    if (calls++ >= at) throw new Death('the process ended')
  }
  const wrap = <T extends object>(of: T): T =>
    new Proxy(of, {
      apply: (target, self, args) => {
        live()
        return Reflect.apply(target as never, self, args)
      },
      get: (target, name) => {
        if (name !== 'begin') return Reflect.get(target, name)
        return async (work: (tx: object) => Promise<unknown>) => {
          const done = await (target as Database).begin((tx) => work(wrap(tx)))
          live()
          return done
        }
      },
    })
  return wrap(db)
}

function dyingRpc(rpc: Rpc, at: number, isDone: boolean): Rpc {
  let calls = 0
  return {
    ...rpc,
    request: async (request) => {
      if (calls++ < at) return rpc.request(request)
      if (isDone && calls === at + 1) await rpc.request(request).catch(() => undefined)
      throw new Death('the process ended')
    },
  }
}

type World = Awaited<ReturnType<typeof openWorld>>

/** A funded stream, wallets that hold its target and move it, and what a watcher would write of the chain. */
async function openWorld(test: TestDatabase) {
  const { db } = test
  const clock = fakeClock(new Date(start * 1_000))
  const id = formatUuid(seededBytes().subarray(0, 16)).replace(/^(.{14}).(.{4})./, '$14$28')
  const { client } = anvil
  const began = Number((await client.getBlock()).timestamp)
  const startsAt = Math.ceil((began + hour) / hour) * hour
  const endsAt = startsAt + lasts
  const write = (address: Address, abi: unknown, functionName: string, args: readonly unknown[]) =>
    anvil.done(client.writeContract({ account: admin, address, abi: abi as Abi, functionName, args }))
  const deadline = startsAt + hour
  const params = { streamId: uuidToBytes16(id), rewardToken: token, netTotalAmount: total, feeAmount: 0n }
  const digest = (await client.readContract({
    ...{ address: factory, abi: streamFactoryAbi as Abi, functionName: 'getCreateStreamDigest' },
    args: [admin.address, params, deadline],
  })) as Hex
  await anvil.done(
    client.writeContract({
      address: token,
      abi: testTokenAbi as Abi,
      functionName: 'mint',
      args: [admin.address, total],
    }),
  )
  await write(token, testTokenAbi, 'approve', [factory, total])
  const contract = (
    (await client.readContract({
      ...{ address: factory, abi: streamFactoryAbi as Abi, functionName: 'getStreamAddress', args: [params.streamId] },
    })) as Address
  ).toLowerCase() as Address
  await write(factory, streamFactoryAbi, 'createStream', [
    params,
    deadline,
    await privateKeyToAccount(verifierKey).sign({ hash: digest }),
  ])
  const nonce = await client.getTransactionCount({ address: signer.address as Address })

  await db`insert into organizations (id, name, organization_type) values (${id}, 'O', 'distributor')`
  await db`insert into chains (chain_id, name, slug, watched, confirmations) values (${chainId}, 'C', 'c', true, 2)`
  const [row] = await db<{ id: number }[]>`
    insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals)
    values (${chainId}, ${vault}, 'other', ${vault}, 6, ${vault}, 6) returning id`
  const vaultId = row?.id ?? 0
  await db`
    insert into streams (id, organization_id, type, target_vault_id, target_chain_id, target_token, chain_id, reward_token,
      factory, contract_address, admin, signed_until, from_block, total_amount, fee_amount, starts_at, ends_at,
      custom_args, created_at, updated_at)
    values (${id}, ${id}, 3, ${vaultId}, ${chainId}, ${vault}, ${chainId}, ${token.toLowerCase()},
      ${factory.toLowerCase()}, ${contract}, ${admin.address.toLowerCase()}, now(), 0, ${total.toString()}, 0,
      to_timestamp(${startsAt}), to_timestamp(${endsAt}),
      ${db.json({ targetTokenId: id, tokensPerDay: String(tokensPerDay) })}, now(), now())`
  await db`
    insert into chain_cursors (chain_id, start_block, block_number, block_hash, head_number, finalized_number, updated_at)
    values (${chainId}, 0, 0, '0x', 0, 0, now())`
  let read = 0
  /** What the watcher does: blocks, the events of the stream, the cursor. */
  const follow = async (): Promise<void> => {
    const head = await client.getBlock()
    for (; read < Number(head.number); read++) {
      const block = await client.getBlock({ blockNumber: BigInt(read + 1) })
      await db`
        insert into blocks (chain_id, number, timestamp, hash, parent_hash, has_logs)
        values (${chainId}, ${read + 1}, to_timestamp(${Number(block.timestamp)}), hex_bytes(${block.hash}),
          hex_bytes(${block.parentHash}), true)`
    }
    const event = parseAbiItem(
      'event RootUpdated(bytes32 indexed root, uint40 indexed timestamp, uint256 totalAllocated)',
    )
    const roots = await client.getLogs({ address: contract, event, fromBlock: 0n, toBlock: head.number })
    await db`
      insert into stream_events (chain_id, block_number, block_timestamp, log_index, stream_id, kind, transaction_hash)
      select ${chainId}, 1, to_timestamp(${began}), 0, ${id}, 'created', '\\x00' on conflict do nothing`
    for (const { blockNumber, logIndex, transactionHash, args } of roots)
      await db`
        insert into stream_events (chain_id, block_number, block_timestamp, log_index, stream_id, kind, transaction_hash,
          root, root_at, total)
        select ${chainId}, ${Number(blockNumber)}, timestamp, ${logIndex}, ${id}, 'root', hex_bytes(${transactionHash}),
          hex_bytes(${args.root ?? ''}), to_timestamp(${args.timestamp ?? 0}), ${String(args.totalAllocated)}
        from blocks where chain_id = ${chainId} and number = ${Number(blockNumber)} on conflict do nothing`
    await db`
      update chain_cursors set block_number = ${Number(head.number)}, head_number = ${Number(head.number)},
        block_timestamp = to_timestamp(${Number(head.timestamp)}), finalized_number = ${Number(head.number) - 1}`
  }
  const balances: { at: number; wallet: string; shares: bigint }[] = []
  /** A wallet holds so much from the next block on. */
  const hold = async (wallet: string, shares: bigint): Promise<void> => {
    await client.mine({ blocks: 1 })
    const block = await client.getBlock()
    const [number, at] = [Number(block.number), Number(block.timestamp)]
    const before = balances.findLast((each) => each.wallet === wallet)?.shares ?? 0n
    balances.push({ at, wallet, shares })
    await db`
      insert into balance_changes (chain_id, block_number, block_timestamp, vault_id, transaction_index, wallet, before,
        after, attributed_before, attributed_after)
      values (${chainId}, ${number}, to_timestamp(${at}), ${vaultId}, 0, hex_bytes(${wallet}), ${before.toString()},
        ${shares.toString()}, 0, 0)`
    await db`
      insert into balances (chain_id, first_block, vault_id, wallet, shares, attributed)
      values (${chainId}, ${number}, ${vaultId}, hex_bytes(${wallet}), ${shares.toString()}, 0)
      on conflict (vault_id, wallet) do update set shares = excluded.shares`
  }
  const pass = async (seconds: number): Promise<void> => {
    const { timestamp } = await client.getBlock()
    await client.setNextBlockTimestamp({ timestamp: timestamp + BigInt(seconds) })
    await client.mine({ blocks: 3 })
    clock.set(new Date(Number((await client.getBlock()).timestamp) * 1_000))
  }
  const catalogue = { current: () => ({ tokens: { get: () => ({ decimals: 6 }) } }) }
  const ctxOf = (over: { db?: Database; rpc?: Rpc } = {}) => {
    const own = { ...chain, rpc: over.rpc ?? chain.rpc }
    const ctx = { db: over.db ?? db, clock, log: silentLog, chains: new Map([[chainId, own]]), catalogue }
    return ctx as unknown as StreamJobContext
  }
  const committing = { vetoSeconds: 0, committerOf: () => signer.address }
  const steps = [
    (ctx: StreamJobContext) => runStreamSnapshots(ctx, { everySeconds }),
    (ctx: StreamJobContext) => runStreamTrees(ctx),
    (ctx: StreamJobContext) => runStreamCommits(ctx, committing),
    (ctx: StreamJobContext) =>
      createSender(ctx, {
        ...{ chain: ctx.chains.get(chainId) ?? chain, signer },
        caps: { gasPrice: parseGwei('500'), spending: parseEther('10') },
      }).step(),
  ] as const
  /** Everything once, undisturbed, until it is confirmed. */
  const settle = async (): Promise<void> => {
    await follow()
    for (const step of steps) await step(ctxOf())
    await anvil.client.mine({ blocks: 3 })
    await steps[3](ctxOf())
    await follow()
  }
  const listSnapshots = () => db<{ at: number; root: string; isLast: boolean; amount: string; file: string }[]>`
    select extract(epoch from snapshot_at)::bigint as at, hex_text(root) as root, is_last as "isLast",
      amount_distributed as amount, hex_text(file_hash) as file
    from stream_snapshots where stream_id = ${id} and vetoed_at is null order by snapshot_at`
  return {
    ...{ db, clock, id, contract, startsAt, endsAt, nonce, balances, steps, follow, hold, pass, ctxOf, settle },
    listSnapshots,
    listCommitted: () => listRoots(db, [id]),
    countNonces: async () => (await client.getTransactionCount({ address: signer.address as Address })) - nonce,
  }
}

async function inWorld(run: (world: World) => Promise<void>): Promise<void> {
  const test = await openTestDatabase()
  try {
    await run(await openWorld(test))
  } finally {
    await test.close()
  }
}

/** What everybody has by the end, by the recount in fractions, and that the contract pays it. */
async function expectClaims(world: World): Promise<void> {
  const { db, id, contract, startsAt, endsAt, balances } = world
  const [root] = await world.listCommitted()
  const strategy = { type: 3, tokensPerDay } as const
  const of = { streamId: id, strategy, adapters: [], startAt: startsAt, endAt: endsAt, budget: total, increases: [] }
  const facts = { balances, lots: [], sharePrices: [], rewardPrices: [] }
  let paid = 0n
  for (const [wallet, { n, d }] of recountStream({ ...of, rewardDecimals: 6 }, facts, endsAt)) {
    const own = (await findProofs(db, root ? [root] : [], wallet)).get(id)
    const off = (own?.amount ?? 0n) * d - n
    expect(off <= d && off >= -d).toBe(true)
    if (!own) continue
    const args = [wallet, own.amount, Number(root?.rootAt) / 1_000, own.proof]
    const canClaim = { address: contract, abi: streamAbi as Abi, functionName: 'canClaim', args }
    expect(await anvil.client.readContract(canClaim)).toBe(true)
    paid += own.amount
  }
  expect(paid).toBe(root?.total)
  expect(paid <= total && total - paid < BigInt(wallets.length)).toBe(true)
}

describe('a process that ends between any two steps of snapshot, tree, commit and confirmation', () => {
  it.each(Array.from({ length: 5 * times }, (_, draw) => draw))(
    'commits every root once, loses none, and leaves no gap of nonces (draw %i)',
    () =>
      inWorld(async (world) => {
        const random = seededRandom()
        await world.hold(wallets[0] ?? '', 3n)
        await world.hold(wallets[1] ?? '', 10n ** 18n + 7n)
        for (let round = 0; round < 16; round++) {
          await world.pass(hour + random.int(0, 900))
          if (random.next() < 0.4) await world.hold(wallets[random.int(0, 2)] ?? '', BigInt(random.int(0, 1_000_000)))
          await world.follow()
          for (let turn = 0; turn < 4; turn++) {
            const step = world.steps[random.next() < 0.6 ? turn : random.int(0, 3)]
            const db = random.next() < 0.5 ? dyingDb(world.db, random.int(0, 14)) : world.db
            const rpc = random.next() < 0.5 ? dyingRpc(chain.rpc, random.int(0, 8), random.next() < 0.5) : chain.rpc
            await step?.(world.ctxOf({ db, rpc })).catch((error) => expect(error).toBeInstanceOf(Death))
          }
          if (random.next() < 0.7) world.clock.advance(31_000)
        }
        for (let round = 0; round < 4; round++) {
          await world.pass(700)
          await world.settle()
        }
        const snapshots = await world.listSnapshots()
        const committed = await world.listCommitted()
        expect(snapshots.at(-1)).toMatchObject({ isLast: true, at: world.endsAt, root: committed[0]?.root })
        expect(new Set(committed.map(({ root }) => root)).size).toBe(committed.length)
        expect(await world.countNonces()).toBe(committed.length)
        const [queued] = await world.db<{ count: number }[]>`
          select count(*)::int as count from stream_snapshots where commit_id is not null`
        expect(queued?.count).toBe(committed.length)
        await expectClaims(world)
      }),
    60_000,
  )
})

describe('the jobs of a stream', () => {
  it('keep with every root a file that it comes out of again, and go on from what was kept', () =>
    inWorld(async (world) => {
      await world.hold(wallets[0] ?? '', 5n)
      while (Number((await anvil.client.getBlock()).timestamp) < world.endsAt + hour) {
        await world.pass(3 * hour)
        await world.hold(wallets[1] ?? '', BigInt(world.balances.length))
        await world.settle()
      }
      const snapshots = await world.listSnapshots()
      expect(snapshots.length).toBeGreaterThan(2)
      let previous: string | null = null
      for (const { file, root, amount } of snapshots) {
        const text = (await findRewardFile(world.db, file)) ?? ''
        expect(hashFile(text)).toBe(file)
        const { inputs, result } = decodeRewardFile(text)
        expect(recomputeRewards(inputs)).toEqual(result)
        expect([result.root, String(result.total), inputs.origin.previous]).toEqual([root, amount, previous])
        previous = file
      }
      await expectClaims(world)
    }))

  it('delay what is paused and change nothing that is owed; a vetoed snapshot is never committed', () =>
    inWorld(async (world) => {
      await world.hold(wallets[0] ?? '', 5n)
      const pause = (flag: Parameters<typeof updatePause>[2]['flag'], paused: boolean) =>
        world.db.begin((tx) => updatePause(tx, world.id, { flag, paused, alarm: null, at: world.clock.now() }))
      await world.pass(world.startsAt + hour - Number((await anvil.client.getBlock()).timestamp))
      await pause('snapshotComputationPaused', true)
      await world.pass(2 * hour + 5)
      await world.settle()
      expect(await world.listSnapshots()).toEqual([])
      await pause('snapshotComputationPaused', false)
      await pause('merkleTreeComputationPaused', true)
      await world.settle()
      expect(await world.listSnapshots()).toMatchObject([{ at: world.startsAt + 3 * hour, root: null }])
      await pause('merkleTreeComputationPaused', false)
      await pause('hashCommitmentPaused', true)
      await world.settle()
      expect([(await world.listSnapshots())[0]?.root === null, await world.listCommitted()]).toEqual([false, []])
      await vetoSnapshot(world.db, world.id, world.clock.now())
      await pause('hashCommitmentPaused', false)
      await world.settle()
      expect([await world.listSnapshots(), await world.listCommitted()]).toEqual([[], []])
      await pause('hashCommitmentPaused', true)
      await world.pass(8 * hour)
      await world.settle()
      expect(await world.listSnapshots()).toMatchObject([{ at: world.endsAt, isLast: true }])
      await vetoSnapshot(world.db, world.id, world.clock.now())
      await pause('hashCommitmentPaused', false)
      await world.settle()
      expect(await world.listSnapshots()).toEqual([])
      expect(await retakeSnapshot(world.ctxOf(), world.id)).toBe('taken')
      await world.settle()
      expect(await world.listCommitted()).toMatchObject([{ total, isConfirmed: true }])
      await expectClaims(world)
    }))

  it('stop committing, with an alarm, when a root stands in the contract that is not ours', () =>
    inWorld(async (world) => {
      await world.hold(wallets[0] ?? '', 5n)
      await world.pass(5 * hour)
      await world.settle()
      const [ours] = await world.listCommitted()
      const foreign = `0x${'ee'.repeat(32)}`
      await anvil.client.impersonateAccount({ address: signer.address as Address })
      const args = [foreign, Number(ours?.rootAt) / 1_000 + 1, ours?.total]
      await anvil.done(
        anvil.client.writeContract({
          ...{ account: signer.address as Address, address: world.contract, abi: streamAbi as Abi },
          ...{ functionName: 'updateRoot', args },
        }),
      )
      await world.pass(2 * hour)
      await world.settle()
      const [row] = await world.db`select hash_commitment_paused as paused, alarm from streams`
      expect(row).toMatchObject({ paused: true, alarm: expect.stringContaining(foreign) })
      expect((await world.listCommitted()).map(({ root }) => root)).toEqual([foreign, ours?.root])
    }))
})
