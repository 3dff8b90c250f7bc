import { cp, mkdir, mkdtemp, readdir, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * The service in a folder of its own, to be changed, beside the packages it uses. With `sdk` the sdk is a copy as well,
 * and the one the service imports.
 */
export async function copyService(more: { sdk?: boolean } = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'openearn-example-'))
  const copied = ['service/src', 'service/test', 'service/migrations', 'docs', 'tsconfig.base.json']
  const linked = ['packages', 'contracts', 'service/package.json', 'service/assets']
  if (more.sdk) {
    copied.push('sdk/src', 'sdk/test')
    linked.push('sdk/package.json', 'sdk/tsconfig.json')
    await linkModules(folder)
  } else linked.push('sdk', 'node_modules')
  for (const path of [...copied, 'service/tsconfig.test.json'])
    await cp(join(root, path), join(folder, path), { recursive: true })
  for (const path of linked) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await symlink(join(root, path), join(folder, path))
  }
  return folder
}

/** Every installed package, and of ours the sdk of the copy. */
async function linkModules(folder: string): Promise<void> {
  const from = join(root, 'node_modules')
  const to = join(folder, 'node_modules')
  await mkdir(join(to, '@openearn'), { recursive: true })
  for (const name of await readdir(from))
    if (name !== '@openearn' && !name.startsWith('.vite')) await symlink(join(from, name), join(to, name))
  for (const name of await readdir(join(from, '@openearn')))
    await symlink(name === 'sdk' ? join(folder, 'sdk') : join(from, '@openearn', name), join(to, '@openearn', name))
}

/** A module of a copy. */
// biome-ignore lint/suspicious/noExplicitAny: what a copy holds is known when it runs
export function load(folder: string, path: string): Promise<any> {
  return import(/* @vite-ignore */ pathToFileURL(join(folder, path)).href)
}
