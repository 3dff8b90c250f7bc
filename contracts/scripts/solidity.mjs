// Compiles Solidity with the pinned npm compiler and fixed settings, so that the same sources give the same bytes.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import solc from 'solc'

/** The folder of this workspace. */
export const workspaceDir = join(dirname(fileURLToPath(import.meta.url)), '..')

/** The settings every build of these contracts uses. No metadata hash: bytes depend on code alone, not on comments. */
export const settings = {
  evmVersion: 'cancun',
  optimizer: { enabled: true, runs: 1000 },
  viaIR: false,
  metadata: { bytecodeHash: 'none', useLiteralContent: false },
}

/** Every .sol file under a folder, as paths relative to the workspace with forward slashes, sorted. */
export const listSolidityFiles = (dir) =>
  readdirSync(join(workspaceDir, dir), { recursive: true })
    .filter((name) => name.endsWith('.sol'))
    .map((name) => join(dir, name).split(sep).join('/'))
    .sort()

const findImport = (path) => {
  for (let dir = workspaceDir; ; dir = dirname(dir)) {
    for (const file of [join(dir, path), join(dir, 'node_modules', path)])
      if (existsSync(file)) return { contents: readFileSync(file, 'utf8') }
    if (dir === dirname(dir)) return { error: `import not found: ${path}` }
  }
}

/** Errors anywhere, and warnings about our own code: what OpenZeppelin warns of in its own is its to judge. */
const isProblem = ({ severity, sourceLocation }) =>
  severity === 'error' || (severity === 'warning' && !sourceLocation?.file.startsWith('@openzeppelin/'))

/** Compiles files of this workspace; throws with the compiler's own text on any problem. */
export const compile = (files) => {
  const sources = Object.fromEntries(
    files.map((file) => [file, { content: readFileSync(join(workspaceDir, file), 'utf8') }]),
  )
  const input = {
    language: 'Solidity',
    sources,
    settings: {
      ...settings,
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode', 'evm.deployedBytecode.object'] } },
    },
  }
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: findImport }))
  const problems = (output.errors ?? []).filter(isProblem)
  if (problems.length > 0) throw new Error(problems.map((problem) => problem.formattedMessage).join('\n'))
  return files.flatMap((file) =>
    Object.entries(output.contracts[file] ?? {}).map(([name, contract]) => ({
      name,
      file: relative(workspaceDir, join(workspaceDir, file)).split(sep).join('/'),
      abi: contract.abi,
      bytecode: `0x${contract.evm.bytecode.object}`,
      deployedBytecode: `0x${contract.evm.deployedBytecode.object}`,
      linked: Object.keys(contract.evm.bytecode.linkReferences ?? {}).length === 0,
      deployedBytes: contract.evm.deployedBytecode.object.length / 2,
    })),
  )
}
