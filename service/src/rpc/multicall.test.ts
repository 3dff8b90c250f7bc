import { encodeAbiParameters, type Hex, parseAbiParameters, zeroAddress } from 'viem'
import { describe, expect, it } from 'vitest'
import { rpcOf } from '../../test/rpcOf.js'
import { combine, multicall, readAccount } from './multicall.js'
import { RpcError } from './rpc.js'

const reads = combine({ one: readAccount(zeroAddress), other: readAccount(zeroAddress) })
const account = `0x${'00'.repeat(31)}07${'00'.repeat(31)}02` as Hex
const encode = (results: readonly (readonly [boolean, Hex])[]) =>
  encodeAbiParameters(parseAbiParameters('uint256, uint256, (bool, bytes)[]'), [
    5n,
    6n,
    results.map(([success, result]) => [success, result] as const),
  ])
const whole = encode([
  [true, account],
  [false, '0x'],
])

/** Reads of a node that answers the call so. */
function read(answer: () => unknown) {
  return multicall({ name: 'Test', rpc: rpcOf(async () => answer()) }, reads)
}

describe('reads that go out together', () => {
  it('are answered each, with the block they were made at', async () => {
    expect(await read(() => whole)).toEqual({
      blockNumber: 5n,
      timestamp: 6n,
      answer: { one: { balance: 7n, codeLength: 2n }, other: { balance: 0n, codeLength: 0n } },
    })
  })

  it.each([
    ['nothing', '0x'],
    ['null', null],
    ['no bytes', 'hello'],
    ['bytes that are no answer', `0x${'ff'.repeat(96)}`],
    ['an answer cut short', whole.slice(0, -64)],
    ['fewer reads than asked', encode([[true, account]])],
    [
      'more reads than asked',
      encode([
        [true, account],
        [true, account],
        [true, account],
      ]),
    ],
  ])('fail as a whole when a node answers %s: that is a 503', async (_what, answer) => {
    await expect(read(() => answer)).rejects.toMatchObject({ code: 503, retryAfterSeconds: 5 })
  })

  it('fail as a whole when a node refuses the call', async () => {
    const refused = read(() => {
      throw new RpcError(-32000, 'out of gas', undefined)
    })
    await expect(refused).rejects.toMatchObject({ code: 503 })
  })
})
