import type { CustomArgs } from '../src/features/streams/storeStreams.js'
import { tokenId } from '../src/features/streams/tokens.js'
import { buildTree } from '../src/features/streams/tree.js'
import type { Config } from '../src/kernel/config.js'
import { newId } from '../src/kernel/ids.js'
import { addressOf } from './catalogueFile.js'
import { type Earn, openEarn } from './harness.js'

export const streamsNow = '2026-11-20T12:00:00Z'
export const incentivize = 'organization:incentivize:streams'
/** Nobody's key: of tests alone. */
export const streamsKey = `0x${'5c'.repeat(32)}` as const

const chainId = 31_337
const confirmations = 4
const head = 1_000
const token = { reward: addressOf(1), share: addressOf(2), plain: addressOf(3), idle: addressOf(4) }
const factory = addressOf(9, 'f')
const admin = addressOf(5, 'e')

export type StreamWorld = Awaited<ReturnType<typeof openStreamWorld>>

/** The service with a chain made by hand: its cursor, its events and its snapshots are put into the tables. */
export async function openStreamWorld(options: { config?: Partial<Config> } = {}) {
  const settings = { name: 'STREAMS', key: streamsKey, keyFile: undefined, remote: undefined }
  const earn = await openEarn({ now: streamsNow, config: { streamsKey: settings, ...options.config } })
  const { db } = earn
  const vaultId = await prepare(earn)
  const secret = await earn.key({ kind: 'secret', permissions: [incentivize], hourlyUnits: 1e9 })
  const other = await earn.organization()
  const stranger = await earn.key({ kind: 'secret', permissions: [incentivize], organizationId: other })
  let logIndex = 0
  const event = async (streamId: string, kind: string, values: Record<string, unknown> = {}) => {
    const { at = 900, salt, root, rootAt, amount, fee, total, wallet, paused, hash = 'ab'.repeat(32) } = values
    await db`
      insert into stream_events (chain_id, block_number, block_timestamp, log_index, stream_id, kind, transaction_hash,
        wallet, salt, root, root_at, amount, fee, total, paused)
      values (${chainId}, ${Number(at)}, ${timeOf(Number(at))}, ${++logIndex}, ${streamId}, ${kind},
        decode(${String(hash)}, 'hex'), hex_bytes(${(wallet as string) ?? null}), hex_bytes(${(salt as string) ?? null}),
        hex_bytes(${(root as string) ?? null}), ${(rootAt as Date) ?? null}, ${(amount as string) ?? null},
        ${(fee as string) ?? null}, ${(total as string) ?? null}, ${(paused as boolean) ?? null})`
  }
  const put = async (over: Partial<StreamInput> = {}): Promise<string> => {
    const id = newId()
    const isPoints = over.pointId !== undefined
    const paid = <V>(value: V) => (isPoints ? null : value)
    const args: CustomArgs = over.customArgs ?? { targetTokenId: tokenIdOf('share'), tokensPerUSD: '1000' }
    await db`
      insert into streams (id, organization_id, type, target_vault_id, target_chain_id, target_token, chain_id,
        reward_token, factory, contract_address, admin, signed_until, from_block, point_id, total_amount, fee_amount,
        starts_at, ends_at, custom_args, created_at, updated_at)
      values (${id}, ${over.organizationId ?? earn.organizationId}, ${over.type ?? 1}, ${vaultId}, ${chainId},
        ${token.share}, ${paid(chainId)}, ${paid(token.reward)}, ${paid(factory)}, ${paid(contractOf(id))},
        ${paid(admin)}, ${paid(new Date(streamsNow))}, ${paid(1)}, ${over.pointId ?? null},
        ${paid('1000000')}, ${paid('15000')}, ${over.startsAt ?? '2026-11-01T00:00:00Z'},
        ${over.endsAt ?? null}, ${JSON.stringify(args)}::text::jsonb, ${over.createdAt ?? streamsNow},
        ${over.createdAt ?? streamsNow})`
    if (!isPoints && over.createdBlock !== null) await event(id, 'created', { at: over.createdBlock ?? 900 })
    return id
  }
  return {
    ...{ earn, db, chainId, head, confirmations, secret, stranger, admin, factory, token, vaultId, event },
    /** The block up to which blocks are confirmed. */
    confirmed: head - confirmations + 1,
    timeOf,
    contractOf,
    /** Puts a stream whose creation is in a confirmed block, unless told otherwise; null: nowhere. */
    stream: put,
    point: async (symbol = 'PTS', organizationId = earn.organizationId) => {
      const id = newId()
      await db`
        insert into stream_points (id, organization_id, symbol, name, decimals, created_at, updated_at)
        values (${id}, ${organizationId}, ${symbol}, 'Points', 18, ${streamsNow}, ${streamsNow})`
      return id
    },
    /** Puts a snapshot with these cumulative rewards; answers its root. */
    snapshot: async (
      streamId: string,
      at: string,
      rewards: Record<string, bigint>,
      over: { isLast?: boolean } = {},
    ) => {
      const id = newId()
      const leaves = Object.entries(rewards).map(([wallet, cumulative]) => ({ wallet, cumulative }))
      const root = buildTree(leaves.filter(({ cumulative }) => cumulative > 0n))?.root ?? null
      const sum = leaves.reduce((total, { cumulative }) => total + cumulative, 0n)
      await db`
        insert into stream_snapshots (id, stream_id, snapshot_at, target_chain_id, block_number, block_hash, is_last,
          amount_base, amount_distributed, tvl, user_count, active_user_count, state, root, rooted_at, created_at, updated_at)
        values (${id}, ${streamId}, ${at}, ${chainId}, 1, decode(${'cd'.repeat(32)}, 'hex'), ${over.isLast === true},
          ${String(sum)}, ${String(sum)}, '12.5', ${leaves.length}, ${leaves.length}, '{}', hex_bytes(${root}), ${at}, ${at}, ${at})`
      for (const { wallet, cumulative } of leaves)
        await db`
          insert into stream_wallet_snapshots (snapshot_id, wallet, rewards, rewards_base, accrued, accrued_base)
          values (${id}, hex_bytes(${wallet}), ${String(cumulative)}, ${String(cumulative)}, 0, 0)`
      return root
    },
    /** The head moves on, and what is confirmed with it. */
    advance: async (to: number) => {
      await db`
        update chain_cursors set block_number = ${to}, head_number = ${to}, block_timestamp = ${timeOf(to)}
        where chain_id = ${chainId}`
      await block(earn, to - confirmations + 1)
    },
    close: () => earn.close(),
  }
}

