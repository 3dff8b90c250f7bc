import { createHash } from 'node:crypto'
import { Address, beginCell, Cell } from '@ton/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readVectors } from '../../test/vectors.js'
import { createTonWallet, type TonVersion } from '../../test/wallets.js'
import { type TonExpectation, verifyTonSignature } from './ton.js'
import { formatTonAddress, parseTonAddress } from './tonAddress.js'
import { parseBagOfCells, readBits } from './tonCell.js'

const vectors = readVectors('ton.json')
const now = new Date('2026-11-20T12:00:30Z')

type Vector = {
  name: string
  kind: 'signData' | 'ton_proof' | 'raw'
  address: string
  publicKey: string
  walletStateInit: string | null
  domain: string
  domainLengthBytes?: number
  timestamp: number
  payload: string | { type: 'text'; text: string } | { type: 'binary'; bytes: string } | { type: 'cell' }
  /** What a bare signature is over. */
  message?: string
  signature: string
  expect?: { domain: string; now: number; maxAgeSeconds: number; payload?: string }
  onchainPublicKey?: string
  result: { valid: boolean; reason?: string }
}

describe('TON Connect vectors', () => {
  it.each<Vector>(vectors.vectors)('$name', async (vector) => {
    const { kind, signature, timestamp, publicKey, walletStateInit, payload, domainLengthBytes } = vector
    const domain =
      domainLengthBytes === undefined ? vector.domain : { value: vector.domain, lengthBytes: domainLengthBytes }
    const state = walletStateInit ? { walletStateInit } : {}
    const json = JSON.stringify({ type: kind, signature, timestamp, domain, publicKey, payload, ...state })
    const answers = kind === 'raw' ? [signature] : [json, Buffer.from(json).toString('base64')]
    // A cell cannot hold an agreement, so it is refused however well it is signed.
    const cell = typeof payload === 'object' && payload.type === 'cell'
    const reason = cell ? 'payload' : vector.result.reason
    for (const answer of answers) expect(await verifyTonSignature(answer, expectation(vector))).toBe(reason)
  })

  it('are 37', () => expect(vectors.vectors).toHaveLength(37))
})

describe('TON wallet vectors', () => {
  it.each<{
    version: string
    codeHash: string
    publicKey: string
    publicKeyBitOffset: number
    walletStateInit: string
    stateInitHash: string
  }>(vectors.wallets)('$version', ({ walletStateInit, stateInitHash, codeHash, publicKey, publicKeyBitOffset }) => {
    const state = parseBagOfCells(Buffer.from(walletStateInit, 'base64'))
    expect(hex(state?.hash())).toBe(stateInitHash)
    expect(hex(state?.refs[0]?.hash())).toBe(codeHash)
    const data = state?.refs[1]
    expect(hex(data && readBits(data, publicKeyBitOffset, 256))).toBe(publicKey)
  })
})

describe('TON address vectors', () => {
  it.each<{ name: string; input: string; result: { ok: boolean; raw?: string; testOnly?: boolean } }>(
    vectors.addresses,
  )('$name', ({ input, result }) => {
    const raw = result.raw?.startsWith('5:') ? undefined : result.raw
    expect(parseTonAddress(input, { testOnly: true })).toBe(raw)
    expect(parseTonAddress(input, { testOnly: false })).toBe(result.testOnly ? undefined : raw)
  })

  it('agree with the reference library both ways', () => {
    const hashes = fc.uint8Array({ minLength: 32, maxLength: 32 })
    fc.assert(
      fc.property(
        fc.constantFrom(0, -1),
        hashes,
        fc.boolean(),
        fc.boolean(),
        (workchain, hash, bounceable, urlSafe) => {
          const address = new Address(workchain, Buffer.from(hash))
          const raw = address.toRawString()
          expect(parseTonAddress(address.toString({ bounceable, urlSafe }), { testOnly: false })).toBe(raw)
          expect(formatTonAddress(raw)).toBe(address.toString({ bounceable: false, urlSafe: true }))
        },
      ),
      { seed: 6, numRuns: 100 },
    )
  })
})

