import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { histories } from '../../../test/recount/randomStream.js'
import { computeSnapshot } from './amounts.js'
import {
  decodeRewardFile,
  encodeRewardFile,
  type FileOrigin,
  hashFile,
  RewardFileError,
  recomputeRewards,
} from './rewardFile.js'

const origin: FileOrigin = {
  target: { chainId: 1, address: '0xaa', token: '0xaa', asset: '0xbb', assetDecimals: 6, own: ['0xaa'] },
  reward: { chainId: 1, address: '0xcc' },
  block: { number: 7, hash: '0xdd' },
  previous: null,
  observations: [3, 5],
}

describe('a reward file', () => {
  it('holds all that its root follows from: whoever has it alone comes to the same root, and its hash names it', () => {
    fc.assert(
      fc.property(histories, fc.nat(40), ({ terms, facts, to }, cut) => {
        const from = to > terms.startAt + cut ? computeSnapshot(terms, facts, terms.startAt + cut).states : undefined
        const inputs = { terms, facts, to, from, origin }
        const { text, hash } = encodeRewardFile(inputs, recomputeRewards(inputs))
        const decoded = decodeRewardFile(text)
        expect(recomputeRewards(decoded.inputs)).toEqual(decoded.result)
        expect(encodeRewardFile(decoded.inputs, decoded.result)).toEqual({ text, hash })
        expect(hashFile(text)).toBe(hash)
      }),
    )
  })

  it.each([
    ['nothing', ''],
    ['JSON of another kind', '[]'],
    ['a later version', '{"version":2}'],
    ['spaces', '{"version": 1}'],
    ['missing members', '{"version":1}'],
  ])('is refused where it is %s', (_what, text) => {
    expect(() => decodeRewardFile(text)).toThrow(RewardFileError)
  })
})
