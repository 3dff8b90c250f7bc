import { concat, encodePacked, type Hex, keccak256, sha256, stringToBytes } from 'viem'
import { describe, expect, it } from 'vitest'
import { below, createRandom, pick, type Random } from '../../test/random.js'
import { type RewardProof, verifyReward } from './index.js'

/** Short in CI; `npm run test:long` asks for 200,000 mutations. */
const mutationCount = Number(process.env['PROOF_MUTATIONS'] ?? 3_000)
const seed = Number(process.env['PROOF_SEED'] ?? 20_261_127)

const digits = (random: Random, count: number) =>
  Array.from({ length: count }, () => below(random, 16).toString(16)).join('')
const join = (a: Hex, b: Hex) => keccak256(concat(a < b ? [a, b] : [b, a]))

/** The root of leaves in pairs, level by level, and the siblings of one: a tree in another form than the service's. */
function climb(nodes: readonly Hex[], at: number): { root: Hex; path: Hex[] } {
  if (nodes.length === 1) return { root: nodes[0]!, path: [] }
  const above = Array.from({ length: Math.ceil(nodes.length / 2) }, (_, i) => {
    const [left, right] = [nodes[2 * i]!, nodes[2 * i + 1]]
    return right === undefined ? left : join(left, right)
  })
  const sibling = nodes[at ^ 1]
  const { root, path } = climb(above, at >> 1)
  return { root, path: sibling === undefined ? path : [sibling, ...path] }
}

type World = { proof: RewardProof & { file: string }; root: string; file: string }

/** A proof of one of some wallets, with a file that has the members of a reward file. */
function makeWorld(random: Random): World {
  const wallets = Array.from({ length: 1 + below(random, 9) }, () => `0x${digits(random, 40)}` as Hex).sort()
  const leaves = wallets.map(
    (wallet) => [wallet, String(BigInt(`0x1${digits(random, 1 + below(random, 30))}`))] as const,
  )
  const at = below(random, leaves.length)
  const [wallet, cumulative] = leaves[at]!
  const hashes = leaves.map(([each, amount]) => keccak256(encodePacked(['address', 'uint256'], [each, BigInt(amount)])))
  const { root, path } = climb(hashes, at)
  const text = JSON.stringify({
    balances: wallets.map((each) => [10, each, '5']),
    lots: wallets.map((each) => [10, each, 'acme', '3']),
    origin: { block: { number: 7, hash: '0xdd' } },
    result: { root, total: '0', wallets: leaves },
    terms: { streamId: 'stream', strategy: { type: 3, tokensPerDay: '1' } },
    to: 20,
  })
  return {
    proof: { version: 1, wallet, cumulative, path, file: text },
    ...{ root, file: sha256(stringToBytes(text)) },
  }
}

const withoutFile = ({ file: _, ...proof }: World['proof']): RewardProof => proof
/** A world whose file says something else, and is known by its own hash. */
const withFile = ({ proof, root }: World, change: (file: { result: { root: string; wallets: unknown[] } }) => void) => {
  const read = JSON.parse(proof.file)
  change(read)
  const text = JSON.stringify(read)
  return verifyReward({ ...proof, file: text }, { root, file: sha256(stringToBytes(text)) })
}

