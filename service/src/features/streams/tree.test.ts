import { SimpleMerkleTree } from '@openzeppelin/merkle-tree'
import fc from 'fast-check'
import { bytesToHex, encodePacked, type Hex, keccak256 } from 'viem'
import { describe, expect, it } from 'vitest'
import { readVectors } from '../../../test/vectors.js'
import { buildTree, hashLeaf, type Leaf, verifyProof } from './tree.js'

type Vector = {
  size: number
  leaves: { address: string; cumulative: string; leaf: string; exampleProof?: string[] }[]
  exampleRoot: string
}

const leaves = fc.uniqueArray(
  fc.record({
    wallet: fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => bytesToHex(bytes)),
    cumulative: fc.bigInt({ min: 1n, max: 2n ** 256n - 1n }),
  }),
  { minLength: 1, maxLength: 40, selector: ({ wallet }) => wallet },
)
const byOpenZeppelin = ({ wallet, cumulative }: Leaf) =>
  keccak256(encodePacked(['address', 'uint256'], [wallet as Hex, cumulative]))

describe('buildTree', () => {
  it.each((readVectors('stream-leaves.json') as { trees: Vector[] }).trees)(
    'gives the leaves, root and proofs of the vector of $size',
    (vector) => {
      const given = vector.leaves.map(({ address, cumulative }) => ({
        wallet: address,
        cumulative: BigInt(cumulative),
      }))
      const tree = buildTree(given)
      expect(tree?.root).toBe(vector.exampleRoot)
      vector.leaves.forEach(({ leaf, address, exampleProof }, index) => {
        expect(bytesToHex(hashLeaf(given[index] as Leaf))).toBe(leaf)
        const proof = tree?.findProof(address) ?? []
        if (exampleProof) expect(proof).toEqual(exampleProof)
        expect(verifyProof(vector.exampleRoot, given[index] as Leaf, proof)).toBe(true)
      })
    },
  )

  it('gives what OpenZeppelin’s library gives for leaves in the order of addresses, and proofs that hold', () => {
    fc.assert(
      fc.property(leaves, (given) => {
        const sorted = [...given].sort((a, b) => (a.wallet < b.wallet ? -1 : 1))
        const other = SimpleMerkleTree.of(sorted.map(byOpenZeppelin), { sortLeaves: false })
        const tree = buildTree(given)
        expect(tree?.root).toBe(other.root)
        sorted.forEach((leaf, index) => {
          const proof = tree?.findProof(leaf.wallet) ?? []
          expect(proof).toEqual(other.getProof(index))
          expect(verifyProof(other.root, leaf, proof)).toBe(true)
          expect(verifyProof(other.root, { ...leaf, cumulative: leaf.cumulative - 1n }, proof)).toBe(false)
        })
      }),
    )
  })

  it('knows no proof of a wallet that has earned nothing, and no tree of nobody', () => {
    const one = { wallet: `0x${'11'.repeat(20)}`, cumulative: 1n }
    expect(buildTree([one])?.findProof(one.wallet)).toEqual([])
    expect(buildTree([one])?.findProof(`0x${'12'.repeat(20)}`)).toBeUndefined()
    expect(buildTree([])).toBeUndefined()
  })
})
