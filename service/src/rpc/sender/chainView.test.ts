import { describe, expect, it } from 'vitest'
import { createChainView } from './chainView.js'

const address = `0x${'aa'.repeat(20)}`
const readLevel = (answer: unknown) =>
  createChainView({ rpc: { request: async () => answer } as never }, address).readFeeLevel()

describe('a receipt', () => {
  const [hash, other] = [`0x${'11'.repeat(32)}`, `0x${'22'.repeat(32)}`]
  const receipt = (transactionHash: string, blockNumber: string, blockHash: string) => ({
    ...{ transactionHash, blockNumber, blockHash, status: '0x1', gasUsed: '0x5208', effectiveGasPrice: '0x1' },
  })
  const view = (blocks: Record<string, object | null>) => {
    const receipts: Record<string, object> = {
      [hash]: receipt(hash, '0x10', `0x${'aa'.repeat(32)}`),
      [other]: receipt(other, '0x11', `0x${'BB'.repeat(32)}`),
    }
    const batch = async (requests: { method: string; params: [string] }[]) =>
      requests.map(({ method, params: [first] }) => (/Block/.test(method) ? blocks : receipts)[first] ?? null)
    return createChainView({ rpc: { batch } as never }, address)
  }

  it('counts while its block stands on the chain: nodes keep those of blocks that were taken back', async () => {
    const blocks = { '0x10': { hash: `0x${'aa'.repeat(32)}` }, '0x11': { hash: `0x${'bb'.repeat(32)}` } }
    const listed = async (given: Record<string, object | null>) => [
      ...(await view(given).listMined([hash, other])).keys(),
    ]
    expect(await listed(blocks)).toEqual([hash, other])
    expect(await listed({ ...blocks, '0x10': { hash: `0x${'cc'.repeat(32)}` } })).toEqual([other])
    expect(await listed({ ...blocks, '0x11': null })).toEqual([hash])
  })
})

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
