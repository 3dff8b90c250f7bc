import { describe, expect, it } from 'vitest'
import type { RawBlock, RawLog } from '../../src/rpc/raw.js'
import { readVectors } from '../vectors.js'
import { addressOf, digitsOf, find, wordOf } from './bytes.js'
import { recount } from './recount.js'
import { readTail } from './suffixes.js'
import { firstTopics } from './told.js'

type Expected = { status: string; codes?: string[]; appCode?: string; txData?: string }
type Suffixed = { name: string; calldata: string; to?: string; expected: Expected; expectedAll?: Expected[] }

describe('the second derivation reads', () => {
  it('every ERC-8021 suffix of the vectors, stacked ones too, and refuses what is malformed', () => {
    const vectors = (readVectors('erc8021.json').vectors as Suffixed[]).filter(
      ({ name }) => !name.startsWith('erc4337'),
    )
    for (const { name, calldata, expected, expectedAll = [expected] } of vectors) {
      const { suffixes, problem } = readTail(digitsOf(calldata))
      const modern = suffixes.filter(({ kind }) => kind === 'erc8021')
      const first = modern[0]
      if (expected.status === 'malformed') expect([name, problem !== undefined, modern.length]).toEqual([name, true, 0])
      if (expected.status === 'none') expect([name, problem, modern]).toEqual([name, undefined, []])
      if (expected.status !== 'ok') continue
      const codes = expected.appCode === undefined ? expected.codes : [expected.appCode]
      if (codes) expect([name, first?.codes]).toEqual([name, codes])
      expect([name, modern.length]).toEqual([name, expectedAll.length])
    }
  })

  it('every tail of the legacy tracker', () => {
    const vectors = readVectors('legacy-tracker.json').vectors as {
      name: string
      calldata: string
      expected: { status: string; metadata?: { distributorId: string } }
    }[]
    for (const { name, calldata, expected } of vectors) {
      const found = readTail(digitsOf(calldata)).suffixes.filter(({ kind }) => kind === 'legacy')
      const ids = expected.status === 'ok' ? [[expected.metadata!.distributorId]] : []
      expect([name, found.map(({ codes }) => codes)]).toEqual([name, ids])
    }
  })

  type Credited = { distributorId: string; attribution: string; sender?: string }
  type Signed = {
    name: string
    chainId: number
    transaction: { from: string; to: string; input: string }
    expect: Credited & { perOperation?: Credited[]; placement: string }
  }
  const signed = readVectors('attribution.json')

  it.each((signed.vectors as Signed[]).filter(({ expect: { placement } }) => placement !== 'userOperation'))(
    'the verdict of the vector: $name',
    ({ chainId, transaction, expect: expected }) => {
      const input = digitsOf(transaction.input)
      // Each vector deposits once: the selector, an amount, an owner.
      const at = find(input, '6e553f65')
      const [assets, owner] = [
        BigInt(`0x${input.slice(2 * at + 8, 2 * at + 72)}`),
        addressOf(input.slice(2 * at + 72, 2 * at + 136)),
      ]
      const vault = '0x9fe46736679d2d9a65f0992f2272de9f3c7fa6e0'
      const place = { blockNumber: 1, transactionIndex: 0, transactionHash: `0x${'01'.repeat(32)}` }
      const to = transaction.to.toLowerCase()
      const target = at === 0 ? to : vault
      const sender = at === 0 ? transaction.from.toLowerCase() : to
      const log = (logIndex: number, topics: string[], data: bigint[]): RawLog => ({
        ...place,
        logIndex,
        address: target,
        topics: topics.map((topic, index) => (index === 0 ? topic : `0x${wordOf(topic)}`)),
        data: `0x${data.map(wordOf).join('')}`,
      })
      const block: RawBlock = {
        number: 1,
        hash: '0x02',
        parentHash: '0x',
        timestamp: 1,
        logs: [
          log(0, [firstTopics.transfer, `0x${'0'.repeat(40)}`, owner], [assets]),
          log(1, [firstTopics.deposit, sender, owner], [assets, assets]),
        ],
        transactions: [
          { ...place, hash: place.transactionHash, from: transaction.from.toLowerCase(), to, input: transaction.input },
        ],
      }
      const { entries } = recount([block], {
        chainId,
        vaults: [
          {
            id: 1,
            address: target,
            kind: 'erc4626',
            receiptToken: target,
            asset: target,
            assetDecimals: 6,
            escrow: null,
            startBlock: 0,
            activeFrom: 0,
          },
        ],
        distributors: new Map((signed.registeredDistributors as string[]).map((id) => [id, 0])),
        signedOnly: new Map(),
        signers: new Set((signed.signers as { address: string }[]).map(({ address }) => address.toLowerCase())),
        entryPoints: [],
      })
      const { distributorId, attribution } = expected
      // A copied suffix on a deposit for somebody else: its sender is a party all the same.
      expect(entries).toMatchObject([{ distributorId, attribution }])
    },
  )
})
