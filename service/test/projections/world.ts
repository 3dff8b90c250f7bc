import { signerAddress } from '@openearn/attribution'
import { streamAbi, streamFactoryAbi } from '@openearn/contracts'
import { encodeAbiParameters, encodeEventTopics, type Hex, parseAbiParameters, toEventSelector } from 'viem'
import { recordSigner } from '../../src/features/catalogue/storeSigners.js'
import { systemClock } from '../../src/kernel/clock.js'
import { derivedId, newId, uuidToBytes16 } from '../../src/kernel/ids.js'
import { silentLog } from '../../src/kernel/log.js'
import type { Database } from '../../src/postgres/pool.js'
import type { RawLog } from '../../src/rpc/raw.js'
import { listProjections } from '../../src/server/projections.js'
import type { Projections } from '../../src/sync/projection.js'
import { openTestDatabase, type TestDatabase } from '../database.js'
import { createPipeline, type PipelineOptions } from '../pipeline.js'
import { signerKey } from '../simulation/calldata.js'
import { allVaults, asyncVault, codes, type ModelBlock, wallets } from '../simulation/model.js'
import { createModelChain } from '../simulation/modelChain.js'
import { createModelNode } from '../simulation/modelNode.js'
import type { Random } from '../simulation/random.js'
import { createWatcher, type Watcher } from '../sink.js'
import { createToyTables, createToyTransfers, type Transfer, toyToken, toyTotals, transferTopic } from './toy/index.js'

export const confirmations = 7
const pad = (value: string) => value.slice(2).padStart(64, '0')

/** What the service derives, and the same with the toys: the line that adds them. */
export const service = listProjections()
export const toys = [createToyTransfers(2), toyTotals]
export const withToys: Projections = { ...service, derived: [...service.derived, ...toys] }

/** A database with the toys' tables. */
export async function openToyDatabase(): Promise<TestDatabase> {
  const test = await openTestDatabase({ max: 6 })
  await createToyTables(test.db)
  return test
}

/** A chain in the database with the simulation's vaults and two distributors. */
async function prepareChain(db: Database, chainId: number): Promise<void> {
  const epoch = new Date(0)
  const organizationId = newId()
  await db`insert into organizations (id, name, organization_type) values (${organizationId}, 'O', 'distributor')`
  await db`insert into chains (chain_id, name, slug, confirmations) values (${chainId}, ${`c${chainId}`}, ${`c${chainId}`}, ${confirmations})`
  for (const vault of allVaults)
    await db`
      insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals, active_from, start_block)
      values (${chainId}, ${vault}, ${vault === asyncVault ? 'erc7540' : 'erc4626'}, ${`0x${'dd'.repeat(20)}`}, 6, ${vault}, 6, ${epoch}, 1)`
  for (const id of codes.slice(0, 2))
    await db`
      insert into distributors (id, organization_id, active_from) values (${id}, ${organizationId}, ${epoch})
      on conflict do nothing`
  await db`
    insert into streams (id, organization_id, type, target_vault_id, target_chain_id, target_token, chain_id, reward_token,
      factory, contract_address, admin, signed_until, from_block, total_amount, fee_amount, starts_at, custom_args,
      created_at, updated_at)
    select ${streamOf(chainId)}, ${organizationId}, 1, id, ${chainId}, receipt_token, ${chainId}, ${toyToken}, ${streamFactory},
      ${streamContract}, ${streamFactory}, ${epoch}, 1, 1, 0, ${epoch}, '{}', ${epoch}, ${epoch}
    from vaults where chain_id = ${chainId} order by id limit 1`
  await db`
    insert into swap_orders (id, organization_id, distributor_id, chain_id, settlement, relayer, uid, owner, token_in, token_out,
      amount_in, min_amount_out, partially_fillable, app_data, app_data_hash, expires_at, created_at)
    values (${derivedId(`order of ${chainId}`)}, ${organizationId}, ${codes[0] ?? ''}, ${chainId}, ${settlement}, ${settlement},
      hex_bytes(${orderUidOf(chainId)}), ${settlement}, ${toyToken}, ${settlement}, 1000, 1, true, '{}',
      hex_bytes(${`0x${'00'.repeat(32)}`}), to_timestamp(4102444800), ${epoch})`
  await db`insert into followed_settlements (chain_id, address, from_block) values (${chainId}, ${settlement}, 1)`
  await recordSigner(db, signerAddress(Buffer.from(signerKey.slice(2), 'hex')), epoch)
}

