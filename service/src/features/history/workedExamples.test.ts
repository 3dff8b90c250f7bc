import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type HistoryWorld, historyNow, openHistoryWorld } from '../../../test/historyWorld.js'

let world: HistoryWorld
beforeAll(async () => {
  world = await openHistoryWorld()
})
afterAll(() => world.close())

it('every worked example of docs/methodology.md is what a vault with these readings is served', async () => {
  const text = await readFile(new URL('../../../../docs/methodology.md', import.meta.url), 'utf8')
  const rows = [...text.matchAll(/^\| ([0-9]{10,}) \| .*$/gm)].map(([row]) => row.split('|').map((cell) => cell.trim()))
  expect(rows.length).toBeGreaterThanOrEqual(5)
  for (const [, p0 = '', usd0 = '', p1 = '', usd1 = '', seconds, source, apr, apy] of rows) {
    const snapshots = [
      { at: historyNow - Number(seconds), price: BigInt(p0), usd: usd0 },
      { at: historyNow, price: BigInt(p1), usd: usd1 },
    ]
    const growthSources = [{ source: source as 'share-price' | 'nav' }]
    const vault = await world.vault({ snapshots, growthSources })
    const served = await Promise.all(['APR', 'APY'].map((name) => world.ask(name, vault)))
    expect([served[0]?.body.data[0].apr.base, served[1]?.body.data[0].apy.base]).toEqual([Number(apr), Number(apy)])
    expect(served[1]?.body.method.source).toBe(source)
  }
})
