import { signDigest } from '@openearn/attribution'
import {
  streamAbi,
  streamFactoryAbi,
  streamFactoryBytecode,
  testTokenAbi,
  testTokenBytecode,
} from '@openearn/contracts'
import { verifyStream } from '@openearn/sdk/verify'
import { type Abi, type Address, encodeFunctionData, type Hex, parseAbiItem, parseEther, parseGwei } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect } from 'vitest'
import { type Anvil, account, startAnvil } from '../../contracts/test/anvil.js'
import { runStreamCommits, runStreamTrees } from '../src/features/streams/jobCommits.js'
import { runStreamSnapshots, type StreamJobContext } from '../src/features/streams/jobSnapshots.js'
import { findProofs } from '../src/features/streams/proofs.js'
import { listRoots } from '../src/features/streams/storeEvents.js'
import { fakeClock, systemClock } from '../src/kernel/clock.js'
import { formatUuid, uuidToBytes16 } from '../src/kernel/ids.js'
import { silentLog } from '../src/kernel/log.js'
import { createOutbound } from '../src/kernel/outbound.js'
import type { Database } from '../src/postgres/pool.js'
import { type Chain, type ChainSettings, openChain } from '../src/rpc/chains.js'
import type { Rpc } from '../src/rpc/rpc.js'
import { createSender } from '../src/rpc/sender/index.js'
import { createKeySigner, type Signer } from '../src/rpc/signer.js'
import { openTestDatabase, type TestDatabase } from './database.js'
import { recountStream } from './recount/naiveStream.js'
import { seededBytes, seededKey } from './seed.js'

/** A real chain with a stream of our contracts, and tables written as a watcher would: for the jobs of streams alone. */

export const chainId = 31_337
export const hour = 3_600
export const everySeconds = hour
const start = Math.ceil(1_760_000_000 / hour) * hour
const admin = account(5)
export const wallets = [1, 2, 3].map((index) => account(index).address.toLowerCase())
const vault = `0x${'7a'.repeat(20)}`
const tokensPerDay = 24_000_003n
const lasts = 10 * hour
export const total = (tokensPerDay * BigInt(lasts)) / 86_400n

let anvil: Anvil
let chain: Chain
let settings: ChainSettings
let factory: Address
let token: Address
let signer: Signer
const signerKey = seededKey()
const verifierKey = seededKey()
const verifier = createKeySigner(verifierKey, signDigest)

/** Opens the chain all worlds of a file share. */
export async function openStreamJobs() {
  anvil = await startAnvil({ timestamp: start - 10 })
  signer = createKeySigner(signerKey, signDigest)
  const holders = [verifier, verifier, signer, verifier, verifier].map(({ address }) => address)
  factory = await anvil.deploy({
    abi: streamFactoryAbi as Abi,
    bytecode: streamFactoryBytecode,
    args: [admin.address, holders],
  })
  token = await anvil.deploy({ abi: testTokenAbi as Abi, bytecode: testTokenBytecode, args: ['Reward', 'RWD', 6] })
  await anvil.client.setBalance({ address: signer.address as Address, value: parseEther('100') })
  settings = {
    ...{ chainId, name: 'Test', rpcUrls: [anvil.url], nativeSymbol: 'ETH', confirmations: 2, finalityDepth: 64 },
    ...{ pollIntervalMs: 50, reorgRecheckSeconds: 0, entryPoints: [] },
  }
  chain = openChain(createOutbound(systemClock), settings)
  return { anvil, chain, signer, signerKey, settings, close: () => anvil.stop() }
}

export type World = Awaited<ReturnType<typeof openWorld>>

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
    insert into sources (chain_id, projection, source, from_block, synced_to, synced)
    values (${chainId}, 'positions', ${vault}, 0, 0, true)`
  await db`
    insert into chain_cursors (chain_id, start_block, block_number, block_hash, head_number, finalized_number, state,
      updated_at)
    values (${chainId}, 0, 0, '0x', 0, 0, 'live', now())`
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
  /** The watcher takes back what lies above a block. */
  const rewind = async (number: number): Promise<void> => {
    await db`delete from stream_events where block_number > ${number}`
    await db`delete from blocks where number > ${number}`
    read = Math.min(read, number)
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
  const committing = { vetoSeconds: 0, committerOf: () => signer.address, costMax: 10n ** 18n }
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
    ...{
      target: test.target,
      db,
      clock,
      id,
      contract,
      startsAt,
      endsAt,
      nonce,
      balances,
      steps,
      follow,
      rewind,
      hold,
      pass,
      ctxOf,
      settle,
    },
    listSnapshots,
    listCommitted: () => listRoots(db, [id]),
    countNonces: async () => (await client.getTransactionCount({ address: signer.address as Address })) - nonce,
  }
}

export async function inWorld(run: (world: World) => Promise<void>): Promise<void> {
  const test = await openTestDatabase()
  try {
    await run(await openWorld(test))
  } finally {
    await test.close()
  }
}

/** One commit a root to the last, no nonce left out, and everybody is paid; answers how many roots there are. */
export async function expectEachCommittedOnce(world: World): Promise<number> {
  const snapshots = await world.listSnapshots()
  const committed = await world.listCommitted()
  expect(snapshots.at(-1)).toMatchObject({ isLast: true, at: world.endsAt, root: committed[0]?.root })
  expect(new Set(committed.map(({ root }) => root)).size).toBe(committed.length)
  expect(await world.countNonces()).toBe(committed.length)
  const [queued] = await world.db<{ count: number }[]>`
    select count(*)::int as count from stream_snapshots where commit_id is not null`
  expect(queued?.count).toBe(committed.length)
  await expectClaims(world)
  return committed.length
}

/** What everybody has by the end, by the recount in fractions, and that the contract pays it. */
export async function expectClaims(world: World): Promise<void> {
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
    const data = encodeFunctionData({ abi: streamAbi as Abi, functionName: 'claim', args: args.slice(1) })
    const transaction = { to: contract, data, value: '0', chainId }
    const roots = [{ root: root?.root ?? '', timestamp: Number(root?.rootAt) / 1_000 }]
    const asked = { type: 'claim', userAddress: wallet, amount: String(own.amount) } as const
    const known = { chainId, stream: contract, roots }
    expect(await verifyStream(asked, [{ type: 'claim', transaction }], known)).toMatchObject({ problems: [] })
    paid += own.amount
  }
  expect(paid).toBe(root?.total)
  expect(paid <= total && total - paid < BigInt(wallets.length)).toBe(true)
}
