import { type Hex, parseAbi, parseEventLogs } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { expect } from 'vitest'
import type { Json, openClient, Prepared } from './client.js'

const depositEvent = parseAbi([
  'event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares)',
])

export type PlannedDeposit = { account: PrivateKeyAccount; transaction: Prepared['transaction'] }

/** One approval for all of a wallet's deposits, sent at once; the deposits are for later. */
export async function planDeposits(
  client: ReturnType<typeof openClient>,
  account: PrivateKeyAccount,
  opportunity: Json,
  { distributorId, count }: { distributorId: string; count: number },
): Promise<PlannedDeposit[]> {
  const { address, decimals } = opportunity.baseToken
  const common = { userAddress: account.address, tokenIn: address, distributorId }
  const whole = 10n ** BigInt(decimals)
  const all = { ...common, amount: String(1_000n * whole) }
  const { transactions } = await client.call('POST', `/v2/actions/deposit/${opportunity.id}`, all)
  await client.send(account, transactions[0].transaction)
  const planned: PlannedDeposit[] = []
  for (let n = 1; n <= count; n++) {
    const plan = await client.call('POST', `/v2/actions/deposit/${opportunity.id}`, {
      ...common,
      amount: String(whole + BigInt(n)),
    })
    expect(plan.transactions).toHaveLength(1)
    planned.push({ account, transaction: plan.transactions[0].transaction })
  }
  return planned
}

/** What the chain itself says about the transactions sent: the recount. */
export async function readDeposits(client: ReturnType<typeof openClient>, hashes: Hex[]): Promise<string[]> {
  const lines: string[] = []
  for (const hash of hashes) {
    const receipt = await client.chain.getTransactionReceipt({ hash })
    for (const log of parseEventLogs({ abi: depositEvent, eventName: 'Deposit', logs: receipt.logs }))
      lines.push(`${hash}:${log.logIndex}:${log.args.owner}:${log.args.assets}`)
  }
  return lines
}

/** A ledger entry in the form of `readDeposits`. */
export function showEntry({ txHash, logIndex, walletAddress, amountRaw }: Json): string {
  return `${txHash}:${logIndex}:${walletAddress}:${amountRaw}`
}
