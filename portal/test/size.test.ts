import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const folder = new URL('../../service/dist/portal/', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, folder), 'utf8')
const names = existsSync(folder) ? readdirSync(folder).filter((name) => !/\.(br|txt)$/.test(name)) : []
/** As they are served. */
const bytesOf = (list: readonly string[]) =>
  list.reduce((sum, name) => sum + statSync(new URL(`${name}.br`, folder)).size, 0)

/** The files that a browser loads before the list is drawn: the first, those that it imports, and those in turn. */
function listFirst(): string[] {
  const entry = names.find((name) => name.startsWith('portal-') && name.endsWith('.js'))!
  const found = [entry]
  for (const name of found)
    for (const [, next = ''] of read(name).matchAll(/(?:from|^import|;import)\s*["']\.\/([\w.-]+\.js)["']/g))
      if (!found.includes(next)) found.push(next)
  return [...found, ...names.filter((name) => /\.(css|svg)$/.test(name))]
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

  it('makes no markup of a text, and asks no other origin', () => {
    // React holds the words for members that nobody here sets.
    const sources = new URL('../src/', import.meta.url)
    const own = readdirSync(sources, { recursive: true })
      .map(String)
      .filter((name) => /\.tsx?$/.test(name))
    expect(own.length).toBeGreaterThan(30)
    for (const name of own.filter((each) => !each.endsWith('.test.ts'))) {
      const code = readFileSync(new URL(name, sources), 'utf8')
      expect([name, /dangerouslySetInnerHTML|innerHTML|document\.write|\beval\(|new Function/.test(code)]).toEqual([
        name,
        false,
      ])
      expect([name, /['"`]https?:\/\//.test(code)]).toEqual([name, false])
    }
  })
})
