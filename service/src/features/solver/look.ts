import type { Chain, ChainContext, Chains } from '../../rpc/chains.js'
import type { Header } from '../../rpc/raw.js'
import type { Signer } from '../../rpc/signer.js'
import type { CatalogueContext, ChainRecord } from '../catalogue/index.js'
import type { AttemptOutcome } from '../orders/index.js'
import type { Deployed } from '../swap/index.js'
import type { SolverLimits } from './guard.js'
import type { QuoteTurns } from './quotes.js'
import type { TrustedWallets, WalletCode } from './wallets.js'

export type OrderSettings = {
  /** The key that settles; absent: orders are looked at, and none is settled here. */
  solver: Signer | undefined
  /** The most a settlement may cost, in the smallest unit of the native token. */
  costMax: bigint
  /** Limits that keep a stranger from spending the solver's daily budget; absent: `usualLimits`. */
  limits?: SolverLimits
  /** Code of contract wallets that is vouched for besides the published ones. */
  wallets?: readonly WalletCode[]
  /** The chains that settlements are simulated on: strangers choose the code that runs there. Absent: those of the look. */
  trialChains?: Chains
}

export type OrderJobContext = ChainContext & CatalogueContext & { readonly attributionSigner: Signer | undefined }

/** The parts of one look at the orders of a chain. */
export type Look = {
  ctx: OrderJobContext
  chain: Chain
  trialChain: Chain
  record: ChainRecord
  head: Header
  settings: OrderSettings & { limits: SolverLimits; trustedWallets: TrustedWallets }
  exchanges: WeakMap<object, Deployed>
  turns: QuoteTurns
  /** Outcomes of orders, by id: stored when the look ends, also when it fails. */
  made: Map<string, { outcome: AttemptOutcome; detail: string }>
}
