import { execFile } from 'node:child_process'
import { appendFileSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const run = promisify(execFile)
const workspaceDir = join(import.meta.dirname, '..')
const script = join(workspaceDir, 'scripts', 'compile.mjs')
/** Every contract is compiled, which keeps a core busy for seconds, or for longer beside other work. */
const compileMs = 120_000

describe('the generated interfaces', () => {
  let copy: string
  let ended: { code: number; stdout: string; stderr: string }

  // One compilation for both: the committed folder, and a copy with a difference and a stranger.
  beforeAll(async () => {
    copy = mkdtempSync(join(tmpdir(), 'openearn-abi-'))
    const committed = join(workspaceDir, 'abi')
    cpSync(committed, copy, { recursive: true })
    appendFileSync(join(copy, 'generated', 'TestToken.ts'), '\n')
    writeFileSync(join(copy, 'generated', 'Stranger.ts'), 'export {}\n')
    const check = run(process.execPath, [script, '--check', '--abi', committed, '--abi', copy])
    ended = await check.then(
      (output) => ({ code: 0, ...output }),
      (failure) => failure,
    )
  }, compileMs)

  afterAll(() => rmSync(copy, { recursive: true, force: true }))

  test('are those of the contracts as they stand', () => {
    expect(ended.stdout).toMatch(/^\d+ generated files match the contracts\n$/)
  })

  test('are refused when one differs or has no contract', () => {
    expect(ended.code).toBe(1)
    expect(ended.stderr).toMatch(
      /run `npm run compile -w contracts`:\n {2}differs: generated\/TestToken\.ts\n {2}has no contract: generated\/Stranger\.ts\n$/,
    )
  })
})
