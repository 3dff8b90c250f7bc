import { readerAbi, readerBytecode } from '@openearn/contracts'
import {
  decodeAbiParameters,
  encodeAbiParameters,
  encodeDeployData,
  getAddress,
  type Hex,
  parseAbiParameters,
  toHex,
} from 'viem'
import { describe, expect, it } from 'vitest'
import { seededRandom, times } from '../../test/seed.js'
import { decodeAnswer, encodeReader } from './readerCodec.js'

const answerType = parseAbiParameters('uint256, uint256, (bool success, bytes data)[]')
const random = seededRandom()
const bytes = (length: number): Hex => toHex(Uint8Array.from({ length }, () => random.int(0, 255)))
const lengths = [0, 1, 4, 31, 32, 33, 68, 260]

describe('what the reader is given and answers', () => {
  it('is written as the general codec writes it, whatever the reads are', () => {
    for (let run = 0; run < 100 * times; run++) {
      const reads = Array.from({ length: random.int(0, 6) }, () => ({
        target: random.chance(0.5) ? getAddress(bytes(20)) : bytes(20),
        data: bytes(random.pick(lengths)),
      }))
      const whole = encodeDeployData({ abi: readerAbi, bytecode: readerBytecode, args: [reads] })
      expect(encodeReader(readerBytecode, reads)).toBe(whole)
    }
  })

  it('is read as the general codec reads it; what is cut short or changed is read the same or is none', () => {
    for (let run = 0; run < 100 * times; run++) {
      const results = Array.from({ length: random.int(0, 5) }, () => ({
        success: random.chance(0.7),
        data: bytes(random.pick(lengths)),
      }))
      const answer = encodeAbiParameters(answerType, [BigInt(run), 7n, results])
      expect(decodeAnswer(answer)).toEqual({
        ...{ blockNumber: BigInt(run), timestamp: 7n },
        results: results.map(({ success, data }) => (success ? data : undefined)),
      })
      const at = 2 + 64 * random.int(2, answer.length / 64 - 1)
      const word = random.pick(['00', 'ff', '01', '20', '40']).padStart(64, random.pick(['0', 'f']))
      for (const changed of [answer.slice(0, at), `${answer.slice(0, at)}${word}${answer.slice(at + 64)}`] as Hex[]) {
        const read = decodeAnswer(changed)
        if (!read) continue
        const [, , same] = decodeAbiParameters(answerType, changed)
        expect(read.results).toEqual(same.map(({ success, data }) => (success ? data : undefined)))
      }
    }
  })

  it('is none where there is nothing', () => {
    expect(decodeAnswer('0x')).toBeUndefined()
    expect(decodeAnswer(`0x${'00'.repeat(64)}`)).toBeUndefined()
  })
})
