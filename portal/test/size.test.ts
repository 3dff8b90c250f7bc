import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const dist = new URL('../../service/dist/', import.meta.url)
const folder = new URL('portal/', dist)
const read = (name: string) => readFileSync(new URL(name, folder), 'utf8')
const filesOf = (of: URL) => (existsSync(of) ? readdirSync(of).filter((name) => !/\.(br|txt)$/.test(name)) : [])
const names = filesOf(folder)
/** As they are served. */
const bytesOf = (list: readonly string[]) =>
  list.reduce((sum, name) => sum + statSync(new URL(`${name}.br`, folder)).size, 0)

/** The font of the list: a browser loads it, and no other, as the sheet names it first and code stands on other pages. */
const textFont = (): string =>
  /url\("?(font-[\w-]+\.woff2)/.exec(read(names.find((name) => name.endsWith('.css'))!))![1]!

/** The files that a browser loads before the list is drawn: the first, those that it imports or begins as workers, and those in turn. */
function listFirst(): string[] {
  const entry = names.find((name) => name.startsWith('portal-') && name.endsWith('.js'))!
  const found = [entry]
  for (const name of found)
    for (const pattern of [
      /(?:from|^import|;import)\s*["']\.\/([\w.-]+\.js)["']/g,
      /new URL\(["'`]([\w.-]+\.js)["'`]/g,
    ])
      for (const [, next = ''] of read(name).matchAll(pattern)) if (!found.includes(next)) found.push(next)
  return [...found, ...names.filter((name) => /\.(css|svg)$/.test(name)), textFont()]
}

describe('the portal', () => {
  it('loads at most 120 kB for the list; charts, forms and the devnet’s wallet come with the pages that need them', () => {
    const first = listFirst()
    const text = first.map(read).join('\n')
    expect(bytesOf(first)).toBeGreaterThan(50_000)
    expect(bytesOf(first)).toBeLessThanOrEqual(120_000)
    for (const later of [/getContext\(/, /eth_sendTransaction/, /secp256k1/, /eip6963:requestProvider.*wallet_switch/])
      expect(text).not.toMatch(later)
    const all = names
      .filter((name) => name.endsWith('.js'))
      .map(read)
      .join('\n')
    expect([/getContext\(/.test(all), /eth_sendTransaction/.test(all)]).toEqual([true, true])
  })

  it('has pages of the operator that are a program of their own, of at most 100 kB, without wallets and the API', () => {
    const own = filesOf(new URL('operator/', dist)).filter((name) => !name.endsWith('.woff2'))
    const bytes = own.reduce((sum, name) => sum + statSync(new URL(`operator/${name}.br`, dist)).size, 0)
    expect(bytes).toBeGreaterThan(40_000)
    expect(bytes).toBeLessThanOrEqual(100_000)
    const text = own.map((name) => readFileSync(new URL(`operator/${name}`, dist), 'utf8')).join('\n')
    expect(text).toContain('openearn streams veto')
    for (const other of [/eth_sendTransaction/, /eip6963/, /X-API-Key/i, /getContext\(/])
      expect(text).not.toMatch(other)
    expect(names.map(read).join('\n')).not.toContain('openearn streams veto')
  })

  it('makes no markup of a text, and asks no other origin', () => {
    // React holds the words for members that nobody here sets.
    const sources = new URL('../src/', import.meta.url)
    const own = readdirSync(sources, { recursive: true })
      .map(String)
      .filter((name) => /\.tsx?$/.test(name))
    expect(own.length).toBeGreaterThan(30)
    for (const name of own.filter((each) => !each.endsWith('.test.ts'))) {
      // The namespace of pictures is a name: nothing is read there.
      const code = readFileSync(new URL(name, sources), 'utf8').replace("'http://www.w3.org/2000/svg'", '')
      expect([name, /dangerouslySetInnerHTML|innerHTML|document\.write|\beval\(|new Function/.test(code)]).toEqual([
        name,
        false,
      ])
      expect([name, /['"`]https?:\/\//.test(code)]).toEqual([name, false])
    }
  })
})