describe('TON signatures', () => {
  const text = 'Zażółć 🐢\n\nNonce: 1'
  const terms = (address: string): TonExpectation => ({
    address,
    message: Buffer.from(text),
    nonce: '550e8400e29b41d4a716446655440000',
    domain: 'app.example.com',
    now,
    proofEnabled: true,
    readPublicKey: async () => undefined,
  })
  const at = Math.floor(now.getTime() / 1000)

  it.each<TonVersion>(['v1r1', 'v2r2', 'v3r1', 'v3r2', 'v4r2', 'v5r1'])(
    'of a %s wallet are accepted',
    async (version) => {
      const wallet = createTonWallet(version)
      const expected = terms(wallet.address)
      const answers = [
        wallet.signData(text, expected.domain, at),
        wallet.signProof(expected.nonce, expected.domain, at),
      ]
      for (const answer of answers) {
        expect(await verifyTonSignature(JSON.stringify(answer), expected)).toBeUndefined()
        const { publicKey: _key, payload: _payload, ...less } = answer
        expect(await verifyTonSignature(JSON.stringify({ ...less, timestamp: String(at) }), expected)).toBeUndefined()
      }
    },
  )

  it('of ton_proof are refused unless the operator lets them in', async () => {
    const wallet = createTonWallet()
    const answer = JSON.stringify(wallet.signProof(terms('').nonce, 'app.example.com', at))
    expect(await verifyTonSignature(answer, { ...terms(wallet.address), proofEnabled: false })).toBe('kind')
  })

  it('of a wallet that sends no state are measured by the key the chain names', async () => {
    const wallet = createTonWallet()
    const { walletStateInit: _state, ...answer } = wallet.signData(text, 'app.example.com', at)
    const named = (key: string) => async () => Uint8Array.from(Buffer.from(key, 'hex'))
    const judge = (readPublicKey: TonExpectation['readPublicKey']) =>
      verifyTonSignature(JSON.stringify(answer), { ...terms(wallet.address), readPublicKey })
    expect(await judge(async () => undefined)).toBe('no-public-key')
    expect(await judge(named(wallet.publicKey))).toBeUndefined()
    expect(await judge(named(createTonWallet().publicKey))).toBe('public-key')
  })

  it('with the state of another wallet are refused', async () => {
    const [victim, thief] = [createTonWallet(), createTonWallet()]
    const stolen = thief.signData(text, 'app.example.com', at)
    expect(await verifyTonSignature(JSON.stringify(stolen), terms(victim.address))).toBe('state-init-address')
    const { walletStateInit: _state, ...bare } = stolen
    expect(await verifyTonSignature(JSON.stringify(bare), terms(victim.address))).toBe('no-public-key')
  })

  it('with a state of another shape than code and data alone have no key of their own', async () => {
    const wallet = createTonWallet()
    const [state] = Cell.fromBoc(Buffer.from(wallet.walletStateInit, 'base64'))
    const [code, data] = state?.refs ?? []
    if (!code || !data) throw new Error('a state is code and data')
    for (const bits of ['00110', '001101', '0011', '00111', '']) {
      const builder = beginCell().storeRef(code).storeRef(data)
      for (const bit of bits) builder.storeBit(bit === '1')
      const shaped = builder.endCell()
      const walletStateInit = shaped.toBoc().toString('base64')
      const answer = { ...wallet.signData(text, 'app.example.com', at), walletStateInit }
      const verdict = await verifyTonSignature(JSON.stringify(answer), terms(`0:${shaped.hash().toString('hex')}`))
      expect(verdict, bits).toBe(bits === '00110' ? undefined : 'no-public-key')
    }
  })

  it('that are junk are refused, never thrown on', async () => {
    const wallet = createTonWallet()
    const answer = wallet.signData(text, 'app.example.com', at)
    const junk = [
      '',
      '{',
      '{}',
      '[]',
      'null',
      'AAAA',
      JSON.stringify({ ...answer, timestamp: -1 }),
      JSON.stringify({ ...answer, domain: 1 }),
    ]
    for (const one of junk) expect(await verifyTonSignature(one, terms(wallet.address)), one).toBe('malformed')
    const state = Buffer.from(wallet.walletStateInit, 'base64')
    // The last four bytes are a checksum, which does not matter beside the hash.
    await fc.assert(
      fc.asyncProperty(fc.nat(state.length - 5), fc.integer({ min: 1, max: 255 }), async (index, change) => {
        const bent = Buffer.from(state)
        bent[index] = (bent[index] ?? 0) ^ change
        const text = JSON.stringify({ ...answer, walletStateInit: bent.toString('base64') })
        expect(await verifyTonSignature(text, terms(wallet.address))).not.toBe(undefined)
      }),
      { seed: 7, numRuns: 300 },
    )
  })
})

