import { recordChange } from '../src/features/audit/storeChanges.js'
import { createKey } from '../src/features/auth/index.js'
import { recordRootReading } from '../src/features/streams/storeRootReadings.js'
import { newId } from '../src/kernel/ids.js'
import { recordOutgoing } from '../src/rpc/sender/index.js'
import { addressOf } from './catalogueFile.js'
import { openStreamWorld, type StreamWorld, streamsNow } from './streamWorld.js'

export const operatorToken = 'a-token-of-the-operator-0123456789'
export const [committer, solver] = [addressOf(1, 'd'), addressOf(2, 'd')]

const at = (secondsAgo: number) => new Date(Date.parse(streamsNow) - secondsAgo * 1_000)

/** An installation with something in each list of its operator: what is well, what waits, and what is not well. */
export async function openOperatorWorld() {
  const world = await openStreamWorld({ config: { operatorToken, vetoSeconds: 3_600 } })
  const { earn } = world
  await fillChains(world)
  const transactions = await fillSending(world)
  const settlements = await fillSolver(world)
  const streams = await fillStreams(world)
  await recordChange(earn.db, {
    ...{ id: newId(), at: at(60), osUser: 'ada', command: 'keys revoke pk_live_abc' },
    ...{ before: { revokedAt: null }, after: { revokedAt: streamsNow } },
  })
  await fillImports(world)
  const own = { kind: 'publishable', organizationId: earn.organizationId, name: 'shop', hourlyUnits: 12_345 } as const
  await createKey(earn.ctx, { ...own, monthlyUnits: 1_234_567, addressShare: 0.2 })
  await createKey(earn.ctx, { ...own, name: 'old', expiresAt: at(1) })
  return { ...world, transactions, settlements, streams }
}

/** An import of before differences were kept, and one that added, changed and removed something. */
async function fillImports({ earn }: StreamWorld): Promise<void> {
  const command = 'catalogue import catalogue.json sha256:00'
  await recordChange(earn.db, {
    ...{ id: newId(), at: at(7_200), osUser: 'ada', command, before: { version: 1 }, after: { version: 2 } },
  })
  const named = (change: string, members = {}) => ({
    kind: 'product',
    id: newId(),
    name: `a product ${change}`,
    change,
    members,
  })
  const differences = [
    named('changed', { name: { before: 'a product', after: 'a product changed' } }),
    ...[named('added'), named('added'), named('removed')],
  ]
  await recordChange(earn.db, {
    ...{ id: newId(), at: at(120), osUser: 'ada', command, before: { version: 2 } },
    after: { version: 3, differences, more: 7 },
  })
}

async function fillChains({ db, vaultId }: StreamWorld): Promise<void> {
  await db`update chains set watched = true where chain_id = 1`
  await db`
    insert into chain_cursors (chain_id, start_block, block_number, block_hash, head_number, state, reason, updated_at)
    values (1, 0, 24000000, '0x', 24000123, 'stalled', 'the node replaced final blocks', ${at(90)})`
  await db`
    insert into vault_drift (vault_id, checked_at, block_number, samples, mismatches)
    values (${vaultId}, ${at(600)}, 990, 20, 3)`
  await db`
    insert into jobs (name, chains, every_seconds, run_at, attempts, failed_since, error) values
      ('prices', '{}', 60, now(), 7, ${at(420)}, 'the provider answers 500'),
      ('history', '{}', 60, now() + interval '1 hour', 0, null, '')`
}

/** One that is queued and held, and one that was sent. */
async function fillSending({ db, chainId }: StreamWorld) {
  await db`
    insert into senders (chain_id, address, stopped, stopped_at) values
      (${chainId}, hex_bytes(${committer}), null, null),
      (1, hex_bytes(${solver}), 'it has a transaction that is not ours', ${at(30)})`
  const shared = {
    chainId,
    sender: committer,
    to: addressOf(3),
    data: '0xabcd',
    value: 0n,
    costMax: 20_000_000_000_000_001n,
  }
  const [held, sent, over] = [newId(), newId(), newId()]
  await recordOutgoing(db, { ...shared, id: held, purpose: 'root of a stream' }, at(7_200))
  await recordOutgoing(db, { ...shared, id: sent, purpose: 'root of another' }, at(20))
  await recordOutgoing(db, { ...shared, id: over, purpose: 'root of a third' }, at(3_000))
  await db`update outgoing_transactions set held = 'noFunds', reason = 'the key holds 5 wei' where id = ${held}`
  await db`
    update outgoing_transactions set state = 'sent', nonce = 4, gas_limit = 21000, reserved = 1500000000000000,
      reserved_at = ${at(10)} where id = ${sent}`
  await db`
    update outgoing_transactions set state = 'confirmed', nonce = 3, gas_limit = 21000, reserved = 9000000000000000,
      cost = 1234000000000000, reserved_at = ${at(2_900)} where id = ${over}`
  return { held, sent, over }
}

