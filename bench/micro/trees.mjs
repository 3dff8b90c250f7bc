// Merkle trees of reward streams: node bench/micro/trees.mjs. 100,000 leaves beside OpenZeppelin's library in the same run,
// 1,000,000 leaves with the memory they take, and one proof out of a tree that is there.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { SimpleMerkleTree } from '@openzeppelin/merkle-tree'
import { encodePacked, keccak256 } from 'viem'
import { buildTree } from '../../service/dist/features/streams/tree.js'

const listLeaves = (count) =>
  Array.from({ length: count }, (_, index) => {
    const digest = createHash('sha256').update(String(index)).digest('hex')
    return { wallet: `0x${digest.slice(0, 40)}`, cumulative: BigInt(`0x${digest.slice(40)}`) }
  }).sort((a, b) => (a.wallet < b.wallet ? -1 : 1))

function measure(run) {
  const before = performance.now()
  const result = run()
  return [result, (performance.now() - before) / 1_000]
}

if (process.argv[2] === 'large') {
  const all = Array.from({ length: 1_000_000 }, (_, index) => ({
    wallet: `0x${(index * 4_294_967).toString(16).padStart(40, '0')}`,
    cumulative: BigInt(index + 1) * 10n ** 18n,
  }))
  const idle = process.memoryUsage().rss
  const [tree, took] = measure(() => buildTree(all))
  console.log(JSON.stringify({ idle, most: process.memoryUsage().rss, took, size: tree.size }))
  process.exit()
}

const seconds = (value) => `${value.toFixed(2)} s`
const failures = []
function report(what, value, bound, isMet) {
  console.log(`${what.padEnd(44)}${value.padEnd(14)}${bound}`)
  if (!isMet) failures.push(what)
}

buildTree(listLeaves(1_000))
const many = listLeaves(100_000)
const [tree, own] = [1, 2, 3].map(() => measure(() => buildTree(many))).sort((a, b) => a[1] - b[1])[1]
report('100,000 leaves, the median of three', seconds(own), '≤ 1 s', own <= 1)
const [peer, theirs] = measure(() => {
  const hashed = many.map(({ wallet, cumulative }) =>
    keccak256(encodePacked(['address', 'uint256'], [wallet, cumulative])),
  )
  return SimpleMerkleTree.of(hashed, { sortLeaves: false })
})
if (peer.root !== tree.root) failures.push('the same root')
report(
  'the same by @openzeppelin/merkle-tree',
  seconds(theirs),
  `${(theirs / own).toFixed(0)} × ours (≥ 25)`,
  theirs >= 25 * own,
)

const proofs = 20_000
const [, proving] = measure(() => {
  for (let index = 0; index < proofs; index++) tree.findProof(many[(index * 7_919) % many.length].wallet)
})
const each = (proving / proofs) * 1e6
report('a proof', `${each.toFixed(1)} µs`, '≤ 50 µs', each <= 50)

// In a process of its own, so that nothing else counts for its memory.
const child = spawnSync(process.execPath, [fileURLToPath(import.meta.url), 'large'], { encoding: 'utf8' })
const { idle, most, took, size } = JSON.parse(child.stdout)
const mib = (bytes) => `${Math.round(bytes / 2 ** 20)} MB`
report('1,000,000 leaves', seconds(took), '≤ 12 s', took <= 12)
report('  memory of the process', mib(most), `≤ 500 MB (${mib(idle)} of it the leaves)`, most <= 500 * 2 ** 20)
console.log(`  of it the tree ${mib(size)}`)
if (failures.length > 0) {
  console.error(`not met: ${failures.join(', ')}`)
  process.exitCode = 1
}
