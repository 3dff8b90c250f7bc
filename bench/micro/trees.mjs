// Merkle trees of reward streams: node bench/micro/trees.mjs. 100,000 leaves beside OpenZeppelin's library in the same run,
// 1,000,000 leaves with the memory they take, and one proof out of a tree that is there.

import { createHash } from 'node:crypto'
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

const seconds = (value) => `${value.toFixed(2)} s`
const failures = []
function report(what, value, bound, isMet) {
  console.log(`${what.padEnd(44)}${value.padEnd(14)}${bound}`)
  if (!isMet) failures.push(what)
}

buildTree(listLeaves(1_000))
const many = listLeaves(100_000)
const [tree, own] = measure(() => buildTree(many))
report('100,000 leaves', seconds(own), '≤ 1 s', own <= 1)
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

const all = listLeaves(1_000_000)
globalThis.gc?.()
const idle = process.memoryUsage().rss
let most = idle
const [large, took] = measure(() => {
  const built = buildTree(all)
  most = Math.max(most, process.memoryUsage().rss)
  return built
})
const mib = (bytes) => `${Math.round(bytes / 2 ** 20)} MB`
report('1,000,000 leaves', seconds(took), '≤ 12 s', took <= 12)
report('  memory of the process, leaves included', mib(most), `≤ 500 MB (${mib(idle)} before)`, most <= 500 * 2 ** 20)
console.log(`  of it the tree ${mib(large.size)}`)
if (failures.length > 0) {
  console.error(`not met: ${failures.join(', ')}`)
  process.exitCode = 1
}
