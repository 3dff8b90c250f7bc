import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStreamWorld, type StreamWorld } from '../../../test/streamWorld.js'
import { verifyProof } from './tree.js'

const [cat, dog, fox] = ['ca', 'd0', 'f0'].map((byte) => `0x${byte.repeat(20)}`) as [string, string, string]
const unknown = '01890a5d-ac96-774b-bcce-b302099a8057'
let world: StreamWorld
let id: string
beforeAll(async () => {
  world = await openStreamWorld()
  id = await world.stream()
})
afterAll(() => world.close())

const proofs = async (wallet: string, ...streamIds: string[]) =>
  (await world.earn.call('GetMerkleProofs', { query: { wallet, streamIds: streamIds.join() } })).body.proofs

const commit = async (streamId: string, at: string, rewards: Record<string, bigint>, block: number) => {
  const root = await world.snapshot(streamId, at, rewards)
  await world.event(streamId, 'root', { root, rootAt: new Date(at), total: '1', at: block })
  return root
}

describe('200', () => {
  it('proves what a wallet may claim by the newest confirmed root, and says of the others why not', async () => {
    const empty = await world.stream()
    await commit(id, '2026-11-05T00:00:00Z', { [cat]: 1n }, 901)
    const root = await commit(id, '2026-11-06T00:00:00Z', { [cat]: 5n, [dog]: 7n, [fox]: 0n }, world.confirmed)
    await commit(id, '2026-11-07T00:00:00Z', { [cat]: 6n, [dog]: 9n }, world.confirmed + 1)
    const [own, none, stranger] = await proofs(cat.toUpperCase().replace('0X', '0x'), id, empty, unknown)
    expect(own).toMatchObject({ streamId: id, chainId: world.chainId, amount: '5', rootHash: root, error: '' })
    expect(own.timestamp).toBe('2026-11-06T00:00:00Z')
    expect(verifyProof(root ?? '', { wallet: cat, cumulative: 5n }, own.proof)).toBe(true)
    const failure = { chainId: null, contractAddress: '', amount: null, proof: [], rootHash: '', timestamp: null }
    expect(none).toEqual({ streamId: empty, ...failure, error: expect.stringContaining('no root') })
    expect(stranger).toEqual({ streamId: unknown, ...failure, error: 'no such stream' })
    expect((await proofs(fox, id))[0].error).toContain('earned nothing')
  })

  it('knows a stream by its id in any case of letters, and tells of it once', async () => {
    const [own, ...more] = await proofs(cat, id.toUpperCase(), id)
    expect([own.streamId, own.amount, more]).toEqual([id, '5', []])
  })

  it('gives none of a root that two newer ones have ended on the chain', async () => {
    const late = await world.stream()
    await commit(late, '2026-11-05T00:00:00Z', { [cat]: 1n }, world.confirmed)
    await commit(late, '2026-11-06T00:00:00Z', { [cat]: 2n }, world.confirmed + 1)
    expect((await proofs(cat, late))[0].amount).toBe('1')
    await commit(late, '2026-11-07T00:00:00Z', { [cat]: 3n }, world.confirmed + 2)
    expect((await proofs(cat, late))[0].error).not.toBe('')
  })

  it('goes on proving by our root where one that is not ours came after it', async () => {
    const robbed = await world.stream()
    const root = await commit(robbed, '2026-11-05T00:00:00Z', { [cat]: 1n }, 901)
    const foreign = { root: `0x${'66'.repeat(32)}`, rootAt: new Date('2026-11-06T00:00:00Z'), total: '1', at: 902 }
    await world.event(robbed, 'root', foreign)
    expect((await proofs(cat, robbed))[0]).toMatchObject({ rootHash: root, amount: '1' })
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it('wants a wallet and streams', async () => {
    const get = (query: Record<string, string>) => world.earn.call('GetMerkleProofs', { query })
    expect((await get({ wallet: cat })).status).toBe(400)
    expect((await get({ streamIds: id })).status).toBe(400)
    expect((await get({ wallet: 'x', streamIds: id })).status).toBe(400)
    expect((await get({ wallet: cat, streamIds: 'x' })).status).toBe(400)
  })
})