const streamFactory = `0x${'f1'.repeat(20)}` as const
const streamContract = `0x${'f2'.repeat(20)}` as const
const streamOf = (chainId: number): string => derivedId(`stream of ${chainId}`)

const settlement = `0x${'f3'.repeat(20)}` as const
const orderUidOf = (chainId: number): Hex => `0x${chainId.toString(16).padStart(112, '0')}`

/** Transfers of the toy's token in a block, decided by its hash: none in a third of blocks, some behind a vault's logs. */
export function tokenTransfersOf(block: ModelBlock): Transfer[] {
  const dice = Buffer.from(block.hash.slice(2), 'hex')
  const [count = 0, first = 0] = dice
  const next = block.transactions.reduce((sum, { logs }) => sum + logs.length, 0)
  return Array.from({ length: count % 3 }, (_, index) => ({
    blockNumber: block.number,
    logIndex: next + index,
    from: wallets[(first + index) % wallets.length] ?? '',
    to: wallets[(first + 3 * index + 1) % wallets.length] ?? '',
    amount: 1n + BigInt(dice[index + 2] ?? 0),
  }))
}

/**
 * A model chain that carries transfers of the token too: in the block's last transaction, beside what that did with the
 * vaults, where it has any.
 */
export function withToken(block: ModelBlock): ModelBlock {
  const moved = tokenTransfersOf(block)
  return carry(
    block,
    moved.map(({ from, to, amount }) => ({
      ...{ address: toyToken, topics: [transferTopic, `0x${pad(from)}`, `0x${pad(to)}`] },
      data: `0x${pad(`0x${amount.toString(16)}`)}`,
    })),
  )
}

/** The same block with what a stream and its factory emit, decided by its hash: nothing in half of the blocks. */
function withStream(block: ModelBlock, chainId: number): ModelBlock {
  const [choice = 0, size = 0] = Buffer.from(block.hash.slice(2), 'hex').subarray(8)
  const [hash, wallet] = [block.hash as Hex, wallets[size % wallets.length] as Hex]
  const [streamId, uint] = [uuidToBytes16(streamOf(chainId)), { type: 'uint256' }] as const
  const of = { abi: streamAbi }
  const said = [
    {
      ...{ address: streamContract, data: encodeAbiParameters([uint], [BigInt(size)]) },
      topics: encodeEventTopics({ ...of, eventName: 'RootUpdated', args: { root: hash, timestamp: block.number } }),
    },
    {
      ...{ address: streamContract, data: encodeAbiParameters([uint, uint], [1n, BigInt(size)]) },
      topics: encodeEventTopics({
        ...{ ...of, eventName: 'RewardsClaimed' },
        args: { user: wallet, timestamp: block.number },
      }),
    },
    {
      address: streamFactory,
      data: encodeAbiParameters([{ type: 'address' }, uint, uint], [wallet, BigInt(size), 1n]),
      topics: encodeEventTopics({
        ...{ abi: streamFactoryAbi, eventName: 'FundsAdded' },
        args: { streamId, stream: streamContract, salt: hash },
      }),
    },
  ]
  const own = choice < 128 ? said.slice(choice % said.length) : []
  return carry(
    block,
    own.map(({ topics, ...log }) => ({ ...log, topics: topics as string[] })),
  )
}

