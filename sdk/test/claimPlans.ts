import { buildSuffix } from '@openearn/attribution'
import { encodeFunctionData, type Hex, parseAbi } from 'viem'
import { asset, chainId, facts, opportunityId, signerKey, toBatch, vault, wallet } from './flowModel.js'

const abi = parseAbi([
  'function deposit(uint256 assets, address receiver, address controller)',
  'function cancelDepositRequest(uint256 requestId, address controller)',
])
/** Calls of a vault whose deposits wait. */
export const calls = {
  claimDeposit: encodeFunctionData({ abi, functionName: 'deposit', args: [1_000_000n, wallet, wallet] }),
  cancelDeposit: encodeFunctionData({ abi, functionName: 'cancelDepositRequest', args: [0n, wallet] }),
}
const actionId = '0b9f0c1e-5f7d-4c39-8f4f-2a6a4d9c1b11'
/** A file of trust that has the vault. */
export const trust = {
  version: 1 as const,
  chains: [
    { ...facts, vaults: [{ opportunityId, address: vault, asset, share: vault, kind: 'erc7540', contracts: [] }] },
  ],
}

/** A plan that the trusted signer signed, for a code or without one. */
export function planOf(type: keyof typeof calls, code: string | undefined) {
  const data = calls[type]
  const suffix = code && buildSuffix({ code, actionId, chainId, wallet, target: vault, data, privateKey: signerKey })
  const whole: Hex = suffix ? `${data}${suffix.slice(2)}` : data
  const transaction = { to: vault, data: whole, value: '0', gasLimit: '300000', chainId }
  const transactions = [{ type, transaction }]
  return { actionId, transactions, batch: toBatch(transactions) }
}
