import { describe, expect, it } from 'vitest'
import { createChainView } from './chainView.js'

const address = `0x${'aa'.repeat(20)}`
const readLevel = (answer: unknown) =>
  createChainView({ rpc: { request: async () => answer } as never }, address).readFeeLevel()

describe('the level of fees', () => {
  it('is the base fee of the next block, and what the median of the last one gave beyond', async () => {
    const answer = { baseFeePerGas: ['0x64', '0x65'], reward: [['0x77359400']] }
    expect(await readLevel(answer)).toEqual({ baseFee: 101n, tip: 2_000_000_000n })
  })

  it('has the least tip where a node tells none: no rewards, null, an empty list, or of an empty block', async () => {
    const base = { baseFeePerGas: ['0x64', '0x65'] }
    const levels = await Promise.all(
      [
        base,
        { ...base, reward: null },
        { ...base, reward: [] },
        { ...base, reward: [[]] },
        { ...base, reward: [['0x0']] },
      ].map(readLevel),
    )
    const [first] = levels
    expect(first?.tip).toBeGreaterThan(0n)
    expect(levels).toEqual(levels.map(() => ({ baseFee: 101n, tip: first?.tip })))
  })
})
