import { type Hex, pad } from 'viem'
import { describe, expect, it } from 'vitest'
import { readPublishedRuntime } from '../../../test/published.js'
import type { RpcRequest } from '../../rpc/rpc.js'
import type { Offer } from './book.js'
import type { Look } from './look.js'
import { openQuoteTurns } from './quotes.js'
import { findVouched } from './readWallets.js'
import { listTrusted, walletSlots } from './wallets.js'

const proxy = readPublishedRuntime(
  '@safe-global/safe-contracts/build/artifacts/contracts/proxies/SafeProxy.sol/SafeProxy.json',
)
const slots: Record<string, Hex> = {
  [walletSlots.singleton]: pad('0x41675c099f32341bf84bfc5382af534df5c7461a'),
  [walletSlots.handler]: pad('0xfd0732dc9e303f09fcef3a7388ad10a83459ec99'),
}
const plain: Hex = `0x${'11'.repeat(64)}1b`

/** A look whose node says that these owners have other code, and whose records say that settlements of these reverted. */
function openLook(of: { others?: readonly string[]; reverted?: readonly string[]; isDown?: boolean } = {}) {
  const read: string[] = []
  const answer = ({ method, params }: RpcRequest): Hex => {
    const [owner, slot] = params as [string, string]
    if (method === 'eth_getStorageAt') return slots[slot] as Hex
    read.push(owner)
    return of.others?.includes(owner) ? '0x00' : proxy
  }
  const given = {
    ctx: {
      db: async () => (of.reverted ?? []).map((owner) => ({ owner })),
      log: { info: () => undefined, warn: () => undefined },
    },
    chain: {
      chainId: 1,
      rpc: {
        batch: async (requests: readonly RpcRequest[]) => {
          if (of.isDown) throw new Error('the node gave no answer')
          return requests.map(answer)
        },
      },
    },
    ...{ head: { hash: '0x01', timestamp: 1_800_000_000 }, turns: openQuoteTurns() },
    settings: { trustedWallets: listTrusted() },
  }
  const find = async (offers: readonly Offer[], seconds = 0) => {
    const head = { ...given.head, timestamp: given.head.timestamp + seconds }
    return [...(await findVouched({ ...given, head } as unknown as Look, offers)).keys()]
  }
  return { find, read, turns: given.turns }
}
const offerOf = (owner: string, submission: object = {}): Offer =>
  ({
    live: {
      order: { id: `order of ${owner}`, owner, submission: { scheme: 'eip1271', signature: plain, ...submission } },
    },
  }) as unknown as Offer

describe('the wallets that are vouched for', () => {
  it('are read again at each look; one with other code is read again after ten minutes', async () => {
    const { find, read } = openLook({ others: ['b'] })
    const offers = ['a', 'b'].map((owner) => offerOf(owner))
    for (const seconds of [0, 12, 599, 600]) expect(await find(offers, seconds)).toEqual(['order of a'])
    expect(read).toEqual(['a', 'b', 'a', 'a', 'a', 'b'])
  })

  it('are none of keys, of signatures of contracts, and of owners whose settlement reverted: these are not read', async () => {
    const { find, read } = openLook({ reverted: ['c'] })
    const offers = [
      offerOf('a', { scheme: 'eip712' }),
      offerOf('b', { signature: `${plain.slice(0, -2)}00` }),
      offerOf('c'),
    ]
    expect(await find(offers)).toEqual([])
    expect(read).toEqual([])
  })

  it('are none where the node fails, which is no verdict: they are read at the next look', async () => {
    const down = openLook({ isDown: true })
    expect(await down.find([offerOf('a')])).toEqual([])
    expect(down.turns.risky.size).toBe(0)
  })

  it('are of 200 owners at a look, each read once for all its orders', async () => {
    const { find, read } = openLook({ others: Array.from({ length: 200 }, (_, index) => `owner ${index}`) })
    const offers = Array.from({ length: 201 }, (_, index) => offerOf(`owner ${index}`))
    expect(await find([...offers, ...offers])).toEqual([])
    expect(read).toHaveLength(200)
    expect(await find(offers, 12)).toEqual(['order of owner 200'])
    expect(read).toHaveLength(201)
  })
})
