import { execFile } from 'node:child_process'
import { chown, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { until } from '../../../contracts/test/until.js'
import { root } from '../documents.js'
import { account, find, type Program, run, takePorts, untilAnswers } from './programs.js'

const exec = promisify(execFile)
const deploy = join(root, 'deploy/patroni')
const passwords = { superuser: 'super-secret', replication: 'replicate-secret', rewind: 'rewind-secret' }

type Member = { name: string; role: string; state: string; lag?: number | string }
type Node = { name: string; env: Record<string, string>; rest: number; port: number; data: string; program: Program }

export type Cluster = Awaited<ReturnType<typeof openCluster>>

/** Three servers of PostgreSQL under Patroni and etcd, by the configuration of `deploy/patroni`. */
export async function openCluster(folder: string) {
  const own = async (path: string) => {
    await mkdir(path, { recursive: true })
    if (account.uid !== undefined) await chown(path, account.uid, account.gid ?? 0)
    return path
  }
  await own(folder)
  const ports = await takePorts(12)
  const etcds = await startEtcd(folder, own, ports.slice(0, 6))
  const hosts = etcds.map(({ client }) => `127.0.0.1:${client}`).join()
  const config = join(folder, 'patroni.yml')
  await copyFile(join(deploy, 'patroni.yml'), config)
  const start = (name: string, env: Record<string, string>) => run('patroni', [config], { folder, log: name, env })
  const nodes: Node[] = []
  for (const [index, name] of ['pg1', 'pg2', 'pg3'].entries()) {
    const [rest = 0, port = 0] = ports.slice(6 + 2 * index)
    const data = join(await own(join(folder, name)), 'data')
    const env = {
      ...nodeEnv(name, { rest, port, data, hosts }),
      PATRONI_POSTGRESQL_PGPASS: join(folder, `${name}.pgpass`),
    }
    nodes.push({ name, env, rest, port, data, program: start(name, env) })
  }
  const nodeOf = (name: string): Node => {
    const node = nodes.find((each) => each.name === name)
    if (!node) throw new Error(`no node ${name}`)
    return node
  }
  const members = async (): Promise<Member[]> => {
    for (const { rest } of nodes) {
      const told = await fetch(`http://127.0.0.1:${rest}/cluster`).then(
        (answer) => answer.json() as Promise<{ members: Member[] }>,
        () => undefined,
      )
      if (told) return told.members
    }
    return []
  }
  const leader = async () => (await members()).find(({ role, state }) => role === 'leader' && state === 'running')?.name
  /** Until one leads and two follow it, one of them in step with it. */
  const whole = () =>
    until(
      'a leader with two followers',
      async () => {
        const all = await members()
        const follow = all.filter(({ role, state }) => role !== 'leader' && ['running', 'streaming'].includes(state))
        const isInStep = all.some(({ role }) => role === 'sync_standby')
        return isInStep && follow.length === 2 && follow.every(({ lag }) => lag === 0) && (await leader())
      },
      12_000,
    )
  /** As when its machine loses its power: Patroni and its server end at once. */
  const killNode = async (name: string) => {
    const { program, data } = nodeOf(name)
    const postmaster = Number((await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n')[0])
    await program.kill('SIGKILL')
    process.kill(postmaster, 'SIGKILL')
  }
  return {
    ...{ nodes, etcds, members, leader, whole, killNode, nodeOf, passwords },
    startNode: (name: string) => {
      const node = nodeOf(name)
      node.program = start(name, node.env)
    },
    switchover: async (from: string, to: string) => {
      const words = ['-c', config, 'switchover', 'openearn', '--master', from, '--candidate', to, '--force']
      return (
        await exec(find('patronictl'), words, {
          env: { ...nodeOf(from).env, PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8' },
        })
      ).stdout
    },
    etcdLeader: async () => {
      const told = await Promise.all(
        etcds.map(async (each) => {
          const said = await fetch(`http://127.0.0.1:${each.client}/v3/maintenance/status`, {
            method: 'POST',
            body: '{}',
          })
            .then((answer) => answer.json() as Promise<{ leader: string; header: { member_id: string } }>)
            .catch(() => undefined)
          return said && said.leader === said.header.member_id ? each : undefined
        }),
      )
      return told.find((each) => each !== undefined)
    },
    close: async () => {
      for (const { program, data } of nodes) {
        await program.kill('SIGKILL')
        const pid = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')
        if (pid) await end(Number(pid.split('\n')[0]))
      }
      for (const { program } of etcds) await program.kill('SIGKILL')
    },
  }
}

/** Ends a server at once, and waits until it is gone. */
async function end(pid: number): Promise<void> {
  const isGone = (signal: NodeJS.Signals | 0) => {
    try {
      process.kill(pid, signal)
      return false
    } catch {
      return true
    }
  }
  if (!isGone('SIGQUIT')) await until('a server to end', () => isGone(0))
}

async function startEtcd(folder: string, own: (path: string) => Promise<string>, ports: readonly number[]) {
  const names = ['etcd1', 'etcd2', 'etcd3']
  const peerOf = (index: number) => `http://127.0.0.1:${ports[3 + index]}`
  const cluster = names.map((name, index) => `${name}=${peerOf(index)}`).join()
  const started = []
  for (const [index, name] of names.entries()) {
    const client = ports[index] ?? 0
    const words = Object.entries({
      name,
      'data-dir': await own(join(folder, name)),
      'listen-client-urls': `http://127.0.0.1:${client}`,
      'advertise-client-urls': `http://127.0.0.1:${client}`,
      'listen-peer-urls': peerOf(index),
      'initial-advertise-peer-urls': peerOf(index),
      'initial-cluster': cluster,
      'initial-cluster-state': 'new',
    }).flatMap(([word, value]) => [`--${word}`, value])
    const start = () => run('etcd', words, { folder, log: name })
    started.push({ name, client, program: start(), start })
  }
  for (const { name, client, program } of started)
    await untilAnswers(name, `http://127.0.0.1:${client}/health`, program)
  return started
}

function nodeEnv(
  name: string,
  at: { rest: number; port: number; data: string; hosts: string },
): Record<string, string> {
  return {
    PATRONI_NAME: name,
    PATRONI_RESTAPI_LISTEN: `127.0.0.1:${at.rest}`,
    PATRONI_RESTAPI_CONNECT_ADDRESS: `127.0.0.1:${at.rest}`,
    PATRONI_POSTGRESQL_LISTEN: `127.0.0.1:${at.port}`,
    PATRONI_POSTGRESQL_CONNECT_ADDRESS: `127.0.0.1:${at.port}`,
    PATRONI_POSTGRESQL_DATA_DIR: at.data,
    PATRONI_POSTGRESQL_BIN_DIR: '/usr/lib/postgresql/15/bin',
    PATRONI_ETCD3_HOSTS: at.hosts,
    PATRONI_SUPERUSER_USERNAME: 'postgres',
    PATRONI_SUPERUSER_PASSWORD: passwords.superuser,
    PATRONI_REPLICATION_USERNAME: 'replicator',
    PATRONI_REPLICATION_PASSWORD: passwords.replication,
    PATRONI_REWIND_USERNAME: 'rewinder',
    PATRONI_REWIND_PASSWORD: passwords.rewind,
  }
}

/** haproxy before the servers and three processes that serve, and PgBouncer before its port of the primary. */
export async function openProxies(
  folder: string,
  { nodes }: Pick<Cluster, 'nodes'>,
  served: readonly { port: number; ops: number }[],
) {
  const [primary = 0, replicas = 0, api = 0, pooled = 0] = await takePorts(4)
  const env: Record<string, string> = {
    PRIMARY_BIND: `127.0.0.1:${primary}`,
    REPLICAS_BIND: `127.0.0.1:${replicas}`,
    API_BIND: `127.0.0.1:${api}`,
  }
  for (const [index, { port, rest }] of nodes.entries()) {
    env[`PG${index + 1}`] = `127.0.0.1:${port}`
    env[`PG${index + 1}_REST`] = String(rest)
  }
  for (const [index, { port, ops }] of served.entries()) {
    env[`SERVE${index + 1}`] = `127.0.0.1:${port}`
    env[`SERVE${index + 1}_OPS`] = String(ops)
  }
  const config = join(folder, 'haproxy.cfg')
  await copyFile(join(deploy, 'haproxy.cfg'), config)
  const haproxy = run('haproxy', ['-f', config], { folder, log: 'haproxy', env })
  const users = join(folder, 'userlist.txt')
  await writeFile(users, '"openearn" "secret"\n')
  const settings = (await readFile(join(deploy, 'pgbouncer.ini'), 'utf8'))
    .replace('port=5000', `port=${primary}`)
    .replace('listen_port = 6432', `listen_port = ${pooled}`)
    .replace('/etc/pgbouncer/userlist.txt', users)
  const file = join(folder, 'pgbouncer.ini')
  await writeFile(file, settings)
  const startBouncer = () => run('pgbouncer', [file], { folder, log: 'pgbouncer' })
  const proxies = { primary, replicas, api, pooled, haproxy, bouncer: startBouncer() }
  return {
    ...proxies,
    restartBouncer: async () => {
      await proxies.bouncer.kill('SIGKILL')
      proxies.bouncer = startBouncer()
    },
    close: async () => {
      await proxies.bouncer.kill('SIGKILL')
      await haproxy.kill('SIGKILL')
    },
  }
}
