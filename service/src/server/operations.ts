import { actionOperations } from '../features/actions/index.js'
import { attributionOperations, type JudgeContext } from '../features/attribution/index.js'
import { catalogueOperations } from '../features/catalogue/index.js'
import { type EventsContext, eventOperations } from '../features/events/index.js'
import { historyOperations } from '../features/history/index.js'
import { type LedgerContext, ledgerOperations } from '../features/ledger/index.js'
import { getKeyOperation, type KeyContext } from '../features/limits/index.js'
import { membershipOperations } from '../features/membership/index.js'
import { metricsOperations } from '../features/metrics/index.js'
import { orderOperations } from '../features/orders/index.js'
import type { ActionContext } from '../features/plans/index.js'
import { type PortfolioContext, portfolioOperations } from '../features/portfolio/index.js'
import { positionsOperations } from '../features/positions/index.js'
import { statusOperations } from '../features/status/index.js'
import { type StreamContext, streamOperations } from '../features/streams/index.js'
import { swapOperations } from '../features/swap/index.js'
import type { Operation } from '../kernel/operation.js'
import type { SignatureContext } from '../wallets/signatures.js'

/** Everything the operations of the service need. */
export type ServiceContext = SignatureContext &
  JudgeContext &
  ActionContext &
  StreamContext &
  PortfolioContext &
  LedgerContext &
  EventsContext &
  KeyContext

/** Every operation there is. HTTP registration, the OpenAPI document and the limits read this list. */
export const operations: readonly Operation<ServiceContext>[] = [
  ...catalogueOperations,
  ...membershipOperations,
  ...actionOperations,
  ...swapOperations,
  ...orderOperations,
  ...ledgerOperations,
  ...historyOperations,
  ...metricsOperations,
  ...statusOperations,
  ...positionsOperations,
  ...attributionOperations,
  ...streamOperations,
  ...portfolioOperations,
  getKeyOperation,
  ...eventOperations,
]
