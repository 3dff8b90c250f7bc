import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { keccak256 } from 'viem'
import { expect, it } from 'vitest'
import { verifyProof } from '../src/proof/index.js'
import { chainId, kinds, makeBlock, makeCase, proveEntries, trust } from './proofs.js'
import { createRandom } from './random.js'

it('checks a proof with at most 12 kB and the curve, and with nothing that a browser lacks', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'openearn-proof-'))
  try {
    const file = join(folder, 'use.mjs')
    const entry = JSON.stringify(fileURLToPath(new URL('../dist/proof/index.js', import.meta.url)))
    await writeFile(file, `import { verifyProof } from ${entry}\nconsole.log(verifyProof)`)
    const bundle = await rolldown({ input: file, platform: 'browser' })
    const { output } = await bundle.generate({ format: 'esm', minify: true })
    await bundle.close()
    const [first, ...later] = output
    expect(brotliCompressSync(first.code).length).toBeLessThanOrEqual(12_000)
    // The curve is loaded when a sender is recovered.
    expect(later.map(({ name }) => name)).toEqual(['secp256k1'])
    expect(first.code).not.toMatch(/\bBuffer\b|\bprocess\b|node:/)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

it('takes at most 30 kB for a small block and 300 kB for one as full as a mainnet’s', async () => {
  const random = createRandom(7)
  const small = await makeBlock(kinds.map((kind, at) => makeCase(kind, at, random)))
  const sizes = await Promise.all(
    kinds.map(async (_, at) => JSON.stringify(await proveEntries(small.prove(at))).length),
  )
  expect(sizes.sort((a, b) => a - b)[Math.floor(sizes.length / 2)]).toBeLessThanOrEqual(30_000)
  // 300 transactions; the largest receipts of a mainnet block have some hundred logs.
  const full = Array.from({ length: 300 }, (_, at) => makeCase(kinds[at % kinds.length]!, at, random))
  for (const made of full) {
    const noise = {
      address: `0x${'de'.repeat(20)}`,
      topics: [keccak256('0x01')],
      data: `0x${'11'.repeat(256)}`,
    } as const
    made.logs.push(
      ...Array.from({ length: Math.floor(random() * 150) }, () => ({ ...noise, topics: [...noise.topics] })),
    )
  }
  const block = await makeBlock(full)
  for (const at of [0, 127, 128, 299]) {
    const proof = await proveEntries(block.prove(at))
    expect(JSON.stringify(proof).length).toBeLessThanOrEqual(300_000)
    expect((await verifyProof(proof, { chainId, blockHash: block.blockHash, trust })).ok).toBe(true)
  }
}, 120_000)
