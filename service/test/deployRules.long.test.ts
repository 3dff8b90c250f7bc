import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { root } from './documents.js'

const run = promisify(execFile)
/** Debian's package `prometheus` has it. Where it is missing the rules are held against `/metrics` alone (deployRules.test.ts). */
const promtool = ['/usr/bin/promtool', '/usr/local/bin/promtool'].find((path) => existsSync(path))
const cwd = join(root, 'deploy/prometheus')

describe.skipIf(!promtool)('promtool, which is there where Debian’s package prometheus is', () => {
  it('reads the rules and the example of a configuration', async () => {
    expect((await run(`${promtool}`, ['check', 'rules', 'openearn.rules.yml'], { cwd })).stdout).toContain('SUCCESS')
    expect((await run(`${promtool}`, ['check', 'config', 'prometheus.yml'], { cwd })).stdout).toContain('SUCCESS')
  }, 60_000)

  it('raises each alert when it should, and none while all is well', async () => {
    expect((await run(`${promtool}`, ['test', 'rules', 'openearn.rules.test.yml'], { cwd })).stdout).toContain(
      'SUCCESS',
    )
  }, 60_000)

  it('reads each expression of the dashboards', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'openearn-dashboards-'))
    const exprs: string[] = []
    for (const name of ['service', 'chains']) {
      const { panels } = JSON.parse(await readFile(join(root, `deploy/grafana/${name}.json`), 'utf8'))
      for (const { targets } of panels) for (const { expr } of targets) exprs.push(expr)
    }
    const rules = exprs.map((expr, index) => ({ record: `shown:${index}`, expr }))
    const file = join(folder, 'shown.yml')
    await writeFile(file, stringify({ groups: [{ name: 'shown', rules }] }))
    const { stdout } = await run(`${promtool}`, ['check', 'rules', file])
    await rm(folder, { recursive: true })
    expect(stdout).toContain(`${exprs.length} rules found`)
  }, 60_000)
})
