import { type Address, type Hex, isAddressEqual, slice } from 'viem'
import { recoverSigner } from './signer.js'
import { decode, listCodes, readOwnMetadata, type Suffix } from './suffix.js'

/** A transaction as a node gives it. */
export type Transaction = { chainId: number; from: Address; to: Address | null; input: Hex }

/** The attributions at the end of a transaction's calldata. */
export type Inspection = {
  /** Outermost first. */
  suffixes: Suffix[]
  /** Every code, outermost suffix first, each once. */
  codes: string[]
  /** The outermost suffix with a signature of the service's form, and what it proves for this very call. */
  signature: { present: boolean; valid: boolean; signer: Address | null }
  /** One line for each thing that keeps the suffixes from counting. */
  problems: string[]
}

/**
 * Reads the suffixes of a transaction that calls its target itself, and checks the signature against the published
 * signers. Calls inside account, Safe and ERC-4337 wrappers are read by the service's debugger, not here.
 */
export async function inspect(transaction: Transaction, signers: readonly Address[]): Promise<Inspection> {
  const suffixes = decode(transaction.input)
  const codes = [...new Set(suffixes.flatMap(listCodes))]
  const problems = suffixes.flatMap((suffix) => describe(suffix) ?? [])
  if (suffixes.length === 0) problems.push('the calldata ends in no suffix')
  const body = slice(transaction.input, 0, suffixes.at(-1)?.start ?? undefined)
  const found = suffixes.map(readOwnMetadata).find((own) => own !== undefined)
  const signature = { present: found !== undefined, valid: false, signer: null as Address | null }
  if (found && transaction.to) {
    const { chainId, from: wallet, to: target } = transaction
    const signer = await recoverSigner(found, { chainId, wallet, target, call: body })
    const published = signers.find((address) => signer !== undefined && isAddressEqual(address, signer))
    if (published) Object.assign(signature, { valid: true, signer: published })
    else problems.push('no published signer signed this for this wallet, target, call and chain')
  }
  return { suffixes, codes, signature, problems }
}

function describe(suffix: Suffix): string | undefined {
  if (suffix.status === 'malformed') return `a suffix is malformed: ${suffix.reason}`
  if (suffix.status === 'unknown-schema') return `schema ${suffix.schemaId} is not known`
  return suffix.status === 'empty' ? 'a suffix names no code' : undefined
}
