import { execFile } from 'node:child_process'
import { appendFileSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const run = promisify(execFile)
const workspaceDir = join(import.meta.dirname, '..')
const script = join(workspaceDir, 'scripts', 'compile.mjs')
/** Both compile every contract, which keeps a core busy for seconds, or for longer beside other work. */
const compileMs = 120_000

describe('the generated interfaces', { timeout: 300_000 }, () => {
  let copy: string

  beforeEach(() => {
    copy = mkdtempSync(join(tmpdir(), 'openearn-abi-'))
    cpSync(join(workspaceDir, 'abi'), copy, { recursive: true })
  })

  afterEach(() => rmSync(copy, { recursive: true, force: true }))

  test(
    'are those of the contracts as they stand',
    async () => {
      const { stdout } = await run(process.execPath, [script, '--check'])
      expect(stdout).toMatch(/^\d+ generated files match the contracts/)
    },
    compileMs,
  )

  test(
    'are refused when one differs or has no contract',
    async () => {
      appendFileSync(join(copy, 'generated', 'TestToken.ts'), '\n')
      writeFileSync(join(copy, 'generated', 'Stranger.ts'), 'export {}\n')
      const check = run(process.execPath, [script, '--check', '--abi', copy])
      await expect(check).rejects.toMatchObject({
        code: 1,
        stderr: expect.stringMatching(
          /run `npm run compile -w contracts`:\n {2}differs: generated\/TestToken\.ts\n {2}has no contract: generated\/Stranger\.ts\n/,
        ),
      })
    },
    compileMs,
  )
})
