import { cancellableAsyncVaultAbi as abi } from '@openearn/contracts'
import { type Address, encodeFunctionData, isAddressEqual, parseEventLogs } from 'viem'
import { patience } from '../../../contracts/test/patience.js'
import { until } from '../../../contracts/test/until.js'
import { devAccount } from '../../src/cli/dev/anvil.js'
import { deployerIndex } from '../../src/cli/dev/deploy.js'
import { type Json, openClient } from './client.js'
import type { Dev } from './process.js'

const settlements = { DepositRequest: 'settleDeposit', RedeemRequest: 'settleRedeem' } as const

/**
 * Keeps the devnet's manager from settling anything, so that a request waits for as long as a test needs: its key has nothing to pay
 * a transaction with. Returns what gives that back. A request that came due meanwhile is settled by `settleRequests` alone.
 */
export async function holdSettlements(dev: Dev): Promise<() => Promise<void>> {
  const { chain, request } = openClient(dev)
  const { address } = devAccount(deployerIndex)
  const before = await chain.getBalance({ address })
  await request('anvil_setBalance', [address, '0x0'])
  return async () => {
    await request('anvil_setBalance', [address, `0x${before.toString(16)}`])
  }
}

/**
 * Settles what a wallet asked the devnet's asynchronous vault for, as its manager does half a minute after each request, and waits
 * until the service tells that it may be claimed.
 */
export async function settleRequests(dev: Dev, wallet: Address): Promise<void> {
  const { chain, request, call } = openClient(dev)
  const { vaultAddress: vault } = dev.opportunities.find(({ kind }) => kind === 'erc7540')!
  const { address: owner } = devAccount(deployerIndex)
  const logs = await chain.getLogs({ address: vault, fromBlock: 0n })
  for (const { eventName, args } of parseEventLogs({ abi, logs })) {
    if (eventName !== 'DepositRequest' && eventName !== 'RedeemRequest') continue
    if (!isAddressEqual(args.controller, wallet)) continue
    const asked = { abi, functionName: settlements[eventName], args: [args.controller, args.requestId] } as const
    const isOpen = await chain.simulateContract({ ...asked, address: vault, account: owner }).then(
      () => true,
      () => false,
    )
    // The node signs and numbers it: the devnet's own manager may settle another request at the same moment.
    const transaction = { from: owner, to: vault, data: encodeFunctionData(asked), gas: '0x7a120' }
    if (isOpen) await request('eth_sendTransaction', [transaction])
  }
  await until(
    'the request to be settled',
    async () => {
      const { requests } = await call('GET', `/v2/wallets/${wallet}/requests`)
      return requests.some(({ state }: Json) => state === 'claimable')
    },
    6_000 * patience,
  )
}
