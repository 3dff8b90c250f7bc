import { verifyMerkleProof } from '@ethereumjs/mpt'
import { getAddress, type Hex, hexToBytes, keccak256 } from 'viem'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Case, chainId, kinds, makeBlock, makeCase, proveEntries, trust, vault } from '../../test/proofs.js'
import { below, createRandom, pick, type Random } from '../../test/random.js'
import { encodeRlp, numberBytes } from '../codec.js'
import { type AttributionProof, type ProofTrust, verifyProof, verifyProofOnline } from './index.js'

/** Short in CI; `npm run test:long` asks for 1,000 entries and 200,000 mutations. */
const count = Number(process.env['PROOFS'] ?? 60)
const mutationCount = Number(process.env['PROOF_MUTATIONS'] ?? 3_000)
const seed = Number(process.env['PROOF_SEED'] ?? 20_261_127)

type World = { case: Case; proof: AttributionProof; roots: { transactions: Uint8Array; receipts: Uint8Array } }
const worlds: World[] = []
const blockSize = 20

beforeAll(async () => {
  const random = createRandom(seed)
  for (let first = 0; first < count; first += blockSize) {
    const length = Math.min(blockSize, count - first)
    const cases = Array.from({ length }, (_, at) => makeCase(kinds[(first + at) % kinds.length]!, first + at, random))
    const { prove, roots } = await makeBlock(cases)
    for (const [at, each] of cases.entries()) worlds.push({ case: each, proof: await proveEntries(prove(at)), roots })
  }
}, 300_000)

const verify = (proof: AttributionProof, known: { blockHash?: string; chainId?: number; trust?: ProofTrust } = {}) =>
  verifyProof(proof, { chainId, blockHash: proof.blockHash, trust, ...known })

describe('a proof of an entry', () => {
  it('is verified without a network for every kind of wallet, with what its bytes prove and what they rest on', async () => {
    for (const { case: made, proof } of worlds) {
      const verdict = await verify(proof)
      expect(verdict).toMatchObject({ ok: true, problems: [], chain: 'transaction', block: { number: 0x1234 } })
      const entry = verdict.entries.find(({ walletAddress }) => walletAddress === getAddress(made.wallet))
      const wanted = {
        distributorId: 'acme',
        amountRaw: String(made.assets),
        vault: getAddress(vault),
        rule: made.rule,
      }
      expect(entry).toMatchObject(wanted)
      expect(entry?.restsOn).toEqual(made.restsOn)
      expect(entry?.proved.includes('distributorId')).toBe(!made.restsOn.includes('trace'))
      expect(entry?.proved.includes('walletAddress')).toBe(!made.restsOn.includes('state'))
    }
  }, 300_000)

  it('has paths that an independent library verifies', async () => {
    for (const { proof, roots } of worlds) {
      const key = encodeRlp(numberBytes(proof.transaction.index))
      const { root: _, ...read } = { root: roots, of: (path: string[]) => path.map((node) => hexToBytes(node as Hex)) }
      const options = (root: Uint8Array) => ({ useKeyHashing: false, root })
      const found = await verifyMerkleProof(key, read.of(proof.transaction.path), options(roots.transactions))
      expect(found && keccak256(found)).toBe(proof.txHash)
      expect(await verifyMerkleProof(key, read.of(proof.receipt.path), options(roots.receipts))).not.toBeNull()
    }
  }, 300_000)

  it('is refused where it names another chain or block than the reader', async () => {
    const { proof } = worlds[0]!
    expect((await verify(proof, { chainId: 1 })).problems).toEqual(['the proof is not of chain 1'])
    expect((await verify({ ...proof, chainId: 1 }, { chainId: 1 })).problems).toEqual([
      'the transaction names another chain',
    ])
    expect((await verify(proof, { blockHash: keccak256('0x') })).problems).toEqual(['the proof is of another block'])
  })

  it('is refused where the reader trusts neither the vault nor the distributor, or several names stand in the call', async () => {
    const { proof } = worlds[0]!
    const undecided = ['entry 0: the bytes and what you trust decide no entry of this log']
    expect((await verify(proof, { trust: { ...trust, vaults: [] } })).problems).toEqual(undecided)
    expect((await verify(proof, { trust: { ...trust, distributors: ['bolt'] } })).problems).toEqual(undecided)
    const signed = worlds.find(({ case: { rule } }) => rule === 'signed')!.proof
    const { problems } = await verify(signed, { trust: { ...trust, signers: [] } })
    expect(problems[0]).toMatch(/: (restsOn|rule) is not what the bytes say$/)
  })

  it('is refused of a transaction that was reverted, of one with trailing bytes, and of a header with one field more', async () => {
    const made = makeCase('EOA', 0, createRandom(1))
    const { prove } = await makeBlock([made], true)
    const { entries } = worlds[0]!.proof
    expect((await verify({ ...prove(0), entries })).problems[0]).toMatch(/reverted/)
    for (const change of [(hex: string) => `${hex}00`, (hex: string) => hex.slice(0, -2), () => '0x']) {
      const proof = structuredClone(worlds[0]!.proof)
      proof.header = change(proof.header)
      const blockHash = proof.header === '0x' ? proof.blockHash : keccak256(proof.header as Hex)
      expect((await verify({ ...proof, blockHash }, { blockHash })).ok).toBe(false)
    }
  })
})

