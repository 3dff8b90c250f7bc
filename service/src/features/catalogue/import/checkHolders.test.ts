import { expect, it } from 'vitest'
import { chainKey } from '../records.js'
import { checkHolders, type DeclaredAt } from './checkHolders.js'

const [first, second] = ['a', 'b'].map((digit) => `0x${digit.repeat(40)}`) as [string, string]
const activeFrom = '2026-01-01T00:00:00Z'
const declare = (holder: Partial<DeclaredAt['holder']>, share = 'share', pointer = '/one'): DeclaredAt => ({
  ...{ chainId: 1, vault: 'vault', share, pointer },
  holder: { address: first, kind: 'staking', activeFrom, ...holder } as DeclaredAt['holder'],
})
const told = (declared: DeclaredAt[], vaults: string[] = []) => {
  const lines: string[] = []
  const report = (pointer: string, message: string) => lines.push(`${pointer} ${message}`)
  checkHolders(declared, { vaults: new Set(vaults) }, report)
  return lines
}

it('lets pass a holder alone, one that is declared anew later, and markets of two shares in one contract', () => {
  expect(told([declare({}), declare({ activeFrom: '2026-02-01T00:00:00Z' })])).toEqual([])
  const market = { kind: 'collateral', markets: ['0x1'] }
  expect(told([declare(market), declare({ ...market, markets: ['0x2'] }, 'other')])).toEqual([])
})

it.each([
  [
    'a vault of the catalogue',
    [declare({})],
    [chainKey(1, first)],
    /^\/one\/address .* is a vault, or the share of one/,
  ],
  ['two kinds on one address', [declare({}), declare({ kind: 'gauge' }, 'share', '/two')], [], /^\/two\/kind /],
  [
    'two shares whose events name none',
    [declare({}), declare({}, 'other', '/two')],
    [],
    /^\/two\/address .*do not name/,
  ],
  ['the same twice', [declare({}), declare({}, 'share', '/two')], [], /^\/two .* is declared twice/],
  ['no markets where the kind has some', [declare({ kind: 'collateral' })], [], /^\/one .* needs "markets"/],
  ['markets where the kind has none', [declare({ address: second, markets: ['0x1'] })], [], /^\/one\/markets /],
])('refuses %s, and says where', (_, declared, vaults, line) => {
  const lines = told(declared, vaults)
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatch(line)
})