describe('a proof of a reward', () => {
  const worlds = Array.from({ length: 60 }, (_, at) => makeWorld(createRandom(seed + at)))
  const [first] = worlds as [World, ...World[]]

  it('is verified from the root alone, and with the hash of the reward file tells the wallet’s own inputs', () => {
    for (const { proof, root, file } of worlds) {
      const { wallet, cumulative } = proof
      const told = { ok: true, problems: [], wallet, cumulative: BigInt(cumulative) }
      expect(verifyReward(withoutFile(proof), { root })).toEqual({ ...told, inputs: null })
      expect(verifyReward(proof, { root, file })).toEqual({
        ...told,
        inputs: {
          ...{ streamId: 'stream', terms: { strategy: { type: 3, tokensPerDay: '1' } }, to: 20 },
          ...{ block: { number: 7, hash: '0xdd' }, balances: [{ at: 10, shares: '5' }] },
          lots: [{ at: 10, distributorId: 'acme', shares: '3' }],
        },
      })
    }
  })

  it('is refused with a file that nothing decides, and without one that the reader knows', () => {
    const { proof, root, file } = first
    expect(verifyReward(proof, { root }).problems).toEqual(['the proof has unknown members: file'])
    const unhashed = ['file does not hash to the SHA-256 of the reward file']
    expect(verifyReward(withoutFile(proof), { root, file }).problems).toEqual(unhashed)
  })

  it('is refused where the file of that hash is of another root, or pays the wallet another amount, nothing or twice', () => {
    const another = ['the reward file has another amount of the wallet']
    const { wallet, cumulative } = first.proof
    const rows = (change: (all: unknown[]) => unknown[]) =>
      withFile(first, ({ result }) => {
        result.wallets = change(result.wallets)
      }).problems
    expect(
      withFile(first, ({ result }) => {
        result.root = first.file
      }).problems,
    ).toEqual(['the reward file is of another root'])
    expect(rows((all) => all)).toEqual([])
    expect(rows((all) => [...all, [wallet, cumulative]])).toEqual(another)
    expect(rows(() => [])).toEqual(another)
    expect(rows(() => [[wallet, `${BigInt(cumulative) + 1n}`]])).toEqual(another)
  })

  it('is refused where two nodes below the root pose as a wallet and an amount', () => {
    const [low, high] = [`0x${'11'.repeat(32)}`, `0x${'22'.repeat(32)}`] as const
    const posed = { version: 1 as const, wallet: low, cumulative: String(BigInt(high)), path: [] }
    expect(verifyReward(posed, { root: join(low, high) }).problems).toEqual([
      'wallet is not 20 bytes in lower-case hex',
    ])
  })

  const mutations: Readonly<Record<string, (proof: Record<string, unknown>, random: Random, other: World) => void>> = {
    version: (proof, random) => void Object.assign(proof, { version: pick(random, [0, 2, '1', null, 1.5]) }),
    wallet: (proof, random, other) => {
      const own = String(proof['wallet'])
      proof['wallet'] = pick(random, [changeDigit(own, random), own.toUpperCase(), `${own}0`, other.proof.wallet, null])
    },
    cumulative: (proof, random) => {
      const amount = BigInt(String(proof['cumulative']))
      const past = String(amount + 2n ** 256n)
      proof['cumulative'] = pick(random, [`${amount + 1n}`, `${amount - 1n}`, `0${amount}`, Number(amount), past, '0'])
    },
    path: (proof, random, other) => {
      const path = proof['path'] as string[]
      const at = below(random, Math.max(1, path.length))
      const way = below(random, 5)
      if (way === 0) path.splice(at, 1)
      else if (way === 1) path.splice(at, 0, other.root)
      else if (way === 2) path.reverse()
      else if (way === 3) proof['path'] = structuredClone(other.proof.path)
      else if (path[at] !== undefined) path[at] = pick(random, [changeDigit(path[at], random), path[at].toUpperCase()])
    },
    file: (proof, random, other) => {
      const text = String(proof['file'])
      const at = below(random, text.length)
      const changed = `${text.slice(0, at)}${String.fromCharCode(text.charCodeAt(at) ^ 1)}${text.slice(at + 1)}`
      proof['file'] = pick(random, [changed, `${text} `, text.slice(0, -1), other.proof.file, null, [text]])
    },
    'a member more': (proof, random) =>
      void Object.assign(proof, { [pick(random, ['root', 'streamId', 'terms'])]: '1' }),
    'a member less': (proof, random) => {
      delete proof[pick(random, Object.keys(proof))]
    },
  }

  it(`is refused in each of ${mutationCount} cases in which a member is changed, and never throws`, () => {
    const random = createRandom(seed)
    const names = Object.keys(mutations)
    const accepted: string[] = []
    const tried = new Map<string, number>()
    let done = 0
    for (let run = 0; done < mutationCount; run++) {
      const at = below(random, worlds.length)
      const { proof: source, root, file } = worlds[at]!
      const proof = structuredClone(source) as Record<string, unknown>
      const name = names[run % names.length]!
      mutations[name]!(proof, random, worlds[(at + 1) % worlds.length]!)
      if (JSON.stringify(proof) === JSON.stringify(source)) continue
      done += 1
      tried.set(name, (tried.get(name) ?? 0) + 1)
      const verdict = verifyReward(proof as never, { root, file })
      if (verdict.ok) accepted.push(`${name} ${run}`)
    }
    console.info(`${done} mutations of rewards: ${accepted.length} accepted`)
    expect(accepted).toEqual([])
    expect([...tried.keys()].sort()).toEqual([...names].sort())
  }, 7_200_000)

  it.each([null, 'proof', [], { version: 1 }])('refuses %j in words', (value) => {
    expect(verifyReward(value as never, { root: first.root })).toMatchObject({
      ok: false,
      problems: [expect.any(String)],
    })
  })
})

function changeDigit(hex: string, random: Random): string {
  const at = 2 + below(random, hex.length - 2)
  const digit = (Number.parseInt(hex[at]!, 16) + 1 + below(random, 15)) % 16
  return hex.slice(0, at) + digit.toString(16) + hex.slice(at + 1)
}
