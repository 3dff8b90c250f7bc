import { execFile } from 'node:child_process'
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import ts from 'typescript'
import { root } from '../documents.js'

const run = promisify(execFile)
const untilReady = fileURLToPath(new URL('untilReady.mjs', import.meta.url))
const generated = fileURLToPath(new URL('../../.generated/', import.meta.url))

/** Ends at the first command that fails, and says in which line of the document it stands. */
const strict = `set -eEuo pipefail; trap 'echo "line $LINENO failed" >&2' ERR; curl() { command curl --fail-with-body "$@"; };`

/**
 * Makes a folder look like a built checkout to whoever works in it: `./openearn`, `npx openearn`, `npm run demo`. What would
 * go on ends once it is ready.
 */
export async function makeCheckout(folder: string): Promise<void> {
  for (const name of ['package.json', 'service', 'sdk']) await symlink(join(root, name), join(folder, name))
  const program = join(root, 'service/bin/openearn.js')
  const text = `#!/bin/sh\nexec "${process.execPath}" "${untilReady}" "${program}" "$@"\n`
  await mkdir(join(folder, 'bin', '.bin'), { recursive: true })
  await symlink(join(folder, 'bin'), join(folder, 'node_modules'))
  for (const place of ['openearn', 'bin/.bin/openearn']) {
    await writeFile(join(folder, place), text)
    await chmod(join(folder, place), 0o755)
  }
}

/** Puts what a reader fills in into a text: each of the words has to be there. */
export function fillIn(text: string, words: Record<string, string>): string {
  return Object.entries(words).reduce((filled, [word, value]) => {
    if (!filled.includes(word)) throw new Error(`nothing says ${word} any more`)
    return filled.replaceAll(word, value)
  }, text)
}

/** Runs the shell lines of a document in a folder; answers what they said, and fails with the line that failed. */
export async function runScript(folder: string, script: string, env: Record<string, string> = {}): Promise<string> {
  const file = join(folder, 'snippets.sh')
  const [first = '', ...others] = script.split('\n')
  if (first !== '') throw new Error('a document begins with its title')
  await writeFile(file, [strict, ...others].join('\n'))
  const { stdout } = await run('bash', [file], {
    cwd: folder,
    env: {
      PATH: `${folder}:${process.env['PATH']}`,
      HOME: folder,
      PORT: '0',
      OPS_PORT: '0',
      npm_config_offline: 'true',
      npm_config_update_notifier: 'false',
      ...env,
    },
    maxBuffer: 2 ** 26,
  })
  return stdout
}

/** Type-checks a program and runs it with some words; answers what it said. */
export async function runTypescript(name: string, text: string, words: readonly string[]): Promise<string> {
  const file = join(generated, `${name}.mts`)
  await mkdir(generated, { recursive: true })
  await writeFile(file, text)
  const options: ts.CompilerOptions = {
    strict: true,
    skipLibCheck: true,
    types: ['node'],
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
  }
  const program = ts.createProgram([file], options)
  const wrong = ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
  if (wrong.length > 0) throw new Error(`${name}: ${wrong.join('\n')}`)
  program.emit()
  return (await run(process.execPath, [file.replace(/\.mts$/, '.mjs'), ...words])).stdout
}
