import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { commands } from '../src/cli/commands.js'
import { parseConfig } from '../src/kernel/config.js'
import { root } from './documents.js'

// biome-ignore lint/suspicious/noExplicitAny: documents of others, which the schemas below hold
type Any = any

/** Members that may stand in a document, by name; true: any value; in brackets: each item of a list; `*`: each name. */
type Shape = true | [Shape] | { readonly [name: string]: Shape }

const probe: Shape = {
  httpGet: { path: true, port: true },
  periodSeconds: true,
  timeoutSeconds: true,
  failureThreshold: true,
}
const metadata: Shape = { name: true, labels: { app: true, part: true } }
const selector: Shape = { matchLabels: { app: true, part: true } }
const container: Shape = {
  ...{ name: true, image: true, args: [true], ports: [{ name: true, containerPort: true }] },
  env: [{ name: true, value: true, valueFrom: { secretKeyRef: { name: true, key: true, optional: true } } }],
  ...{ startupProbe: probe, livenessProbe: probe, readinessProbe: probe },
  resources: { requests: { cpu: true, memory: true }, limits: { memory: true } },
  securityContext: { allowPrivilegeEscalation: true, readOnlyRootFilesystem: true, capabilities: { drop: [true] } },
  volumeMounts: [{ name: true, mountPath: true, readOnly: true }],
}
const template: Shape = {
  metadata: { labels: { app: true, part: true } },
  spec: {
    ...{ automountServiceAccountToken: true, terminationGracePeriodSeconds: true, restartPolicy: true },
    securityContext: {
      runAsNonRoot: true,
      runAsUser: true,
      runAsGroup: true,
      fsGroup: true,
      seccompProfile: { type: true },
    },
    containers: [container],
    volumes: [
      { name: true, emptyDir: {}, secret: { secretName: true, defaultMode: true, items: [{ key: true, path: true }] } },
    ],
  },
}
const kinds: Readonly<Record<string, Shape>> = {
  'batch/v1 Job': { backoffLimit: true, template },
  'apps/v1 Deployment': {
    ...{ replicas: true, selector, template },
    strategy: { type: true, rollingUpdate: { maxUnavailable: true, maxSurge: true } },
  },
  'policy/v1 PodDisruptionBudget': { minAvailable: true, selector },
  'v1 Service': { selector: { app: true, part: true }, ports: [{ name: true, port: true, targetPort: true }] },
}
const composed: Shape = {
  ...{
    image: true,
    build: { context: true, dockerfile: true },
    command: [true],
    restart: true,
    user: true,
    read_only: true,
    profiles: [true],
  },
  ...{
    cap_drop: [true],
    security_opt: [true],
    tmpfs: [true],
    stop_grace_period: true,
    secrets: [true],
    volumes: [true],
  },
  ...{ environment: { '*': true }, ports: [true], depends_on: { '*': { condition: true } } },
  healthcheck: { test: [true], interval: true, timeout: true, start_period: true, disable: true },
}

function findStrangers(value: Any, shape: Shape, path: string): string[] {
  if (shape === true) return []
  if (Array.isArray(shape))
    return Array.isArray(value) ? value.flatMap((each, at) => findStrangers(each, shape[0], `${path}[${at}]`)) : [path]
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [path]
  return Object.entries(value).flatMap(([name, each]) => {
    const inner = (shape as Record<string, Shape>)[name] ?? (shape as Record<string, Shape>)['*']
    return inner === undefined ? [`${path}.${name}`] : findStrangers(each, inner, `${path}.${name}`)
  })
}

let manifests: Any[]
let compose: Any
let recipe: string
beforeAll(async () => {
  const read = (path: string) => readFile(join(root, 'deploy', path), 'utf8')
  manifests = parseAllDocuments(await read('kubernetes/openearn.yaml')).map((each) => each.toJS())
  compose = parse(await read('compose.yaml'), { merge: true })
  recipe = await read('Containerfile')
})

/** Settings by name; one that is taken from a secret stands for a value of its kind. */
const secrets: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgres://openearn@db.example/openearn',
  SECRETS_KEY: 'x'.repeat(32),
  OPERATOR_TOKEN: 'x'.repeat(32),
}
/** The parts of the service, and the keys that each signs with: settlements are attributed, too. */
const keys: Readonly<Record<string, string[]>> = {
  serve: ['attribution'],
  commit: ['committer'],
  solve: ['attribution', 'solver'],
}
const roles = ['serve', 'watch', 'jobs', 'commit', 'solve']
const pods = () => manifests.filter(({ spec }) => spec.template).map(({ spec }) => spec.template)

