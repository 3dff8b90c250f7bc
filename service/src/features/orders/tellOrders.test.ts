import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { flushEvents } from '../../../test/flushEvents.js'
import type { Earn } from '../../../test/harness.js'
import { hash, openLedgerWorld } from '../../../test/ledgerWorld.js'
import { newId } from '../../kernel/ids.js'
import { inTransaction } from '../../postgres/pool.js'
import { tell } from '../events/index.js'
import type { OrderState } from './orderState.js'
import { type AttemptOutcome, recordAttempts } from './storeAttempts.js'
import { recordOrder, submitOrder } from './storeOrders.js'
import { listTypes, tellOrders } from './tellOrders.js'

const at = new Date('2026-11-20T12:00:00Z')
const state = (status: OrderState['status'], filledIn = 0n): OrderState => ({
  ...{ status, filledIn, filledOut: filledIn, transactionHashes: [], error: null, updatedAt: at },
  isTerminal: ['filled', 'cancelled', 'expired'].includes(status),
})
const attempt = (outcome: AttemptOutcome, later = 0) => ({ outcome, detail: '', at: new Date(at.getTime() + later) })
const tried = '2026-11-20T12:00:00.000Z'

describe('the events of an order', () => {
  it.each([
    ['submitted', null, state('open'), undefined, ['order.created']],
    ['submitted and filled between two looks', null, state('filled', 9n), undefined, ['order.created', 'order.filled']],
    ['unchanged', 'open:0:', state('open'), undefined, []],
    ['tried', 'open:0:', state('open'), attempt('noRoute'), ['order.attempt']],
    ['tried with the same outcome', `open:0:noRoute@${tried}`, state('open'), attempt('noRoute'), []],
    ['tried with another outcome', `open:0:noRoute@${tried}`, state('open'), attempt('tooDear', 1), ['order.attempt']],
    ['only considered', 'open:0:', state('open'), attempt('considered'), []],
    ['filled in part', 'open:0:', state('partially-filled', 3n), undefined, ['order.filled']],
    ['filled further', 'open:3:', state('partially-filled', 5n), undefined, ['order.filled']],
    ['cancelled after a part', 'open:3:', state('cancelled', 3n), undefined, ['order.cancelled']],
    ['expired', 'open:0:', state('expired'), undefined, ['order.expired']],
    ['stopped by us', 'open:0:', state('failed'), undefined, []],
  ])('%s', (_what, was, now, tries, types) => {
    expect(listTypes(was, { state: now, attempt: tries })).toEqual(types)
  })
})

describe('an order', () => {
  const chainId = 31_337
  const settlement = `0x${'5e'.repeat(20)}`
  let earn: Earn
  beforeAll(async () => {
    earn = await openLedgerWorld()
    await earn.db`
      insert into sources (chain_id, projection, source, from_block, synced_to, synced)
      values (${chainId}, 'orders', ${settlement}, 0, 14, true)`
    await earn.db`
      insert into blocks (chain_id, number, timestamp, hash, parent_hash, has_logs)
      select ${chainId}, n, to_timestamp(1700000000 + n * 12), decode(lpad(to_hex(n), 64, '0'), 'hex'),
        decode(repeat('00', 32), 'hex'), false from generate_series(1, 40) n`
  })
  afterAll(() => earn?.close())

  const order = async (number: number): Promise<string> => {
    const id = newId()
    const address = (digit: string) => `0x${digit.repeat(40)}`
    const made = {
      ...{ id, organizationId: earn.organizationId, distributorId: 'acme', opportunityId: null, chainId, settlement },
      ...{ relayer: address('1'), uid: `0x${number.toString(16).padStart(112, '0')}`, owner: address('2') },
      ...{ tokenIn: address('3'), tokenOut: address('4'), amountIn: 9n, minAmountOut: 1n, partiallyFillable: true },
      ...{ appData: '{}', appDataHash: hash(1), expiresAt: new Date(1_700_000_300_000), createdAt: at },
    }
    const submission = { signature: '0x12', scheme: 'eip712', venue: 'local', submittedAt: at } as const
    await inTransaction(earn.db, async (tx) => {
      await recordOrder(tx, made, 10)
      await submitOrder(tx, id, submission)
    })
    return id
  }
  const happens = (id: string, block: number, kind: 'trade' | 'invalidated', amount: number) => earn.db`
    insert into order_events (chain_id, block_number, block_timestamp, log_index, order_id, kind, transaction_hash, amount_in,
      amount_out)
    values (${chainId}, ${block}, to_timestamp(${1_700_000_000 + block * 12}), 0, ${id}, ${kind},
      decode(${hash(block).slice(2)}, 'hex'), ${amount}, ${amount})`
  const toldNow = async (id: string) => {
    await tellOrders(earn.ctx, tell)
    await flushEvents(earn.db)
    return earn.db<{ type: string; organizationId: string; data: { status: string; filledIn: string } }[]>`
      select type, organization_id as "organizationId", data from feed where subject_kind = 'order' and subject_id = ${id}
      order by position`
  }
  const confirm = (block: number) => earn.db`
    update chain_cursors set block_number = ${block}, head_number = ${block}, finalized_number = ${block},
      block_timestamp = to_timestamp(${1_700_000_000 + block * 12}) where chain_id = ${chainId}`

  it('is told to its organization alone: submitted, tried, filled in part and whole once that is confirmed, each once', async () => {
    const id = await order(1)
    expect((await toldNow(id)).map(({ type }) => type)).toEqual(['order.created'])
    await recordAttempts(earn.db, [{ orderId: id, outcome: 'noRoute', detail: 'x' }], 1_700_000_100)
    await happens(id, 16, 'trade', 4)
    expect((await toldNow(id)).map(({ type }) => type)).toEqual(['order.created', 'order.attempt'])
    await confirm(16)
    await toldNow(id)
    await happens(id, 17, 'trade', 5)
    await confirm(17)
    const told = await toldNow(id)
    expect(told.map(({ type, data }) => [type, data.status, data.filledIn])).toEqual([
      ['order.created', 'open', '0'],
      ['order.attempt', 'partially-filled', '4'],
      ['order.filled', 'partially-filled', '4'],
      ['order.filled', 'filled', '9'],
    ])
    expect(told.every(({ organizationId }) => organizationId === earn.organizationId)).toBe(true)
    expect(await toldNow(id)).toHaveLength(4)
    const [row] = await earn.db<{ told_all: boolean }[]>`select told_all from swap_orders where id = ${id}`
    expect(row?.told_all).toBe(true)
  })

  it('is told cancelled or expired once a confirmed block says so', async () => {
    const [cancelled, expired] = [await order(2), await order(3)]
    await happens(cancelled, 18, 'invalidated', 0)
    await confirm(18)
    expect((await toldNow(cancelled)).map(({ type }) => type)).toEqual(['order.created', 'order.cancelled'])
    expect((await toldNow(expired)).map(({ type }) => type)).toEqual(['order.created'])
    await confirm(30)
    const told = await toldNow(expired)
    expect(told.map(({ type, data }) => [type, data.status])).toEqual([
      ['order.created', 'open'],
      ['order.expired', 'expired'],
    ])
  })
})
