import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { link, listFiles, pack, unpack } from '../../sdk/test/packing.js'
import { findTypeErrors, resolutions } from '../../sdk/test/resolutions.js'

const run = promisify(execFile)

const peers = ['react', '@tanstack/react-query', '@types/react', 'react-dom', 'viem', 'cborg']

/** A use of the package whose types have to be found: `wrong` is an error, and that it is one is expected. */
const typedUse = `import { EarnProvider, type EarnProviderProps, portfolioQuery, useDeposit, useOpportunities, usePortfolio } from '@openearn/react'
import { createEarnClient, type types } from '@openearn/sdk'
import { createElement, type ReactNode } from 'react'
const earn = createEarnClient({ baseUrl: '/earn' })
export const root = (props: EarnProviderProps): ReactNode => createElement(EarnProvider, { ...props, earn })
export function useNames(): string[] | undefined {
  return useOpportunities({ chainIds: [1] }).data?.items.map(({ name }: types.Opportunity) => name)
}
export const useTotal = (address: string | undefined): string | undefined => usePortfolio({ address }).data?.portfolio.holdings.totalUsd
export const key: readonly unknown[] = portfolioQuery(earn, { address: '0x' }).queryKey
export function useTwo(): string | undefined {
  const { flow, begin, say } = useDeposit({ review: true })
  begin({ opportunityId: '', userAddress: '0x', tokenIn: 'native', amount: 1n, distributorId: '' })
  say('go')
  // @ts-expect-error
  say('yes')
  // @ts-expect-error
  begin({ opportunityId: '' })
  return flow?.txHash
}
// @ts-expect-error
export const useWrong = () => useOpportunities({ sortOrder: 'up' })
`

describe('the packed hooks', () => {
  let folder: string
  let installed: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'openearn-react-'))
    ;[installed = ''] = await unpack(await pack(['react', 'sdk'], folder), folder)
    await link(peers, folder)
  }, 120_000)
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it.each([
    ['import', 'mjs', `import * as react from '@openearn/react'\nimport { createElement } from 'react'`],
    ['require', 'cjs', `const react = require('@openearn/react'), { createElement } = require('react')`],
  ])('are loaded by %s, and draw on a server', async (_, kind, load) => {
    const script = `${load}
      const use = async () => {
        const { renderToString } = await import('react-dom/server')
        const { QueryClient, QueryClientProvider } = await import('@tanstack/react-query')
        const Vaults = () => createElement('p', null, react.useOpportunities().status, react.useDeposit().flow)
        const earn = { baseUrl: 'https://earn.example' }
        const page = createElement(react.EarnProvider, { earn }, createElement(Vaults))
        console.log(renderToString(createElement(QueryClientProvider, { client: new QueryClient() }, page)))
      }
      use()`
    const file = join(folder, `use.${kind}`)
    await writeFile(file, script)
    const { stdout, stderr } = await run(process.execPath, [file], { cwd: folder })
    expect([stdout, stderr]).toEqual(['<p>pending</p>\n', ''])
  })

  it('say what is missing where there is no provider', async () => {
    const script = `import { createElement } from 'react'
      import { renderToString } from 'react-dom/server'
      import { useDeposit } from '@openearn/react'
      const Page = () => { useDeposit(); return null }
      renderToString(createElement(Page))`
    await writeFile(join(folder, 'without.mjs'), script)
    const failed = run(process.execPath, [join(folder, 'without.mjs')], { cwd: folder })
    await expect(failed).rejects.toThrow('put an <EarnProvider earn={…}> around the components that use OpenEarn')
  })

  it.each(Object.keys(resolutions).slice(0, 5))(
    'are typed where modules are resolved as %s',
    async (name) => expect(await findTypeErrors(folder, name, typedUse)).toBe(''),
    60_000,
  )

  it('hold no test and no source, and bring no package of their own', async () => {
    const names = await listFiles(installed)
    expect(names.filter((name) => /\.test\.|^src|^test|tsbuildinfo|\.map$/.test(name))).toEqual([])
    expect(names).toEqual(
      expect.arrayContaining(['LICENSE', 'NOTICE', 'README.md', 'dist/index.js', 'dist/index.d.cts']),
    )
    const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))
    expect(manifest.dependencies).toBeUndefined()
    const used = new Set<string>()
    for (const name of names.filter((each) => /^dist.*\.js$/.test(each)))
      for (const [, from] of (await readFile(join(installed, name), 'utf8')).matchAll(
        /(?:\bfrom |\bimport\()'([^.'][^']*)'/g,
      ))
        used.add(from!)
    expect([...used].sort()).toEqual(['@openearn/sdk', '@openearn/sdk/flows', '@tanstack/react-query', 'react'])
    expect(Object.keys(manifest.peerDependencies).sort()).toEqual(['@openearn/sdk', '@tanstack/react-query', 'react'])
  })

  it('say of each file with hooks that it is one of the browser, so that server components may import the others', async () => {
    const isOfClient = async (name: string) =>
      (await readFile(join(installed, 'dist', name), 'utf8')).startsWith(`'use client'`)
    for (const name of ['context.js', 'flows.js', 'reads.js'])
      expect([name, await isOfClient(name)]).toEqual([name, true])
    for (const name of ['index.js', 'queries.js']) expect([name, await isOfClient(name)]).toEqual([name, false])
    expect(await readFile(join(installed, 'dist/queries.js'), 'utf8')).not.toMatch(/\.\/context|from 'react'/)
  })

  it('build into a page with Vite, flows in a file of their own', async () => {
    const page = join(folder, 'page')
    await mkdir(page)
    await writeFile(join(page, 'index.html'), '<script type="module" src="./main.js"></script>')
    await writeFile(join(page, 'main.js'), `import * as react from '@openearn/react'\nglobalThis.react = react`)
    const said: string[] = []
    // The directive is for servers; TanStack Query has it too.
    const say = (text: string) => text.includes('MODULE_LEVEL_DIRECTIVE') || said.push(text)
    const quiet = { info: () => undefined, clearScreen: () => undefined, hasErrorLogged: () => false, hasWarned: false }
    const result = await build({
      ...{ root: page, configFile: false, logLevel: 'warn' },
      customLogger: { ...quiet, warn: say, warnOnce: say, error: say },
      build: { modulePreload: { polyfill: false } },
    })
    expect(said).toEqual([])
    const chunks = (Array.isArray(result) ? result : [result]).flatMap((each) => ('output' in each ? each.output : []))
    const codes = chunks.flatMap((each) => ('code' in each ? [{ isEntry: each.isEntry, code: each.code }] : []))
    const asks = codes.filter(({ code }) => code.includes('eth_sendTransaction'))
    expect([asks.length, asks.some(({ isEntry }) => isEntry)]).toEqual([1, false])
  }, 60_000)
})
