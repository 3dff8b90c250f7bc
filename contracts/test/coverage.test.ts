import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runScript } from './forge.js'

test('every line and every branch of the stream contracts and the router is run by a test', {
  timeout: 900_000,
}, async () => {
  const { code, text } = await runScript(join(import.meta.dirname, '..', 'scripts', 'coverage.mjs'), [])
  console.log(text.trim())
  expect(text).toMatch(/Stream\.sol: (\d+) of \1 lines, (\d+) of \2 branches/)
  expect(text).toMatch(/StreamFactory\.sol: (\d+) of \1 lines, (\d+) of \2 branches/)
  expect(text).toMatch(/DepositRouter\.sol: (\d+) of \1 lines, (\d+) of \2 branches/)
  expect(code).toBe(0)
})
