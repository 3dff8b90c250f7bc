import { spawn } from 'node:child_process'
import { join } from 'node:path'

/** What forge says of one test. */
export type ForgeTest = {
  suite: string
  name: string
  passed: boolean
  reason: string | null
  /** Only of a fuzzed invariant. */
  invariant: { runs: number; calls: number; reverts: number } | undefined
  gas: Record<string, string>
}

type ForgeResult = {
  status: string
  reason: string | null
  kind: { Invariant?: { runs: number; calls: number; reverts: number } }
  gas_snapshots: Record<string, Record<string, string>>
}

const script = join(import.meta.dirname, '..', 'scripts', 'forge.mjs')

/** Runs a script of this workspace to its end; `text` is all it printed. */
export const runScript = (
  path: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ code: number | null; stdout: string; text: string }> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [path, ...args], { env: { ...process.env, ...env } })
    let stdout = ''
    let text = ''
    child.stdout.on('data', (chunk) => {
      stdout += String(chunk)
      text += String(chunk)
    })
    child.stderr.on('data', (chunk) => {
      text += String(chunk)
    })
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout, text }))
  })

/** Runs forge's tests and returns what it says of each; throws when they did not even compile. */
export const runForgeTests = async (
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<ForgeTest[]> => {
  const { stdout, text } = await runScript(script, ['test', '--json', ...args], env)
  const json = stdout.split('\n').find((line) => line.startsWith('{"contracts/'))
  if (json === undefined) throw new Error(text)
  const suites = JSON.parse(json) as Record<string, { test_results: Record<string, ForgeResult> }>
  return Object.entries(suites).flatMap(([suite, { test_results }]) =>
    Object.entries(test_results).map(([name, result]) => ({
      suite: suite.split(':')[1] ?? suite,
      name: name.replace(/\(.*$/, ''),
      passed: result.status === 'Success',
      reason: result.reason,
      invariant: result.kind.Invariant,
      gas: Object.assign({}, ...Object.values(result.gas_snapshots)) as Record<string, string>,
    })),
  )
}
