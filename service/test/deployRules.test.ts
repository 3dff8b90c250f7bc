import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { operations } from '../src/server/operations.js'
import { root } from './documents.js'
import { openOperatorWorld } from './operatorWorld.js'
import { readExpression } from './promql.js'

type Rule = {
  record?: string
  alert?: string
  expr: string
  for?: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
}
type Panel = { title: string; targets: { expr: string; legendFormat: string }[] }
type Dashboard = { uid: string; title: string; panels: Panel[] }

/** What Prometheus adds to every sample of a target. */
const ofTargets = ['job', 'instance']
const commands = /`?openearn ([a-z]+)/g

let world: Awaited<ReturnType<typeof openOperatorWorld>>
let rules: Rule[]
let dashboards: Dashboard[]
/** The names that `/metrics` shows, each with the labels of its samples, or those that it declares. */
let labelsOf: Map<string, Set<string>>

beforeAll(async () => {
  world = await openOperatorWorld()
  const { service, publishable } = world.earn
  await world.earn.call('GetChains', { key: publishable })
  labelsOf = readMetrics((await service.opsApp.inject('/metrics')).body)
  for (const { name, labelNames = [] } of service.metrics.registry.getMetricsAsArray() as unknown as Declared[]) {
    const known = labelsOf.get(name)
    if (known) for (const label of labelNames) known.add(label)
  }
  const { groups } = parse(await readFile(join(root, 'deploy/prometheus/openearn.rules.yml'), 'utf8')) as {
    groups: { rules: Rule[] }[]
  }
  rules = groups.flatMap((group) => group.rules)
  for (const { record, expr, labels = {} } of rules)
    if (record !== undefined)
      labelsOf.set(
        record,
        new Set([...Object.keys(labels), ...readExpression(expr).grouped, ...(labelsOf.get(record) ?? [])]),
      )
  const folder = join(root, 'deploy/grafana')
  const files = (await readdir(folder)).sort()
  expect(files).toEqual(['chains.json', 'service.json'])
  dashboards = await Promise.all(
    files.map(async (file) => JSON.parse(await readFile(join(folder, file), 'utf8')) as Dashboard),
  )
})
afterAll(() => world?.close())

type Declared = { name: string; labelNames?: string[] }

function readMetrics(body: string): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>()
  for (const [, name = '', type] of body.matchAll(/^# TYPE (\S+) (\S+)$/gm))
    for (const each of type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name])
      found.set(each, new Set())
  for (const [, name = '', labels = ''] of body.matchAll(/^([a-z_]+)\{(.*)\} \S+$/gm))
    for (const [, label = ''] of labels.matchAll(/([a-z_]+)="/g)) found.get(name)?.add(label)
  return found
}

/** What is wrong with an expression: its words, its metrics, its labels. */
function findProblems(expr: string): string[] {
  const { selectors, grouped, problems } = readExpression(expr)
  const found = [...problems]
  const given = new Set(ofTargets)
  for (const { metric, labels } of selectors) {
    const known = metric === 'up' ? new Set<string>() : labelsOf.get(metric)
    if (!known) found.push(`${metric} is not in /metrics`)
    for (const label of known ?? []) given.add(label)
    for (const { name } of labels)
      if (known && !known.has(name) && !ofTargets.includes(name)) found.push(`${metric} has no label ${name}`)
  }
  for (const label of grouped) if (!given.has(label)) found.push(`nothing has the label ${label}: ${expr}`)
  return found
}

describe('the rules for Prometheus', () => {
  it('ask for metrics and labels that /metrics shows', () => {
    expect(rules.length).toBeGreaterThan(50)
    expect(rules.flatMap(({ expr }) => findProblems(expr))).toEqual([])
  })

  it('would be refused with a metric, a label, a function or a bracket that is not there', () => {
    expect(findProblems('max(openearn_no_such)')).toEqual(['openearn_no_such is not in /metrics'])
    expect(findProblems('openearn_jobs_unwell{chain="1"}')).toEqual(['openearn_jobs_unwell has no label chain'])
    expect(findProblems('max by (chain) (openearn_jobs_unwell)')).toHaveLength(1)
    expect(findProblems('maxi(openearn_jobs_unwell)')).toEqual(['no function: maxi'])
    expect(findProblems('max(openearn_jobs_unwell')).toHaveLength(1)
  })

  it('have a name, a severity, a summary and what to do for each alert, once', () => {
    const alerts = rules.filter(({ alert }) => alert !== undefined)
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length)
    for (const { alert, labels = {}, annotations = {}, expr } of alerts) {
      expect(['page', 'ticket'], alert).toContain(labels['severity'])
      expect([alert, Object.keys(annotations)]).toEqual([alert, ['summary', 'do']])
      const { grouped } = readExpression(expr)
      for (const [, label = ''] of Object.values(annotations)
        .join(' ')
        .matchAll(/\$labels\.(\w+)/g))
        expect([...grouped, ...(expr.includes('openearn:') ? ['class', 'chain'] : [])], `${alert} ${label}`).toContain(
          label,
        )
    }
  })

  it('name commands that there are and headings of the runbook that there are', async () => {
    const runbook = await readFile(join(root, 'docs/runbook.md'), 'utf8')
    const { commands: known } = await import('../src/cli/commands.js')
    const texts = rules.map(({ annotations = {} }) => annotations['do'] ?? '')
    for (const text of texts) {
      for (const [, command = ''] of text.matchAll(commands))
        expect(
          Object.keys(known).map((each) => each.split(' ')[0]),
          text,
        ).toContain(command)
      for (const [, heading = ''] of text.matchAll(/docs\/runbook\.md, "([^"]+)"/g))
        expect(runbook).toContain(`## ${heading}\n`)
    }
  })

  it('put each operation into one class of speed, and name none that there is not', () => {
    const named = rules
      .filter(({ record }) => record === 'openearn:slow:ratio_rate5m')
      .flatMap(
        ({ expr }) =>
          readExpression(expr)
            .selectors[0]?.labels.find(({ name }) => name === 'operation')
            ?.value.split('|') ?? [],
      )
    expect(named.sort()).toEqual(operations.map(({ operationId }) => operationId).sort())
  })

  it('have a test for each alert', async () => {
    const text = await readFile(join(root, 'deploy/prometheus/openearn.rules.test.yml'), 'utf8')
    const { tests } = parse(text) as { tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[] }
    const raised = tests
      .flatMap(({ alert_rule_test: cases }) => cases)
      .filter(({ exp_alerts: alerts }) => alerts.length > 0)
    const names = rules.flatMap(({ alert }) => alert ?? [])
    expect([...new Set(raised.map(({ alertname }) => alertname))].sort()).toEqual(names.sort())
  })

  it('hold the bounds that docs/objectives.md states', async () => {
    const objectives = await readFile(join(root, 'docs/objectives.md'), 'utf8')
    const rows = new Map(
      [...objectives.matchAll(/^\| (\w+) \| ([\d.]+) s \|/gm)].map(([, name = '', most = '']) => [name, most]),
    )
    const held = rules
      .filter(({ record }) => record === 'openearn:slow:ratio_rate5m')
      .map(({ expr, labels = {} }) => [labels['class'], /le="([\d.]+)"/.exec(expr)?.[1]])
    expect([...rows]).toEqual(held)
  })
})

describe('the dashboards for Grafana', () => {
  it('show metrics and labels that /metrics shows, and name in their legends what they group by', () => {
    const targets = dashboards.flatMap(({ panels }) => panels.flatMap(({ targets: of }) => of))
    expect(targets.length).toBeGreaterThan(40)
    for (const { expr, legendFormat } of targets) {
      expect(findProblems(expr)).toEqual([])
      const given = [
        ...readExpression(expr).grouped,
        ...ofTargets,
        ...(expr.startsWith('openearn:') ? ['class', 'chain'] : []),
      ]
      for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) expect(given, expr).toContain(label)
    }
  })

  it('have a name and panels with a title of their own', () => {
    expect(new Set(dashboards.map(({ uid }) => uid)).size).toBe(dashboards.length)
    for (const { panels } of dashboards) expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length)
  })
})

it('the example of a configuration reads the rules that there are', async () => {
  const text = await readFile(join(root, 'deploy/prometheus/prometheus.yml'), 'utf8')
  const { rule_files: files } = parse(text) as { rule_files: string[] }
  for (const file of files) expect(existsSync(join(root, 'deploy/prometheus', file))).toBe(true)
})
