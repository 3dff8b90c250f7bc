import { execFile } from 'node:child_process'
import { access, constants, mkdir, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Browser, chromium } from 'playwright-core'

const run = promisify(execFile)

/** Where systems and their packages put a Chromium. */
const places = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/opt/google/chrome/chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

const isThere = (path: string, mode = constants.X_OK): Promise<boolean> =>
  access(path, mode).then(
    () => true,
    () => false,
  )

type Found = { executablePath: string; libraries?: string }

/** The Chromium of this machine, else the one of the package that npm brings (Linux on x64). */
async function findChromium(): Promise<Found> {
  for (const executablePath of places) if (await isThere(executablePath)) return { executablePath }
  const { devDependencies } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'))
  const version: string = devDependencies['@sparticuz/chromium']
  const folder = join(tmpdir(), `openearn-chromium-${version}`)
  if (!(await isThere(folder))) await unpackInto(folder)
  return { executablePath: join(folder, 'chromium'), libraries: join(folder, 'al2023/lib') }
}

/** Unpacks the package's Chromium. Of several processes that do it at once, the first gives it its place. */
async function unpackInto(folder: string): Promise<void> {
  const own = `${folder}-${process.pid}`
  await mkdir(own, { recursive: true })
  // Its own libraries are unpacked where it believes that it runs on this system.
  const env = { ...process.env, TMPDIR: own, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x' }
  const program = `import('@sparticuz/chromium').then(({ default: packed }) => packed.executablePath())`
  await run(process.execPath, ['-e', program], { env, cwd: fileURLToPath(new URL('..', import.meta.url)) })
  await rename(own, folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
  })
  await rm(own, { recursive: true, force: true })
}

/** A Chromium without a window. It loads pages of this machine only: tests name no other. `more`: further words of its command. */
export async function openChromium(more: readonly string[] = []): Promise<Browser> {
  const { executablePath, libraries } = await findChromium()
  const env = process.env as Record<string, string>
  return chromium.launch({
    executablePath,
    env: libraries === undefined ? env : { ...env, LD_LIBRARY_PATH: libraries },
    // The pages are our own, and its sandbox does not start for root.
    chromiumSandbox: process.getuid?.() !== 0,
    args: ['--disable-dev-shm-usage', '--no-zygote', '--disable-gpu', ...more],
  })
}
