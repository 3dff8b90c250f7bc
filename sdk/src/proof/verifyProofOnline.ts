import { getMember } from '../verify/shape.js'
import type { AttributionProof, ProofTrust, ProofVerdict } from './types.js'
import { verifyProof } from './verifyProof.js'

/** A node of the reader's: EIP-1193. */
export type ProofProvider = { request(call: { method: string; params?: readonly unknown[] }): Promise<unknown> }

/**
 * Checks a proof as `verifyProof` does, with the chain and the block hash from the reader's own node: the block has to be the one
 * the node has at that height now, so a proof from an uncle or an orphaned block is refused. Throws what the node throws.
 */
export async function verifyProofOnline(
  proof: AttributionProof,
  provider: ProofProvider,
  trust: ProofTrust,
): Promise<ProofVerdict> {
  const chainId = Number(await provider.request({ method: 'eth_chainId' }))
  const named = getMember(proof, 'blockHash')
  const refused = (problem: string): ProofVerdict => ({
    ...{ ok: false, problems: [problem], chain: 'reader', block: null, entries: [] },
  })
  if (typeof named !== 'string' || !/^0x[0-9a-f]{64}$/.test(named)) return refused('the proof names no block')
  const verdict = await verifyProof(proof, { chainId, blockHash: named, trust })
  if (!verdict.ok || !verdict.block) return verdict
  const height = `0x${verdict.block.number.toString(16)}`
  const block = await provider.request({ method: 'eth_getBlockByNumber', params: [height, false] })
  const hash = getMember(block, 'hash')
  if (typeof hash === 'string' && hash.toLowerCase() === named) return verdict
  return refused('your node has another block at this height, or none')
}