describe('bags of cells', () => {
  it('have the hashes the specification gives them, for any tree', () => {
    const { tree } = fc.letrec((tie) => ({
      tree: fc.record({
        bits: fc.array(fc.boolean(), { maxLength: 200 }),
        refs: fc.oneof({ maxDepth: 3 }, fc.constant([]), fc.array(tie('tree'), { maxLength: 4 })),
      }),
    }))
    const build = (node: unknown): Cell => {
      const { bits, refs } = node as Tree
      const builder = beginCell()
      for (const bit of bits) builder.storeBit(bit)
      for (const ref of refs) builder.storeRef(build(ref))
      return builder.endCell()
    }
    fc.assert(
      fc.property(tree, fc.boolean(), fc.boolean(), (node, idx, crc32) => {
        const cell = build(node)
        expect(hex(parseBagOfCells(cell.toBoc({ idx, crc32 }))?.hash())).toBe(hex(hashPlainly(node as Tree).hash))
      }),
      { seed: 8, numRuns: 200 },
    )
  })

  it('with a pruned branch are refused: it has the hash of what it stands for', () => {
    const pruned = beginCell()
      .storeUint(1, 8)
      .storeUint(1, 8)
      .storeBuffer(Buffer.alloc(32, 7))
      .storeUint(0, 16)
      .endCell({ exotic: true })
    const root = beginCell().storeUint(0b00110, 5).storeRef(pruned).storeRef(pruned).endCell()
    expect(root.level()).toBe(1)
    expect(parseBagOfCells(root.toBoc())).toBeUndefined()
    expect(Cell.fromBoc(root.toBoc())).toHaveLength(1)
    // Under a proof it is gone from the level of the root, and is found all the same.
    const proof = beginCell()
      .storeUint(3, 8)
      .storeBuffer(root.hash(0))
      .storeUint(root.depth(0), 16)
      .storeRef(root)
      .endCell({ exotic: true })
    const hidden = beginCell().storeUint(0b00110, 5).storeRef(proof).storeRef(proof).endCell()
    expect(hidden.level()).toBe(0)
    expect(parseBagOfCells(hidden.toBoc())).toBeUndefined()
  })

  it('with a reference to a library are read: the cell is known by its own hash', () => {
    const library = beginCell().storeUint(2, 8).storeBuffer(Buffer.alloc(32, 7)).endCell({ exotic: true })
    const root = beginCell().storeUint(0b00110, 5).storeRef(library).storeRef(beginCell().endCell()).endCell()
    expect(hex(parseBagOfCells(root.toBoc())?.hash())).toBe(root.hash().toString('hex'))
    const own = parseBagOfCells(root.toBoc())?.refs[0]
    expect(hex(own && readBits(own, 8, 256))).toBe('07'.repeat(32))
    expect(own && readBits(own, 9, 256)).toBeUndefined()
  })

  it('in which each cell refers to the next four times are read, each cell once', () => {
    let cell = beginCell().endCell()
    for (let depth = 0; depth < 500; depth++)
      cell = [cell, cell, cell, cell].reduce((builder, ref) => builder.storeRef(ref), beginCell()).endCell()
    expect(hex(parseBagOfCells(cell.toBoc())?.hash())).toBe(cell.hash().toString('hex'))
  })

  it('of more than 512 cells are refused before they are read', () => {
    const chain = (length: number) => {
      let cell = beginCell().endCell()
      for (let depth = 1; depth < length; depth++) cell = beginCell().storeRef(cell).endCell()
      return cell.toBoc()
    }
    expect(parseBagOfCells(chain(512))).toBeDefined()
    expect(parseBagOfCells(chain(513))).toBeUndefined()
  })

  it('with a header of another form are refused: several roots, missing cells, another magic, lengths that lie', () => {
    const bag = beginCell()
      .storeUint(7, 8)
      .storeRef(beginCell().endCell())
      .endCell()
      .toBoc({ idx: false, crc32: false })
    expect(parseBagOfCells(bag)).toBeDefined()
    const bent = (at: number, byte: number) => Buffer.from(bag).fill(byte, at, at + 1)
    // Magic, flags and size, size of an offset, cells, roots, missing cells, length, root.
    const headers = [
      bent(0, 0x68),
      bent(4, 0x09),
      bent(4, 0x00),
      bent(4, 0x07),
      bent(5, 0),
      bent(6, 0),
      bent(6, 3),
      bent(7, 0),
      bent(7, 2),
      bent(8, 1),
      bent(9, 1),
      bent(9, 200),
      bent(10, 9),
    ]
    for (const header of headers) expect(parseBagOfCells(header), header.toString('hex')).toBeUndefined()
    for (let length = 0; length < bag.length; length++) expect(parseBagOfCells(bag.subarray(0, length))).toBeUndefined()
  })

  it('of random bytes behind an honest header are read or refused, never thrown on', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 120 }), fc.integer({ min: 1, max: 9 }), (body, cells) => {
        const header = Buffer.from([0xb5, 0xee, 0x9c, 0x72, 1, 1, cells, 1, 0, body.length, 0])
        const root = parseBagOfCells(Buffer.concat([header, body]))
        if (root) expect(root.level()).toBe(0)
      }),
      { seed: 9, numRuns: 3_000 },
    )
  })
})

