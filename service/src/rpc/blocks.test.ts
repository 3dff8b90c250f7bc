import { describe, expect, it } from 'vitest'
import { readBlock, readBlockOf, readHead } from './blocks.js'
import type { Rpc } from './rpc.js'

const hashOf = (number: number) => `0x${number.toString(16).padStart(64, '0')}`
/** A chain whose node answers every question with the same block. */
const answering = (number: number) => {
  const block = {
    ...{ number: `0x${number.toString(16)}`, hash: hashOf(number), parentHash: hashOf(number - 1) },
    timestamp: '0x65000000',
  }
  return { name: 'A chain', rpc: { request: async () => block } as unknown as Rpc }
}

describe('a block', () => {
  it('asked by its number or its hash is refused where a node answers another one', async () => {
    const chain = answering(7)
    const own = { number: 7, hash: hashOf(7), parentHash: hashOf(6), timestamp: 0x65000000 }
    for (const found of [await readHead(chain), await readBlock(chain, 7), await readBlockOf(chain, hashOf(7))])
      expect(found).toMatchObject(own)
    const reads = [readBlock(chain, 8), readBlockOf(chain, hashOf(8))]
    for (const read of reads) await expect(read).rejects.toMatchObject({ code: 503 })
  })
})
