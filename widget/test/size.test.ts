import { rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync } from 'node:zlib'
import { type OutputChunk, rolldown } from 'rolldown'
import { describe, expect, it } from 'vitest'

const react = ['react', 'react/jsx-runtime', 'react-dom']

/** The chunks of a program without React, minified: the first that a browser loads, and all of them. */
async function sizesOf(name: string, code: string) {
  const file = fileURLToPath(new URL(`size-${name}.mjs`, import.meta.url))
  await writeFile(file, code)
  try {
    const bundle = await rolldown({ input: file, external: react, platform: 'browser', logLevel: 'silent' })
    const { output } = await bundle.generate({ format: 'esm', minify: true })
    await bundle.close()
    const chunks = output.filter((each): each is OutputChunk => each.type === 'chunk')
    const reached = chunks.filter(({ isEntry }) => isEntry)
    for (const { imports } of reached)
      for (const next of chunks) if (imports.includes(next.fileName) && !reached.includes(next)) reached.push(next)
    const bytesOf = (list: OutputChunk[]) => list.reduce((sum, each) => sum + brotliCompressSync(each.code).length, 0)
    return { first: bytesOf(reached), all: bytesOf(chunks), text: reached.map(({ code: each }) => each).join('\n') }
  } finally {
    await rm(file, { force: true })
  }
}

describe('the widget', () => {
  it('takes at most 60 kB next to React and the verifier, with Query, hooks, client and flows', async () => {
    const widget = await sizesOf(
      'widget',
      `export { EarnWidget } from '@openearn/widget'\nexport { createEarnClient } from '@openearn/sdk'`,
    )
    const verifier = await sizesOf('verifier', `export { verifyPlan } from '@openearn/sdk/verify'`)
    expect(widget.first).toBeGreaterThan(10_000)
    expect(widget.all - verifier.all).toBeLessThanOrEqual(60_000)
    // Flows and verifier are loaded with the first flow.
    expect(widget.first).toBeLessThanOrEqual(40_000)
    expect([/eth_sendTransaction/.test(widget.text), /secp256k1/.test(widget.text)]).toEqual([false, false])
  })

  it('takes at most 4 kB of a page around its frame, before the checks are loaded with the first request', async () => {
    const host = await sizesOf('host', `export { openFrame } from '@openearn/widget/host'`)
    expect(host.first).toBeGreaterThan(1_000)
    expect(host.first).toBeLessThanOrEqual(4_000)
    expect(/eth_sendTransaction|personal_sign/.test(host.text)).toBe(false)
  })
})