describe('a proof with the hash of the reader’s own node', () => {
  const providerOf = (hash: string | null, chain = chainId) => ({
    request: async ({ method }: { method: string }) =>
      method === 'eth_chainId' ? `0x${chain.toString(16)}` : hash === null ? null : { hash },
  })

  it('is verified where the node has that block at its height, and refused of an uncle, another chain or no block', async () => {
    const { proof } = worlds[0]!
    expect((await verifyProofOnline(proof, providerOf(proof.blockHash), trust)).ok).toBe(true)
    const elsewhere = ['your node has another block at this height, or none']
    expect((await verifyProofOnline(proof, providerOf(keccak256('0x')), trust)).problems).toEqual(elsewhere)
    expect((await verifyProofOnline(proof, providerOf(null), trust)).problems).toEqual(elsewhere)
    expect((await verifyProofOnline(proof, providerOf(proof.blockHash, 1), trust)).ok).toBe(false)
    const unnamed = { ...proof, blockHash: 'latest' }
    expect((await verifyProofOnline(unnamed, providerOf('latest'), trust)).problems).toEqual([
      'the proof names no block',
    ])
  })
})

type Mutable = { -readonly [Name in keyof AttributionProof]: AttributionProof[Name] } & Record<string, unknown>
type Mutation = (proof: Mutable, random: Random, other: AttributionProof) => void

const changeHex = (hex: string, random: Random): string => {
  const way = below(random, 6)
  const at = 2 + 2 * below(random, (hex.length - 2) / 2)
  if (way === 0) return hex.slice(0, at) + hex.slice(at + 2)
  if (way === 1) return `${hex.slice(0, at)}${below(random, 256).toString(16).padStart(2, '0')}${hex.slice(at)}`
  if (way === 2) return `${hex}00`
  if (way === 3) return hex.toUpperCase().replace('0X', '0x')
  const digit = Number.parseInt(hex[at]!, 16) ^ (1 + below(random, 15))
  return hex.slice(0, at) + digit.toString(16) + hex.slice(at + 1)
}

const changePath = (path: string[], random: Random, other: string[]): void => {
  const way = below(random, 5)
  const at = below(random, path.length)
  if (way === 0) path.splice(at, 1)
  else if (way === 1) path.splice(at, 0, pick(random, other))
  else if (way === 2) path.reverse()
  else if (way === 3) path.splice(0, path.length, ...other)
  else path[at] = changeHex(path[at]!, random)
}

const entryOf = (proof: Mutable, random: Random) => pick(random, proof.entries) as Record<string, unknown>
const grounds = ['path', 'trace', 'state', 'history', 'configuration'] as const