/** The same block with what a settlement contract says of an order, and of one that is nobody's here: in half of the blocks. */
function withOrder(block: ModelBlock, chainId: number): ModelBlock {
  const [choice = 0, size = 0] = Buffer.from(block.hash.slice(2), 'hex').subarray(12)
  const [address, owner] = [settlement, `0x${pad(settlement)}`]
  const said = [orderUidOf(chainId), orderUidOf(chainId + 1_000_000)].flatMap((uid) => [
    {
      ...{ address, topics: [toEventSelector(trade), owner] },
      data: encodeAbiParameters(tradeData, [toyToken as Hex, settlement, BigInt(size), 2n * BigInt(size), 0n, uid]),
    },
    {
      ...{ address, topics: [toEventSelector('OrderInvalidated(address,bytes)'), owner] },
      data: encodeAbiParameters([{ type: 'bytes' }], [uid]),
    },
  ])
  return carry(block, choice < 128 ? said.slice(choice % said.length) : [])
}

const trade = 'Trade(address,address,address,uint256,uint256,uint256,bytes)'
const tradeData = parseAbiParameters('address, address, uint256, uint256, uint256, bytes')

/** A block whose last transaction has more logs, after all others. */
function carry(block: ModelBlock, more: readonly Pick<RawLog, 'address' | 'topics' | 'data'>[]): ModelBlock {
  if (more.length === 0) return block
  const next = block.transactions.reduce((sum, { logs }) => sum + logs.length, 0)
  const last = block.transactions.at(-1)
  const index = Math.max(0, block.transactions.length - 1)
  const hash = last?.hash ?? `0x${'7e'.repeat(4)}${block.hash.slice(10)}`
  const logs = more.map(
    (log, at): RawLog => ({
      ...{ blockNumber: block.number, logIndex: next + at, transactionIndex: index, transactionHash: hash, ...log },
    }),
  )
  const carrier = last
    ? { ...last, logs: [...last.logs, ...logs] }
    : { hash, from: wallets[0] ?? '', to: toyToken, input: '0x', groups: [], events: [], logs }
  return { ...block, transactions: [...block.transactions.slice(0, -1), carrier] }
}

export type World = Awaited<ReturnType<typeof openWorld>>

/** A model chain with the token, a node over it, and watchers of it. */
export async function openWorld(db: Database, { chainId, random }: { chainId: number; random: Random }) {
  await prepareChain(db, chainId)
  const chain = createModelChain(random, chainId, false)
  const faults = { share: 0 }
  const seen = new WeakMap<ModelBlock, ModelBlock>()
  const full = (block: ModelBlock): ModelBlock => {
    const known = seen.get(block) ?? withOrder(withStream(withToken(block), chainId), chainId)
    seen.set(block, known)
    return known
  }
  const node = createModelNode({
    ...{ chainId, random, faults },
    chain: () => chain.blocks.map(full),
    stale: () => chain.stale().map(full),
    finalized: () => null,
    between: () => undefined,
  })
  const ctx = { db, clock: systemClock, log: silentLog }
  const open = (projections: Projections, more: Partial<PipelineOptions> = {}): Watcher => {
    const sink = createPipeline(ctx, { chainId, projections, backfillWindow: 8, ...more })
    const settings = { chainId, confirmations, finalityDepth: 80, reorgRecheckSeconds: 0 }
    return createWatcher({
      ...{ chain: settings, node, sink, clock: ctx.clock, log: ctx.log },
      ...{ windowMax: 16, calmMs: 0, random: random.next },
    })
  }
  return {
    chainId,
    chain,
    faults,
    open,
    ctx,
    /** Watches until there is nothing new. */
    rest: async (watcher: Watcher): Promise<void> => {
      for (let quiet = 0, steps = 0; quiet < 2; steps++) {
        if (steps > 500) throw new Error('the watcher never came to rest')
        quiet = (await watcher.step()) === 'idle' ? quiet + 1 : 0
      }
    },
    /** All rows of the tables of every projection, as text; records of orphaned blocks aside. */
    dump: async (): Promise<string[]> => {
      const lines: string[] = []
      for (const { table, isRecord } of withToys.derived.flatMap(({ tables }) => tables)) {
        const rows = await db<{ line: string }[]>`
          select to_jsonb(t)::text as line from ${db(table.name)} t
          where chain_id = ${chainId} ${isRecord ? db`and not ${isRecord(db)}` : db``} order by 1`
        lines.push(...rows.map(({ line }) => `${table.name} ${line}`))
      }
      return lines
    },
  }
}
