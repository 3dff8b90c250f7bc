import type { OrderSettings, WalletCode } from '../features/solver/index.js'
import type { Config } from '../kernel/config.js'
import type { ChainContext } from '../rpc/chains.js'
import { devnetChainId } from '../rpc/devnet.js'
import { createSender, type Sender, type SenderCaps } from '../rpc/sender/index.js'
import type { Signer } from '../rpc/signer.js'

const gwei = 1_000_000_000n

/** Limits of the cost of transactions on a chain, by its settings. */
export function readCaps({
  gasPriceMaxGwei,
  spendingMaxGwei,
}: Pick<Config, 'gasPriceMaxGwei' | 'spendingMaxGwei'>): SenderCaps {
  return { gasPrice: BigInt(gasPriceMaxGwei) * gwei, spending: BigInt(spendingMaxGwei) * gwei }
}

/** Limits of the cost of settlements, by the settings. With only a devnet, strangers are no risk. */
export function readSolverLimits(
  config: Config,
  chainIds: readonly number[],
): Required<Pick<OrderSettings, 'costMax' | 'limits' | 'wallets'>> {
  const usual = chainIds.every((chainId) => chainId === devnetChainId) ? 'any' : 'listed'
  return {
    costMax: BigInt(config.settlementMaxGwei) * gwei,
    wallets: config.trustedWallets.map(parseWallet),
    limits: {
      worthFactor: config.settlementWorthFactor,
      tokens: config.settlementTokens ?? usual,
      fillsPerHour: config.settlementsPerHour,
      riskPercent: config.settlementRiskPercent,
      lossPercent: config.settlementLossPercent,
      budget: readCaps(config).spending,
    },
  }
}

function parseWallet(pair: string): WalletCode {
  const [singleton = '', handler = ''] = pair.toLowerCase().split(':')
  return { singleton, handler }
}

/** Sends what is queued for a key, chain by chain: a job of each chain. */
export function createSending(signer: Signer): (ctx: ChainContext) => Promise<void> {
  const senders = new Map<number, Sender>()
  return async (ctx) => {
    const caps = readCaps(ctx.config)
    for (const [chainId, chain] of ctx.chains) {
      const sender = senders.get(chainId) ?? createSender(ctx, { chain, signer, caps })
      senders.set(chainId, sender)
      await sender.step()
    }
  }
}
