import { afterEach, describe, expect, it, vi } from 'vitest'
import { breakLine, formatTable, print, printTable } from './terminal.js'

afterEach(() => vi.unstubAllGlobals())

/** What is written where standard output is a terminal of this width, or none. */
function write(columns: number | undefined, run: () => void): string {
  const written: string[] = []
  const stdout = { isTTY: columns !== undefined, columns, write: (text: string) => written.push(text) }
  vi.stubGlobal('process', { ...process, stdout })
  try {
    run()
  } finally {
    vi.unstubAllGlobals()
  }
  return written.join('')
}

const help = '  catalogue     import a catalogue file, or draft an entry from a vault'
const header = ['ID', 'NAME', 'CREATED']
const rows = [
  ['7d08b82b-05f8-579b-a785-00a775566365', 'Aurora', '2026-11-20'],
  ['117fbf7f-1755-5202-9bea-f02ff57091cb', '', '2026-11-21'],
]

describe('what a command prints', () => {
  it('is broken between words on a terminal 40 columns wide, under its text', () => {
    expect(write(40, () => print(help))).toBe(
      `  catalogue     import a catalogue file,
                or draft an entry from a
                vault
`,
    )
    expect(breakLine('   the calldata names it, and somebody signed that', 40)).toEqual([
      '   the calldata names it, and somebody',
      '   signed that',
    ])
  })

  it('keeps a word that is wider than the terminal whole, so that it can be copied', () => {
    const address = `0x${'ab'.repeat(32)}`
    expect(breakLine(`   see ${address} there`, 40)).toEqual(['   see', `   ${address}`, '   there'])
    expect(breakLine(address, 40)).toEqual([address])
  })

  it('loses and adds no word at any width', () => {
    const words = (text: string) => text.split(/\s+/).filter(Boolean)
    for (let width = 1; width < 90; width++) expect(words(breakLine(help, width).join('\n'))).toEqual(words(help))
  })

  it('is whole, a line each, in a pipe, whatever the width of the terminal was', () => {
    expect(write(undefined, () => print(help))).toBe(`${help}\n`)
    expect(write(undefined, () => printTable(header, rows, []))).toBe(
      `${formatTable(header, rows, Number.POSITIVE_INFINITY).join('\n')}\n`,
    )
  })

  it('is a table where the terminal has room for it, else a line for each cell', () => {
    const wide = write(100, () => printTable(header, rows, []))
    expect(wide.split('\n')[0]).toBe('ID                                    NAME    CREATED')
    expect(write(40, () => printTable(header, rows, []))).toBe(
      `ID
         7d08b82b-05f8-579b-a785-00a775566365
NAME     Aurora
CREATED  2026-11-20

ID
         117fbf7f-1755-5202-9bea-f02ff57091cb
CREATED  2026-11-21
`,
    )
  })
})
