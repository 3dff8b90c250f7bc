import { readFileSync } from 'node:fs'
import { createMerkleProof, createMPT } from '@ethereumjs/mpt'
import fc from 'fast-check'
import { bytesToHex, type Hex, hexToBytes, keccak256 } from 'viem'
import { describe, expect, it } from 'vitest'
import { bloomOf } from '../../test/bloom.js'
import {
  buildTrie,
  decodeRlp,
  encodeHeader,
  encodeReceipt,
  encodeRlp,
  encodeTransaction,
  numberBytes,
  readPath,
  type Told,
  Unencodable,
} from '../codec.js'

type Vectors = {
  headers: Record<string, Told>
  transactions: Record<string, Told>
  block: { transactionsRoot: Hex; transactions: Told[] }
  receipts: (Told & { type: string; logs: { address: Hex; topics: Hex[] }[] })[]
  receiptsRoot: Hex
  /** Blocks of Ethereum and Arbitrum; a bloom is left out, as it follows from the logs. */
  blocks: Record<string, { header: Told; transactions?: Told[]; receipts: Vectors['receipts'] }>
}
const vectors: Vectors = JSON.parse(readFileSync(new URL('../../test/vectors/blocks.json', import.meta.url), 'utf8'))
const hash = (bytes: Uint8Array) => keccak256(bytes, 'bytes')
const rootOf = (values: Uint8Array[]): Hex => bytesToHex(buildTrie(values, hash).root)

describe('the forms of blocks', () => {
  it.each(Object.entries(vectors.headers))('hashes the published header of %s to its published hash', (_, header) => {
    expect(keccak256(encodeHeader(header))).toBe(header.hash)
  })

  it.each(Object.entries(vectors.transactions))('hashes the published transaction of %s to its hash', (_, told) => {
    expect(keccak256(encodeTransaction(told))).toBe(told.hash)
  })

  it('gives a published block of the OP stack its transactions root', () => {
    const { transactions, transactionsRoot } = vectors.block
    expect(rootOf(transactions.map(encodeTransaction))).toBe(transactionsRoot)
  })

  it('gives published receipts of the OP stack their root, and a deposit its nonce since Canyon, which marks it', () => {
    const receipts = vectors.receipts.map((each) => ({ ...each, logsBloom: bloomOf(each.logs) }))
    expect(rootOf(receipts.map(encodeReceipt))).toBe(vectors.receiptsRoot)
    const [deposit] = receipts
    const canyon = decodeRlp(encodeReceipt({ ...deposit, depositReceiptVersion: '0x1' }).subarray(1))
    expect(canyon?.slice(4)).toEqual([hexToBytes('0x3d3bbf'), Uint8Array.of(1)])
  })

  it.each(Object.entries(vectors.blocks))(
    'gives the published receipts of %s the root in their header, which hashes to its published hash',
    (_, { header, transactions, receipts }) => {
      const encoded = receipts.map((each) => encodeReceipt({ ...each, logsBloom: bloomOf(each.logs) }))
      expect(rootOf(encoded)).toBe(header.receiptsRoot)
      const logsBloom = bloomOf(receipts.flatMap(({ logs }) => logs))
      expect(keccak256(encodeHeader({ ...header, logsBloom }))).toBe(header.hash)
      if (!transactions) return
      expect(transactions.map((each) => keccak256(encodeTransaction(each)))).toEqual(
        transactions.map(({ hash }) => hash),
      )
      expect(rootOf(transactions.map(encodeTransaction))).toBe(header.transactionsRoot)
    },
  )

  it('encodes no type and no header it does not know', () => {
    const [header] = Object.values(vectors.headers) as [Told]
    const transaction = vectors.block.transactions[1]
    const receipt = { ...vectors.receipts[1], logsBloom: bloomOf([]) }
    for (const type of ['0x5', '0x69', '0x78', '0x7f', '0x80', 2])
      expect(() => encodeTransaction({ ...transaction, type })).toThrow(Unencodable)
    for (const type of ['0x5', '0x63', '0x6b', '0x7d', '0xff'])
      expect(() => encodeReceipt({ ...receipt, type })).toThrow(Unencodable)
    expect(() => encodeHeader({ ...header, requestsHash: header.parentHash })).toThrow(Unencodable)
    for (const name of ['parentHash', 'number', 'logsBloom'])
      expect(() => encodeHeader({ ...header, [name]: '0xg' })).toThrow(Unencodable)
  })
})

