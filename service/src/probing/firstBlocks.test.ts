import { type Address, type Hex, numberToHex, pad } from 'viem'
import { describe, expect, it } from 'vitest'
import { findFirstBlocks } from './firstBlocks.js'

const head = 1_000
const addressOf = (at: number): Address => pad(numberToHex(at + 1), { size: 20 })
const beginOf = (at: number) => (at * 7) % head

/** A node where each address has code from its own block on. It reads the addresses asked for in the program it is sent. */
function openNode(callsMax: number) {
  let calls = 0
  const request = async ({ params }: { params: readonly unknown[] }): Promise<Hex> => {
    calls += 1
    if (calls > callsMax) throw new Error(`more than ${callsMax} calls`)
    const [{ data }, block] = params as [{ data: string }, Hex]
    const asked = [...data.matchAll(/73([0-9a-f]{40})3b1515/g)]
    const flags = asked.map(([, address]) => (beginOf(Number(`0x${address}`) - 1) <= Number(block) ? '01' : '00'))
    return `0x${flags.join('')}`
  }
  return { rpc: { request } as never, calls: () => calls }
}

describe('the first blocks of contracts', () => {
  it('are found for all together, with five hundred addresses in a call and no call without one', async () => {
    const addresses = Array.from({ length: 501 }, (_, at) => addressOf(at))
    const node = openNode(4_000)
    const found = await findFirstBlocks(node, addresses, head)
    expect(addresses.map((address) => found.get(address))).toEqual(addresses.map((_, at) => beginOf(at)))
    const one = openNode(20)
    expect(await findFirstBlocks(one, addresses.slice(0, 1), head)).toEqual(new Map([[addresses[0], 0]]))
    expect(one.calls()).toBeLessThanOrEqual(11)
  })
})