type Tree = { bits: boolean[]; refs: Tree[] }

/** The representation hash of an ordinary cell, word for word: descriptors, bits, then depths and hashes of the cells below. */
function hashPlainly({ bits, refs }: Tree): { hash: Buffer; depth: number } {
  const below = refs.map(hashPlainly)
  const text = bits.map(Number).join('')
  const padded = text.length % 8 === 0 ? text : `${text}1`.padEnd(Math.ceil(text.length / 8) * 8, '0')
  const data = (padded.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2))
  const descriptors = [refs.length, Math.floor(text.length / 8) + Math.ceil(text.length / 8)]
  const depths = below.flatMap(({ depth }) => [depth >> 8, depth & 0xff])
  const hashed = [Buffer.from([...descriptors, ...data, ...depths]), ...below.map(({ hash }) => hash)]
  return {
    hash: createHash('sha256').update(Buffer.concat(hashed)).digest(),
    depth: Math.max(-1, ...below.map(({ depth }) => depth)) + 1,
  }
}

function hex(bytes: Uint8Array | undefined): string {
  return Buffer.from(bytes ?? []).toString('hex')
}

function expectation(vector: Vector): TonExpectation {
  const { expect: expected, onchainPublicKey = vector.kind === 'raw' ? vector.publicKey : undefined } = vector
  return {
    address: vector.address,
    message: expected?.payload === undefined ? contentOf(vector) : Buffer.from(expected.payload),
    nonce: expected?.payload ?? contentOf(vector).toString(),
    domain: expected?.domain ?? '',
    now: new Date((expected?.now ?? 0) * 1000),
    proofEnabled: true,
    readPublicKey: async () =>
      onchainPublicKey === undefined ? undefined : Uint8Array.from(Buffer.from(onchainPublicKey, 'hex')),
  }
}

function contentOf({ payload, message }: Vector): Buffer {
  if (message !== undefined) return Buffer.from(message)
  if (typeof payload === 'string') return Buffer.from(payload)
  if (payload.type === 'binary') return Buffer.from(payload.bytes, 'base64')
  return Buffer.from(payload.type === 'text' ? payload.text : '')
}
