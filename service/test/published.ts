import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Abi, Hex } from 'viem'

const require = createRequire(import.meta.url)

/** ABI and bytecode of a contract, as its npm package has them. */
export function readPublished(path: string): { abi: Abi; bytecode: Hex } {
  const { abi, bytecode } = JSON.parse(readFileSync(require.resolve(path), 'utf8'))
  return { abi, bytecode: bytecode.startsWith('0x') ? bytecode : `0x${bytecode}` }
}