type StreamInput = {
  type: 1 | 2 | 3
  organizationId: string
  pointId: string
  customArgs: CustomArgs
  startsAt: string
  endsAt: string
  createdAt: string
  createdBlock: number | null
}

const contractOf = (id: string): string => `0x${id.replaceAll('-', '')}00000000`

/** Blocks are 12 s apart, and the head is now. */
const timeOf = (number: number): Date => new Date(new Date(streamsNow).getTime() - (head - number) * 12_000)

const tokenIdOf = (name: keyof typeof token): string => tokenId({ chainId, address: token[name] })

export { tokenIdOf }

async function block({ db }: Earn, number: number): Promise<void> {
  const hash = number.toString(16).padStart(64, '0')
  await db`
    insert into blocks (chain_id, number, timestamp, hash, parent_hash, has_logs)
    values (${chainId}, ${number}, ${timeOf(number)}, decode(${hash}, 'hex'), decode(${hash}, 'hex'), false)
    on conflict do nothing`
}

async function prepare(earn: Earn): Promise<number> {
  const { db } = earn
  await db`
    insert into chains (chain_id, name, slug, watched, confirmations, stream_factory)
    values (${chainId}, 'Devnet', 'devnet', true, ${confirmations}, ${factory}),
      (1, 'Ethereum', 'ethereum', false, 12, null)`
  const symbols = { reward: 'RWD', share: 'yTUSD', plain: 'PLAIN', idle: 'IDLE' }
  for (const [name, address] of Object.entries(token))
    await db`
      insert into tokens (chain_id, address, decimals, symbol, name, active, is_allowed_reward_token)
      values (${chainId}, ${address}, 18, ${symbols[name as keyof typeof token]}, ${name}, ${name !== 'idle'}, ${name === 'reward'})`
  const vault = addressOf(7, 'b')
  const [row] = await db<{ id: number }[]>`
    insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals, active_from)
    values (${chainId}, ${vault}, 'erc4626', ${token.plain}, 18, ${token.share}, 18, 'epoch') returning id`
  await db`
    insert into chain_cursors (chain_id, start_block, block_number, block_hash, block_timestamp, head_number, state, updated_at)
    values (${chainId}, 0, ${head}, ${`0x${'11'.repeat(32)}`}, ${streamsNow}, ${head}, 'live', ${streamsNow})`
  for (const number of [head - 100, head - confirmations + 1, head]) await block(earn, number)
  await earn.ctx.catalogue.refresh()
  if (!row) throw new Error('the vault was not put')
  return row.id
}
