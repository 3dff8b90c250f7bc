import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { link, listFiles, pack, unpack } from '../../sdk/test/packing.js'
import { findTypeErrors, resolutions } from '../../sdk/test/resolutions.js'

const run = promisify(execFile)

const peers = ['react', '@tanstack/react-query', '@types/react', 'react-dom', 'viem', 'cborg']

/** A use of the package whose types have to be found: a wrong one is an error, and that it is one is expected. */
const typedUse = `import { EarnWidget, type EarnWidgetProps, englishTexts } from '@openearn/widget'
import { type FrameEvent, type HostOptions, openFrame, type OpenFrame } from '@openearn/widget/host'
import { createEarnClient, type Trust } from '@openearn/sdk'
import type { Provider } from '@openearn/sdk/wallet'
import { createElement, type ReactNode } from 'react'
const earn = createEarnClient({ baseUrl: '/earn' })
const texts = { deposit: englishTexts.deposit + '!' }
export const widget = (more: Partial<EarnWidgetProps>): ReactNode =>
  createElement(EarnWidget, { earn, distributorId: 'code', theme: 'dark', texts, ...more })
export const opened = (frame: HTMLIFrameElement, provider: Provider, trust: Trust, more: Partial<HostOptions>): OpenFrame =>
  openFrame(frame, { provider, trust, distributorId: 'code', onEvent: ({ kind, txHash }: FrameEvent) => void [kind, txHash], ...more })
// @ts-expect-error
export const untrusted = (frame: HTMLIFrameElement, provider: Provider) => openFrame(frame, { provider, distributorId: 'code' })
// @ts-expect-error
export const wrong = createElement(EarnWidget, { earn })
// @ts-expect-error
export const wrongText = createElement(EarnWidget, { earn, distributorId: 'code', texts: { depsit: '' } })
`

describe('the packed widget', () => {
  let folder: string
  let installed: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'openearn-widget-'))
    ;[installed = ''] = await unpack(await pack(['widget', 'react', 'sdk'], folder), folder)
    await link(peers, folder)
  }, 120_000)
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it.each([
    [
      'import',
      'mjs',
      `import { EarnWidget } from '@openearn/widget'\nimport { openFrame } from '@openearn/widget/host'\nimport { createElement } from 'react'`,
    ],
    [
      'require',
      'cjs',
      `const { EarnWidget } = require('@openearn/widget'), { openFrame } = require('@openearn/widget/host'), { createElement } = require('react')`,
    ],
  ])(
    'is loaded by %s with the half of a page around its frame, and is an empty element on a server',
    async (_, kind, load) => {
      const script = `${load}
      const use = async () => {
        const { renderToString } = await import('react-dom/server')
        const earn = { baseUrl: 'https://earn.example' }
        console.log(typeof openFrame, renderToString(createElement(EarnWidget, { earn, distributorId: 'code' })))
      }
      use()`
      const file = join(folder, `use.${kind}`)
      await writeFile(file, script)
      const { stdout, stderr } = await run(process.execPath, [file], { cwd: folder })
      expect([stdout, stderr]).toEqual(['function <div data-openearn=""></div>\n', ''])
    },
  )

  it.each(Object.keys(resolutions).slice(0, 5))(
    'is typed where modules are resolved as %s',
    async (name) => expect(await findTypeErrors(folder, name, typedUse)).toBe(''),
    60_000,
  )

  it('holds no test and no source, and uses nothing but its peers', async () => {
    const names = await listFiles(installed)
    expect(names.filter((name) => /\.test\.|^src|^test|tsbuildinfo|\.map$/.test(name))).toEqual([])
    expect(names).toEqual(
      expect.arrayContaining(['LICENSE', 'NOTICE', 'README.md', 'dist/index.js', 'dist/index.d.cts']),
    )
    const used = new Set<string>()
    const code = await Promise.all(
      names.filter((each) => /^dist.*\.js$/.test(each)).map((name) => readFile(join(installed, name), 'utf8')),
    )
    for (const text of code)
      for (const [, from] of text.matchAll(/(?:\bfrom |\bimport\()'([^'.][^']*)'/g)) used.add(from!)
    const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))
    expect(manifest.dependencies).toBeUndefined()
    const named = [...used].map((from) => /^(@[^/]+\/)?[^/]+/.exec(from)?.[0])
    expect([...new Set(named)].sort()).toEqual(Object.keys(manifest.peerDependencies).sort())
    // Text of strangers has no way to become markup.
    expect(code.join('\n')).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/)
  })
})
