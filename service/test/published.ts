import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Abi, Hex } from 'viem'

const require = createRequire(import.meta.url)

const readArtifact = (path: string) => JSON.parse(readFileSync(require.resolve(path), 'utf8'))
const toHex = (code: string): Hex => (code.startsWith('0x') ? (code as Hex) : `0x${code}`)

/** ABI and bytecode of a contract, as its npm package has them. */
export function readPublished(path: string): { abi: Abi; bytecode: Hex } {
  const { abi, bytecode } = readArtifact(path)
  return { abi, bytecode: toHex(bytecode) }
}

/** The code of a contract as it is on a chain, by its npm package. */
export const readPublishedRuntime = (path: string): Hex => toHex(readArtifact(path).deployedBytecode)
