import { rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync } from 'node:zlib'
import { type OutputChunk, rolldown } from 'rolldown'
import { describe, expect, it } from 'vitest'
import * as react from '../src/index.js'

const peers = ['react', 'react/jsx-runtime', '@tanstack/react-query']

/** The chunks that a browser loads at first, without the peers: the first one, and what it names. */
async function loadOf(name: string, code: string): Promise<{ bytes: number; first: string; later: string }> {
  const file = fileURLToPath(new URL(`size-${name}.mjs`, import.meta.url))
  await writeFile(file, code)
  try {
    const bundle = await rolldown({ input: file, external: peers, platform: 'browser', logLevel: 'silent' })
    const { output } = await bundle.generate({ format: 'esm', minify: true })
    await bundle.close()
    const chunks = output.filter((each): each is OutputChunk => each.type === 'chunk')
    const reached = chunks.filter(({ isEntry }) => isEntry)
    for (const { imports } of reached)
      for (const next of chunks) if (imports.includes(next.fileName) && !reached.includes(next)) reached.push(next)
    const textOf = (list: OutputChunk[]) => list.map((each) => each.code).join('\n')
    return {
      bytes: reached.reduce((sum, each) => sum + brotliCompressSync(each.code).length, 0),
      first: textOf(reached),
      later: textOf(chunks.filter((each) => !reached.includes(each))),
    }
  } finally {
    await rm(file, { force: true })
  }
}

const hooks = Object.keys(react).filter((name) => /^use(?!Earn$)/.test(name))

describe('the hooks', () => {
  it.each(hooks)('%s takes at most 6 kB next to React and Query, with provider and client', async (name) => {
    const code = `export { EarnProvider, ${name} } from '@openearn/react'
      export { createEarnClient } from '@openearn/sdk'`
    const { bytes } = await loadOf(name, code)
    expect(bytes).toBeGreaterThan(1_000)
    expect(bytes).toBeLessThanOrEqual(6_000)
  })

  it('take at most 8 kB all together; flows and verifier are loaded with the first flow', async () => {
    expect(hooks.length).toBe(17)
    const { bytes, first, later } = await loadOf('all', `export * from '@openearn/react'`)
    expect(bytes).toBeLessThanOrEqual(8_000)
    const flows = /eth_sendTransaction/
    const verifier = /secp256k1/
    expect([flows.test(first), verifier.test(first), flows.test(later), verifier.test(later)]).toEqual([
      ...[false, false, true, true],
    ])
  })
})