const rlp: fc.Arbitrary<Uint8Array | unknown[]> = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, fc.uint8Array({ maxLength: 70 }), fc.array(tie('value'), { maxLength: 5 })),
})).value as never

describe('RLP', () => {
  it('is read back as it was written', () => {
    fc.assert(
      fc.property(rlp, (value) => {
        expect(decodeRlp(encodeRlp(value as never))).toEqual(value)
      }),
    )
  })

  it('has one form for each value: other bytes are refused, or are the form of what they are read as', () => {
    fc.assert(
      fc.property(rlp, fc.nat(), fc.nat(255), fc.nat(2), (value, place, byte, way) => {
        const bytes = [...encodeRlp(value as never)]
        if (way === 0) bytes[place % bytes.length] = byte
        else if (way === 1) bytes.splice(place % bytes.length, 0, byte)
        else bytes.splice(place % bytes.length, 1)
        const read = decodeRlp(Uint8Array.from(bytes))
        if (read !== undefined) expect([...encodeRlp(read)]).toEqual(bytes)
      }),
      { numRuns: 5000 },
    )
  })

  it.each([
    ['a length that is not the shortest', '0xb801ff'],
    ['a length with a leading zero', `0xb90038${'11'.repeat(56)}`],
    ['a small byte with a length', '0x8101'],
    ['a list with a long length that is short', '0xf80180'],
    ['bytes that follow', '0x8000'],
    ['less than it says', '0x83aabb'],
    ['a part that is longer than its list', '0xc183aabb'],
    ['a length of more than any memory', '0xbfffffffffffffffff'],
    ['nothing', '0x'],
    ['lists without end', `0x${Array.from({ length: 40 }, (_, at) => (0xc0 + 39 - at).toString(16)).join('')}`],
  ])('refuses %s', (_, text) => {
    expect(decodeRlp(hexToBytes(text as Hex))).toBeUndefined()
  })
})

describe('the trie of a list', () => {
  const listOf = (minLength: number) =>
    fc.array(fc.uint8Array({ minLength, maxLength: 80 }), { minLength: 1, maxLength: 300 })
  const values = listOf(1)

  it('has the root and the paths that an independent library gives', async () => {
    await fc.assert(
      fc.asyncProperty(values, fc.nat(), async (list, pick) => {
        const other = await createMPT({ useKeyHashing: false })
        const keyOf = (index: number) => encodeRlp(numberBytes(index))
        for (const [index, value] of list.entries()) await other.put(keyOf(index), value)
        const trie = buildTrie(list, hash)
        expect(bytesToHex(trie.root)).toBe(bytesToHex(other.root()))
        const index = pick % list.length
        const path = trie.path(index)
        const others = await createMerkleProof(other, keyOf(index))
        // It lists nodes that stand in the node above, too.
        const own = others.filter((node, at) => at === 0 || node.length >= 32)
        expect(path.map((node) => bytesToHex(node))).toEqual(own.map((node) => bytesToHex(node)))
        expect(readPath({ root: trie.root, index, path }, hash)).toEqual(list[index])
        expect(trie.path(list.length)).toEqual([])
      }),
      { numRuns: 60 },
    )
  })

  it('proves no value by a path that is not its own, whole and in order', () => {
    fc.assert(
      // Values shorter than a hash share their node with others.
      fc.property(listOf(33), fc.nat(), fc.nat(), fc.nat(255), (list, pick, place, byte) => {
        const trie = buildTrie(list, hash)
        const index = pick % list.length
        const path = trie.path(index)
        const read = (changed: readonly Uint8Array[], at = index, root = trie.root) =>
          readPath({ root, index: at, path: changed }, hash)
        expect(read(path, index + 1)).toBeUndefined()
        expect(read(path.slice(0, -1))).toBeUndefined()
        expect(read([...path, path[0]!])).toBeUndefined()
        expect(read(path, index, hash(trie.root))).toBeUndefined()
        if (path.length > 1) expect(read([...path].reverse())).toBeUndefined()
        const node = path[place % path.length]!
        const changed = Uint8Array.from(node)
        changed[place % node.length] = byte
        if (changed[place % node.length] !== node[place % node.length])
          expect(read(path.map((each) => (each === node ? changed : each)))).toBeUndefined()
      }),
      { numRuns: 200 },
    )
  })

  it('of no value has the root that empty blocks show', () => {
    expect(rootOf([])).toBe('0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421')
  })
})