const mutations: Readonly<Record<string, Mutation>> = {
  version: (proof, random) => void Object.assign(proof, { version: pick(random, [0, 2, '1', null, 1.5]) }),
  chainId: (proof, random) => void Object.assign(proof, { chainId: pick(random, [0, 1, '8453', 8453.5, null]) }),
  txHash: (proof, random, other) => {
    proof.txHash = random() < 0.5 ? other.txHash : changeHex(proof.txHash, random)
  },
  blockHash: (proof, random) => {
    proof.blockHash = changeHex(proof.blockHash, random)
  },
  header: (proof, random) => {
    proof.header = changeHex(proof.header, random)
  },
  'transaction.index': (proof, random) => {
    proof.transaction.index = pick(random, [proof.transaction.index + 1, -1, 0.5, 2 ** 40, proof.transaction.index - 1])
  },
  'transaction.path': (proof, random, other) => changePath(proof.transaction.path, random, other.transaction.path),
  'receipt.index': (proof, random) => {
    proof.receipt.index = pick(random, [proof.receipt.index + 1, Number.NaN, 2 ** 32, proof.receipt.index - 1])
  },
  'receipt.path': (proof, random, other) => changePath(proof.receipt.path, random, other.receipt.path),
  'paths swapped': (proof) => {
    ;[proof.transaction, proof.receipt] = [proof.receipt, proof.transaction]
  },
  'another place of the same block': (proof, random, other) => {
    if (random() < 0.5) proof.transaction = structuredClone(other.transaction)
    else proof.receipt = structuredClone(other.receipt)
  },
  'entries: another’s': (proof, _, other) => {
    proof.entries = structuredClone(other.entries)
  },
  'entries: none, or one twice': (proof, random) => {
    proof.entries = random() < 0.5 ? [] : [...proof.entries, structuredClone(pick(random, proof.entries))]
  },
  id: (proof, random) => {
    const entry = entryOf(proof, random)
    entry['id'] = String(entry['id']).replace(/.$/, (last) => (last === '0' ? '1' : '0'))
  },
  logIndex: (proof, random) => {
    const entry = entryOf(proof, random)
    entry['logIndex'] = pick(random, [
      Number(entry['logIndex']) + 1,
      Number(entry['logIndex']) - 1,
      String(entry['logIndex']),
    ])
  },
  distributorId: (proof, random) => {
    entryOf(proof, random)['distributorId'] = pick(random, ['bolt', 'ACME', '', null, 'acme ', ['acme']])
  },
  walletAddress: (proof, random, other) => {
    const entry = entryOf(proof, random)
    const [foreign] = other.entries.filter(({ walletAddress }) => walletAddress !== entry['walletAddress'])
    entry['walletAddress'] =
      random() < 0.5 && foreign ? foreign.walletAddress : String(entry['walletAddress']).toLowerCase()
  },
  amountRaw: (proof, random) => {
    const entry = entryOf(proof, random)
    const amount = BigInt(String(entry['amountRaw']))
    entry['amountRaw'] = pick(random, [
      String(amount + 1n),
      String(amount - 1n),
      `0${amount}`,
      Number(amount),
      `${amount}.0`,
    ])
  },
  rule: (proof, random) => {
    const entry = entryOf(proof, random)
    entry['rule'] = entry['rule'] === 'signed' ? 'unsigned' : pick(random, ['signed', 'legacy'])
  },
  restsOn: (proof, random) => {
    const entry = entryOf(proof, random)
    const list = entry['restsOn'] as string[]
    const way = below(random, 3)
    if (way === 0) list.splice(below(random, list.length), 1)
    else if (way === 1) list.reverse()
    else list.push(pick(random, grounds))
  },
  'a member more': (proof, random) => {
    const place = pick(random, [proof, proof.transaction, proof.receipt, entryOf(proof, random)])
    Object.assign(place, { amountUsd: '1' })
  },
  'a member less': (proof, random) => {
    const place = pick(random, [proof, proof.transaction, proof.receipt, entryOf(proof, random)]) as Record<
      string,
      unknown
    >
    delete place[pick(random, Object.keys(place))]
  },
}

it(`accepts none of ${mutationCount} proofs in which a member is changed, and never throws`, async () => {
  const random = createRandom(seed + 1)
  const names = Object.keys(mutations)
  const accepted: string[] = []
  const tried = new Map<string, number>()
  let done = 0
  for (let run = 0; done < mutationCount; run++) {
    const at = below(random, worlds.length)
    const start = at - (at % blockSize)
    const [{ proof: source }, { proof: other }] = [
      worlds[at]!,
      worlds[start + ((at + 1 - start) % Math.min(blockSize, worlds.length - start))]!,
    ]
    const proof = structuredClone(source) as Mutable
    const name = names[run % names.length]!
    mutations[name]!(proof, random, other)
    if (JSON.stringify(proof) === JSON.stringify(source)) continue
    done += 1
    tried.set(name, (tried.get(name) ?? 0) + 1)
    const verdict = await verifyProof(proof, { chainId, blockHash: source.blockHash, trust })
    if (verdict.ok || verdict.problems.length === 0 || verdict.entries.length > 0) accepted.push(`${name} ${run}`)
  }
  console.info(`${done} mutations of proofs of ${worlds.length} entries: ${accepted.length} accepted`)
  expect(accepted).toEqual([])
  expect([...tried.keys()].sort()).toEqual([...names].sort())
}, 7_200_000)

it.each([
  ['nothing', null],
  ['a text', 'proof'],
  ['a list', []],
  [
    'an object that throws',
    new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error('no')
        },
      },
    ),
  ],
])('refuses %s in words', async (_, value) => {
  const { ok, problems } = await verifyProof(value as never, { chainId, blockHash: `0x${'1'.repeat(64)}`, trust })
  expect({ ok, count: problems.length }).toEqual({ ok: false, count: 1 })
})
