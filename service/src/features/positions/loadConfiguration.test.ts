import { expect, it, onTestFinished } from 'vitest'
import { openTestDatabase } from '../../../test/database.js'
import { loadConfiguration } from './storeConfiguration.js'

it('of a chain that is not in the catalogue yet, the configuration has the standard entry points and nothing else', async () => {
  const test = await openTestDatabase({ max: 1 })
  onTestFinished(() => test.close())
  const told = await loadConfiguration(test.db, 4_242)
  expect(told).toMatchObject({ chainId: 4_242, vaults: [], forwarders: [], settlements: [], trustTraces: false })
  expect(told.entryPoints.length).toBeGreaterThan(0)
})
