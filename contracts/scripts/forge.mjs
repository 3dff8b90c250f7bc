// Runs the forge of the npm package, with the npm compiler, from the repository's root: node scripts/forge.mjs <arguments>
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { workspaceDir } from './solidity.mjs'

const require = createRequire(import.meta.url)
const arch = process.arch === 'x64' ? 'amd64' : process.arch
const forge = join(dirname(require.resolve(`@foundry-rs/forge-${process.platform}-${arch}/package.json`)), 'bin/forge')
const root = join(workspaceDir, '..')
const [command, ...rest] = process.argv.slice(2)
if (command === undefined) throw new Error('say what forge shall do, for example: test')

const { status, error } = spawnSync(
  forge,
  [command, '--root', root, '--use', join(workspaceDir, 'scripts', 'solc.mjs'), ...rest],
  { cwd: root, stdio: 'inherit', env: { ...process.env, FOUNDRY_CONFIG: join(workspaceDir, 'foundry.toml') } },
)
if (error) throw error
process.exit(status ?? 1)
