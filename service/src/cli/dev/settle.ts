import { cancellableAsyncVaultAbi as abi } from '@openearn/contracts'
import { type Address, parseEventLogs } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { type Clock, toUnixSeconds } from '../../kernel/clock.js'
import type { Log } from '../../kernel/log.js'
import type { Shutdown } from '../../server/shutdown.js'
import { type DevChain, devAccount } from './anvil.js'
import { type Deployment, deployerIndex } from './deploy.js'

/** Long enough to cancel a request, short enough to wait for. */
const settleAfterSeconds = 30
const lookMs = 3_000

type Waiting = {
  vault: Address
  name: 'settleDeposit' | 'settleRedeem' | 'settleCancelDeposit'
  args: readonly [controller: Address, requestId: bigint]
  since: number
}

const settlements = {
  DepositRequest: 'settleDeposit',
  RedeemRequest: 'settleRedeem',
  CancelDepositRequest: 'settleCancelDeposit',
} as const

/** Plays the manager of the devnet's asynchronous vaults: settles every request half a minute after it was made. */
export function startSettling(
  chain: DevChain,
  deployment: Deployment,
  options: { clock: Clock; log: Log; shutdown: Shutdown },
): void {
  const { clock, log, shutdown } = options
  const owner = privateKeyToAccount(devAccount(deployerIndex).privateKey)
  const vaults = deployment.vaults.filter(({ kind }) => kind === 'erc7540')
  let waiting: Waiting[] = []
  let nextBlock = BigInt(Math.min(...vaults.map(({ startBlock }) => startBlock)))

  const look = async () => {
    const head = await chain.client.getBlockNumber()
    // A chain that was killed comes back without its newest blocks.
    if (head + 1n < nextBlock) nextBlock = head + 1n
    if (head >= nextBlock) {
      const address = vaults.map((vault) => vault.address)
      const logs = await chain.client.getLogs({ address, fromBlock: nextBlock, toBlock: head })
      const now = toUnixSeconds(clock.now())
      for (const { eventName, args, address: vault } of parseEventLogs({ abi, logs }))
        if (eventName in settlements && 'requestId' in args) {
          const name = settlements[eventName as keyof typeof settlements]
          waiting.push({ vault, name, args: [args.controller, args.requestId], since: now })
        }
      nextBlock = head + 1n
    }
    const due = toUnixSeconds(clock.now()) - settleAfterSeconds
    const ripe = waiting.filter(({ since }) => since <= due)
    waiting = waiting.filter(({ since }) => since > due)
    for (const request of ripe) await settle(request)
  }
  const settle = async ({ vault, name, args }: Waiting) => {
    const call = { address: vault, abi, functionName: name, args, account: owner } as const
    // Settled or cancelled meanwhile, or part of an aggregate that was: there is nothing left to do.
    const open = await chain.client.simulateContract(call as never).then(
      () => true,
      () => false,
    )
    if (open) await chain.wallet.writeContract({ ...call, chain: chain.wallet.chain, gas: 500_000n } as never)
  }
  const run = async () => {
    while (!shutdown.signal.aborted) {
      await clock.sleep(lookMs, shutdown.signal)
      if (shutdown.signal.aborted) return
      await look().catch((error) => log.warn({ err: error }, 'requests of the devnet vaults were not settled'))
    }
  }
  const running = run()
  shutdown.add('settling', () => running)
}
