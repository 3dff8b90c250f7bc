import { describe, expect, it } from 'vitest'
import {
  chainId,
  clock,
  find,
  node,
  open,
  openKeyWorld,
  queue,
  run,
  sendAsStranger,
  setNodes,
  signer,
  states,
  test,
} from '../../../test/keyLives/keyWorld.js'
import { OutboundError } from '../../kernel/outbound.js'
import { releaseSender } from './index.js'
import { signOutgoing } from './signed.js'

openKeyWorld()

describe('a database from before what was sent', () => {
  /** The queue as whoever wanted it fills it again, nothing else kept of the key. */
  async function restore(ids: readonly string[], state = 'queued'): Promise<void> {
    await test.db`delete from outgoing_attempts where transaction_id = any(${[...ids]}::uuid[])`
    await test.db`
      update outgoing_transactions set state = ${state}, nonce = null, gas_limit = null, reserved = null, reserved_at = null,
        cost = null, transaction_hash = null, block_number = null, is_final = false where id = any(${[...ids]}::uuid[])`
    await test.db`delete from senders where address = hex_bytes(${signer.address})`
  }
  const send3 = async () => {
    const ids = [await queue(), await queue(), await queue()]
    await open().step()
    node.mine(5)
    expect(node.count()).toBe(3)
    return ids
  }

  it('and before the first of its key sends nothing again that is mined', async () => {
    const ids = await send3()
    await restore(ids)
    await run(open(), 6)
    expect(await states(...ids)).toEqual(['confirmed', 'confirmed', 'confirmed'])
    expect(node.listMined()).toHaveLength(3)
    const next = await queue()
    await run(open(), 4)
    expect(await find(next)).toMatchObject({ state: 'confirmed', nonce: 3 })
  })

  it('waits until what is mined has its confirmations before it sends with a key that is new to it', async () => {
    const ids = [await queue()]
    await open().step()
    node.mine(1)
    await restore(ids)
    const sender = open({ confirmations: 6 })
    await sender.step()
    expect(await find(ids[0] as string)).toMatchObject({ state: 'queued', nonce: null })
    node.mine(5)
    await run(sender, 3)
    expect(await states(...ids)).toEqual(['confirmed'])
    expect(node.listMined()).toHaveLength(1)
  })

  it('knows those behind the transaction of a stranger when an operator lets the key go on', async () => {
    const first = await queue()
    await open().step()
    node.mine(1)
    await sendAsStranger()
    node.mine(1)
    const others = [await queue(), await queue()]
    await letGo()
    await open().step()
    node.mine(4)
    expect(node.count()).toBe(4)
    await restore([first, ...others])
    await test.db`
      insert into senders (chain_id, address, accepted_count) values (${chainId}, hex_bytes(${signer.address}), 0)`
    const sender = open()
    await sender.step()
    expect(await states(first, ...others)).toEqual(['sent', 'queued', 'queued'])
    await letGo()
    await run(open(), 6)
    expect(await states(first, ...others)).toEqual(['confirmed', 'confirmed', 'confirmed'])
    expect(node.listMined()).toHaveLength(4)
  })

  it.each(['cancelled', 'failed'])('says confirmed of what is mined, where the queue says %s', async (state) => {
    const [over = '', ...others] = await send3()
    await restore([over], state)
    await restore(others)
    await run(open(), 6)
    expect(await states(over, ...others)).toEqual(['confirmed', 'confirmed', 'confirmed'])
    expect(node.listMined()).toHaveLength(3)
  })

  it('gives a nonce to the transaction of the queue whose old form took it, between others that are ours', async () => {
    setNodes([
      async (request) => {
        if (request.method === 'eth_sendRawTransaction') throw new OutboundError('network', 'no node')
        return node.request(request)
      },
    ])
    const [late, ...others] = [await queue(), await queue(), await queue()] as [string, string, string]
    await open({ inFlightMax: 1 }).step()
    const [old] = await test.db<{ raw: string }[]>`
      select hex_text(raw) as raw from outgoing_attempts where transaction_id = ${late}`
    await restore([late])
    await test.db`update outgoing_transactions set created_at = created_at + interval '1 hour' where id = ${late}`
    await open({ inFlightMax: 2 }).step()
    expect(await Promise.all(others.map(find))).toMatchObject([{ nonce: 0 }, { nonce: 1 }])
    setNodes([node.request])
    await node.request({ method: 'eth_sendRawTransaction', params: [old?.raw] })
    node.mine(1)
    await run(open({ inFlightMax: 2 }), 80)
    expect(await Promise.all([late, ...others].map(find))).toMatchObject([
      { state: 'confirmed', nonce: 0 },
      { state: 'confirmed', nonce: 2 },
      { state: 'confirmed', nonce: 1 },
    ])
    expect(node.listMined()).toHaveLength(3)
  })

  it('adopts no empty transaction, for that does nothing of the queue', async () => {
    const id = await queue()
    await sendEmpty()
    node.mine(3)
    await run(open(), 4)
    expect(await find(id)).toMatchObject({ state: 'confirmed', nonce: 1 })
  })

  async function letGo(): Promise<void> {
    node.mine(2)
    await open().step()
    expect(await releaseSender(test.db, { chainId, address: signer.address }, clock.now())).toBe(true)
  }
  async function sendEmpty(): Promise<void> {
    const shape = { chainId, nonce: node.count(), to: signer.address, data: '0x', value: 0n, gasLimit: 21_000n }
    const { raw } = await signOutgoing(signer, { ...shape, fees: { maxFee: 10n ** 12n, tip: 10n ** 10n } })
    await node.request({ method: 'eth_sendRawTransaction', params: [raw] })
  }
})
