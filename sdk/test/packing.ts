import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, rename, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))

/** The packages a service is installed from, as folders of this checkout. */
export const packageFolders = ['packages/attribution', 'packages/embedded-postgres', 'contracts', 'sdk', 'service']

/** All packages that are published: these, and those that apps alone install. */
export const publishedFolders = [...packageFolders, 'react', 'widget']

/** Packs packages as a registry would get them; answers the tarballs, in order. */
export async function pack(folders: readonly string[], into: string): Promise<string[]> {
  const tarballs: string[] = []
  for (const folder of folders) {
    const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', into], { cwd: join(root, folder) })
    tarballs.push(join(into, stdout.trim().split('\n').at(-1) ?? ''))
  }
  return tarballs
}

/** Unpacks tarballs into the `node_modules` of a folder and answers where each stands. */
export async function unpack(tarballs: readonly string[], folder: string): Promise<string[]> {
  const places: string[] = []
  for (const tarball of tarballs) {
    const half = join(folder, 'half')
    await mkdir(half, { recursive: true })
    await run('tar', ['-xzf', tarball, '-C', half, '--strip-components=1'])
    const { name } = JSON.parse(await readFile(join(half, 'package.json'), 'utf8')) as { name: string }
    const place = join(folder, 'node_modules', name)
    await mkdir(dirname(place), { recursive: true })
    await rename(half, place)
    places.push(place)
  }
  return places
}

/** Puts packages of this checkout into the `node_modules` of a folder, as links. */
export async function link(names: readonly string[], folder: string): Promise<void> {
  for (const name of names) {
    const place = join(folder, 'node_modules', name)
    await mkdir(dirname(place), { recursive: true })
    await symlink(join(root, 'node_modules', name), place)
  }
}

/** Every file of an unpacked package, as a path in it. */
export async function listFiles(place: string): Promise<string[]> {
  const entries = await readdir(place, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(place.length + 1))
    .sort()
}
