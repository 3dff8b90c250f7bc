import { verifyMerkleProof } from '@ethereumjs/mpt'
import { bytesToHex, type Hex, hexToBytes, numberToHex, toRlp } from 'viem'

/** What another library than the codec reads at a place of a block's list by a path; undefined where the path proves nothing. */
export async function readIndependently(
  root: Hex,
  { index, path }: { index: number; path: readonly string[] },
): Promise<Hex | undefined> {
  const key = toRlp(index === 0 ? '0x' : numberToHex(index), 'bytes')
  const nodes = path.map((node) => hexToBytes(node as Hex))
  const found = await verifyMerkleProof(key, nodes, { useKeyHashing: false, root: hexToBytes(root) }).catch(() => null)
  return found ? bytesToHex(found) : undefined
}