/** A settlement that is open, and one that reverted. */
async function fillSolver({ db, earn, chainId, token }: StreamWorld) {
  const distributorId = await earn.distributor()
  const settle = async (minutesAgo: number, costMax: bigint) => {
    const [orderId, id] = [newId(), newId()]
    const uid = orderId.replaceAll('-', '').padEnd(112, '0')
    await db`
      insert into swap_orders (id, organization_id, distributor_id, chain_id, settlement, relayer, uid, owner, token_in, token_out,
        amount_in, min_amount_out, partially_fillable, app_data, app_data_hash, expires_at, created_at)
      values (${orderId}, ${earn.organizationId}, ${distributorId}, ${chainId}, ${addressOf(4)}, ${addressOf(5)},
        decode(${uid}, 'hex'), ${addressOf(6)}, ${token.share}, ${token.plain}, 10, 9, false, '{}',
        decode(${'ef'.repeat(32)}, 'hex'), ${at(-3_600)}, ${at(60 * minutesAgo)})`
    await recordOutgoing(
      db,
      {
        ...{ id, chainId, sender: solver, to: addressOf(4), data: '0x', value: 0n, costMax },
        purpose: `settlement of order ${orderId}`,
      },
      at(60 * minutesAgo),
    )
    await db`
      insert into order_settlements (id, order_id, attempt, amount_in, amount_out, created_at, touches, filled_before, chain_id,
        owner, organization_id, is_risky, is_listed, cost_max)
      values (${id}, ${orderId}, 1, 10, 9, ${at(60 * minutesAgo)}, '{}', 0, ${chainId}, ${addressOf(6)}, ${earn.organizationId},
        true, false, ${String(costMax)})`
    return { id, orderId }
  }
  const [open, reverted] = [await settle(50, 7_000_000_000_000_000n), await settle(40, 8_000_000_000_000_000n)]
  await db`
    update outgoing_transactions set state = 'reverted', nonce = 0, gas_limit = 1, reserved = 1, reserved_at = ${at(100)},
      cost = 6100000000000000 where id = ${reverted.id}`
  await db`
    update order_settlements set is_open = false, outcome = 'reverted', cost = 6100000000000000, closed_at = ${at(90)}
    where id = ${reverted.id}`
  return { open, reverted }
}

/** One of each standing, one that is done, one that is done with a root in doubt, and one with an alarm. */
async function fillStreams(world: StreamWorld) {
  const { db, chainId, stream, snapshot, event } = world
  const wallet = addressOf(8)
  const [half, hours] = [at(1_800).toISOString(), at(7_200).toISOString()]
  const names = ['fresh', 'due', 'queued', 'cancelled', 'done', 'doubted', 'alarmed', 'new'] as const
  const ids: Record<string, string> = {}
  for (const name of names) ids[name] = await stream()
  const of = (name: (typeof names)[number]) => ids[name] as string
  const doubt = (streamId: string, rootAt: string, root: string) =>
    recordRootReading(
      db,
      { streamId, at: Date.parse(rootAt) / 1_000, root, total: 7n },
      {
        ...{ source: 'node.example', kind: 'node', result: { root: null, total: 0n } },
        ...{ problems: ['no wallet has earned a unit'], since: at(50), readAt: at(40) },
      },
    )
  await snapshot(of('fresh'), half, { [wallet]: 1_000_000_000_000_000_001n })
  for (const name of ['due', 'queued', 'cancelled'] as const) await snapshot(of(name), hours, { [wallet]: 5n })
  for (const name of ['done', 'doubted'] as const) {
    const root = await snapshot(of(name), hours, { [wallet]: 7n })
    await event(of(name), 'root', { root, rootAt: new Date(hours), total: '7' })
    if (name === 'doubted' && root !== null) await doubt(of(name), hours, root)
  }
  for (const [name, state] of [
    ['queued', 'queued'],
    ['cancelled', 'cancelled'],
  ] as const) {
    const commitId = newId()
    const shared = { chainId, sender: committer, to: addressOf(3), data: '0xabcd', value: 0n, costMax: 1n }
    await recordOutgoing(db, { ...shared, id: commitId, purpose: `root of stream ${of(name)}` }, at(900))
    await db`update outgoing_transactions set state = ${state} where id = ${commitId}`
    await db`update stream_snapshots set commit_id = ${commitId} where stream_id = ${of(name)}`
  }
  await db`
    update streams set alarm = 'a root that is none of ours', hash_commitment_paused = true where id = ${of('alarmed')}`
  return Object.fromEntries(names.map((name) => [name, of(name)])) as Record<(typeof names)[number], string>
}
