import type { Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { OutboundError } from '../kernel/outbound.js'
import { answers, toBlockHashes, toHeader, toLogs, toTransaction } from './wire.js'

const address = `0x${'aA'.repeat(20)}`
const hash = `0x${'cC'.repeat(32)}`
const header = { number: '0x7', hash, parentHash: `0x${'dd'.repeat(32)}`, timestamp: '0x65000000' }
const log = {
  blockNumber: '0x7',
  blockHash: hash,
  logIndex: '0x1',
  transactionIndex: '0x0',
  transactionHash: `0x${'Ee'.repeat(32)}`,
  address,
  topics: [`0x${'Bb'.repeat(32)}`],
  data: '0xAB' as Hex,
}
const transaction = { hash, from: address, to: null, input: '0xAB', blockHash: hash, blockNumber: '0x7' }
const mined = { ...transaction, transactionIndex: '0x2' }
const receipt = { blockNumber: '0x7', blockHash: hash, transactionIndex: '0x2', status: '0x1', logs: [log] }
const step = { status: '0x1', gasUsed: '0x5208', returnData: '0x', logs: [] }

describe('an answer of a node', () => {
  it('is taken as it stands where its schema fits, members we do not know included', () => {
    expect(answers.header.find({ ...header, miner: 'anybody' })).toBeDefined()
    expect(answers.logs.find([log, { ...log, removed: false }])).toHaveLength(2)
    expect(answers.transaction.find({ ...transaction, blockHash: null, blockNumber: null })).toBeDefined()
    expect(answers.mined.find(mined)).toBeDefined()
    expect(answers.receipt.find({ ...receipt, status: undefined })).toBeDefined()
    expect(answers.receipt.find({ ...receipt, status: null })).toBeDefined()
    expect(answers.receipts.find([{ logs: [log] }, { logs: [] }])).toHaveLength(2)
    expect(answers.simulation.find([{ calls: [step, { ...step, error: { data: null } }] }])).toHaveLength(1)
  })

  it.each([
    ['a list for a reply', answers.reply, []],
    ['text for a refusal', answers.refusal, 'no'],
    ['nothing at all', answers.header, null],
    ['a list for an object', answers.header, [header]],
    ['a number for a quantity', answers.header, { ...header, number: 7 }],
    ['a decimal quantity', answers.header, { ...header, timestamp: '7' }],
    ['a quantity beyond 2^53 − 1', answers.header, { ...header, number: '0x20000000000000' }],
    ['a quantity of more digits than it needs to be read', answers.quantity, `0x${'0'.repeat(20)}1`],
    ['a hash that is too short', answers.header, { ...header, hash: '0xcc' }],
    ['a hash that is too long', answers.header, { ...header, parentHash: `${hash}00` }],
    ['a hash with a line after it', answers.header, { ...header, hash: `${hash}\n` }],
    ['a pending block', answers.header, { ...header, number: null, hash: null }],
    ['an object for a list', answers.logs, log],
    ['a log without topics', answers.logs, [{ ...log, topics: null }]],
    ['a log of five topics', answers.logs, [{ ...log, topics: Array(5).fill(log.topics[0]) }]],
    ['a log whose topic is no hash', answers.logs, [{ ...log, topics: ['0xbb'] }]],
    ['half a byte', answers.logs, [{ ...log, data: '0xabc' }]],
    ['a pending log', answers.logs, [{ ...log, blockNumber: null, blockHash: null, logIndex: null }]],
    ['a log of no contract', answers.logs, [log, { ...log, address: null }]],
    ['a transaction of nobody', answers.transaction, { ...transaction, from: null }],
    ['a transaction that waits, for a mined one', answers.mined, transaction],
    ['a receipt without logs', answers.receipt, { ...receipt, logs: undefined }],
    ['a receipt whose log is none', answers.receipt, { ...receipt, logs: ['0x'] }],
    ['a block whose transactions are hashes', answers.block, { hash, transactions: [hash] }],
    ['receipts of a block without logs', answers.receipts, [{}]],
    ['text for bytes', answers.bytes, 'hello'],
    ['no gas', answers.gas, '0x'],
    ['gas beyond 2^256', answers.gas, `0x1${'0'.repeat(64)}`],
    ['no simulated block', answers.simulation, []],
    ['a simulated call without gas', answers.simulation, [{ calls: [{ ...step, gasUsed: undefined }] }]],
  ])('is refused when it has %s', (_what, answer, value) => {
    expect(answer.find(value)).toBeUndefined()
    expect(() => answer.parse(value)).toThrow(OutboundError)
  })

  it('that is refused is named by its place, never by its text', () => {
    expect(() => answers.logs.parse([log, { ...log, data: 'https://somebody:secret@node' }])).toThrow(
      /^a node gave a malformed list of logs: \/1\/data$/,
    )
    expect(() => answers.header.parse({ ...header, hash: undefined })).toThrow(/malformed block.*hash$/)
  })

  it('is read in time, be it as long as an answer may be', () => {
    const data = `0x${'ab'.repeat(16 * 1024 * 1024)}`
    expect(answers.bytes.find(data)).toBe(data)
    expect(answers.bytes.find(`${data}x`)).toBeUndefined()
  })
})

describe('what is kept of an answer', () => {
  it('has numbers for quantities, and addresses and hashes in lower case', () => {
    expect(toHeader(header)).toEqual({
      number: 7,
      hash: hash.toLowerCase(),
      parentHash: header.parentHash,
      timestamp: 0x65000000,
    })
    expect(toLogs([log])).toEqual([
      {
        blockNumber: 7,
        logIndex: 1,
        transactionIndex: 0,
        transactionHash: log.transactionHash.toLowerCase(),
        address: address.toLowerCase(),
        topics: [`0x${'bb'.repeat(32)}`],
        data: '0xab',
      },
    ])
    expect(toTransaction(answers.mined.parse(mined))).toMatchObject({ to: null, input: '0xab', transactionIndex: 2 })
  })

  it('holds logs in their order, however a node lists them', () => {
    const logs = [log, { ...log, logIndex: '0x0' }, { ...log, blockNumber: '0x6', logIndex: '0x5' }]
    expect(toLogs(logs).map(({ blockNumber, logIndex }) => [blockNumber, logIndex])).toEqual([
      [6, 5],
      [7, 0],
      [7, 1],
    ])
  })

  it('holds no log of another block, no removed one, and no two blocks of one number', () => {
    const other = `0x${'12'.repeat(32)}`
    expect(() => toLogs([log, { ...log, blockHash: other }], hash)).toThrow('another block')
    expect(() => toLogs([{ ...log, removed: true }])).toThrow('removed')
    expect(() => toBlockHashes([log, { ...log, blockHash: other }])).toThrow('two blocks of one number')
  })
})