describe('the manifests for Kubernetes', () => {
  it('have members that Kubernetes knows in their kinds', () => {
    expect(manifests.map(({ kind }) => kind)).toEqual([
      'Job',
      ...roles.flatMap(() => ['Deployment', 'PodDisruptionBudget']),
      'Service',
    ])
    const deployed = manifests.filter(({ kind }) => kind === 'Deployment')
    expect(deployed.map(({ metadata: { labels } }) => labels.part)).toEqual(roles)
    for (const { metadata: named, spec } of deployed) {
      expect(named.name).toBe(`openearn-${named.labels.part}`)
      expect(spec.template.spec.containers[0].args[0]).toBe(named.labels.part)
    }
    for (const { apiVersion, kind, metadata: named, spec, ...more } of manifests) {
      expect(more).toEqual({})
      expect(findStrangers(named, metadata, 'metadata')).toEqual([])
      expect(findStrangers(spec, kinds[`${apiVersion} ${kind}`] ?? {}, kind)).toEqual([])
    }
    expect(findStrangers({ replica: 2 }, kinds['apps/v1 Deployment'] ?? {}, 'Deployment')).toEqual([
      'Deployment.replica',
    ])
  })

  it('run commands of the program with settings that it accepts, and take each secret by its name', () => {
    for (const { spec } of pods())
      for (const { args, env } of spec.containers) {
        expect(Object.keys(commands)).toContain(args[0])
        const settings = Object.fromEntries(env.map(({ name, value }: Any) => [name, value ?? secrets[name]]))
        expect(() => parseConfig(settings)).not.toThrow()
        for (const { name, value } of env) if (name in secrets) expect([name, value]).toEqual([name, undefined])
        expect(
          env.map(({ name }: Any) => name).filter((name: string) => /_KEY$/.test(name) && !(name in secrets)),
        ).toEqual([])
      }
  })

  it('run as the account of the image, write to its data folder and /tmp alone, and have no right that they do not need', () => {
    const [, user] = /^USER (\d+):\d+$/m.exec(recipe) ?? []
    const [, data] = /^VOLUME (\S+)$/m.exec(recipe) ?? []
    for (const { spec } of pods()) {
      expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: Number(user) })
      for (const { securityContext, volumeMounts } of spec.containers) {
        expect(securityContext).toEqual({
          ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
        })
        const written = volumeMounts.filter(({ readOnly }: Any) => !readOnly).map(({ mountPath }: Any) => mountPath)
        expect(written).toEqual([data, '/tmp'])
        const names = spec.volumes.map(({ name }: Any) => name)
        expect(volumeMounts.map(({ name }: Any) => name)).toEqual(names)
      }
    }
  })

  it('probe ports that the image exposes, and keep one of each part while a node is emptied', () => {
    const exposed = (/^EXPOSE (.+)$/m.exec(recipe)?.[1] ?? '').split(' ').map(Number)
    for (const { kind, metadata: named, spec } of manifests.filter(({ kind: each }) => each === 'Deployment')) {
      const [{ ports, startupProbe, livenessProbe, readinessProbe }] = spec.template.spec.containers
      for (const { containerPort } of ports) expect(exposed, kind).toContain(containerPort)
      for (const each of [startupProbe, livenessProbe])
        expect(each.httpGet).toEqual({ path: '/healthz', port: 'operator' })
      expect(readinessProbe?.httpGet.path).toBe(named.labels.part === 'serve' ? '/readyz' : undefined)
      expect(spec.selector.matchLabels).toEqual(spec.template.metadata.labels)
      const budget = manifests.find(
        ({ kind: each, metadata: of }) => each === 'PodDisruptionBudget' && of.name === named.name,
      )
      expect(budget.spec.selector).toEqual(spec.selector)
      expect(budget.spec.minAvailable).toBeLessThan(spec.replicas)
    }
  })
})

it('give each part the key that it signs with and no other, and the secret of webhooks to those that seal and deliver', () => {
  for (const { metadata: named, spec } of manifests.filter(({ kind }) => kind === 'Deployment')) {
    const { part } = named.labels
    const { containers, volumes } = spec.template.spec
    const names = containers[0].env.map(({ name }: Any) => name)
    const own = (keys[part] ?? []).map((name) => `${name}-key`)
    expect([part, names.filter((name: string) => name.endsWith('_KEY_FILE'))]).toEqual([
      part,
      own.map((name) => `${name.replace('-', '_').toUpperCase()}_FILE`),
    ])
    const files = volumes.flatMap(({ secret }: Any) => secret?.items ?? [])
    expect(files).toEqual(own.map((name) => ({ key: name, path: name })))
    const values = containers[0].env.flatMap(({ name, value }: Any) => (name.endsWith('_KEY_FILE') ? [value] : []))
    expect(values).toEqual(own.map((name) => `${containers[0].volumeMounts.at(-1).mountPath}/${name}`))
    expect([part, names.includes('SECRETS_KEY')]).toEqual([part, ['serve', 'jobs'].includes(part)])
    const { environment = {}, secrets: given = [], command } = compose.services[part]
    expect(command[0]).toBe(part)
    expect(Object.keys(environment).filter((name) => name.endsWith('_KEY_FILE'))).toHaveLength(own.length)
    expect(given).toEqual(own)
    expect([part, 'SECRETS_KEY' in environment]).toEqual([part, ['serve', 'jobs'].includes(part)])
  }
})

describe('the file for compose', () => {
  it('has members that compose knows, and runs commands of the program with settings that it accepts', () => {
    for (const [name, service] of Object.entries<Any>(compose.services)) {
      expect(findStrangers(service, composed, name)).toEqual([])
      if (name === 'database') continue
      expect(Object.keys(commands)).toContain(service.command[0])
      const settings = Object.entries<string>(service.environment).map(([key, value]) => [
        key,
        value.replaceAll(/\$\{.*?\}/g, ''),
      ])
      expect(() =>
        parseConfig({ ...Object.fromEntries(settings), DATABASE_URL: secrets['DATABASE_URL'] }),
      ).not.toThrow()
    }
    expect(Object.keys(compose.services)).toEqual(['database', 'migrate', ...roles])
  })

  it('runs as the account of the image with a root that is not written, publishes to this machine alone, and holds no secret', () => {
    const [, user] = /^USER (\d+:\d+)$/m.exec(recipe) ?? []
    for (const [name, service] of Object.entries<Any>(compose.services)) {
      for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/)
      if (name !== 'database') expect(service).toMatchObject({ user, read_only: true, cap_drop: ['ALL'] })
      for (const value of Object.values<string>(service.environment))
        expect(value.replaceAll(/\$\{[^}]*\}/g, '')).not.toMatch(/0x[\da-f]{64}|:[^@/]+@/i)
    }
  })
})
