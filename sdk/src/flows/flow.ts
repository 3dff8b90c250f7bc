import type { ClaimFlow } from './claimFlow.js'
import type { JoinFlow } from './joinFlow.js'
import type { OrderFlow } from './orderState.js'
import type { PlanFlow } from './state.js'

/** A flow of any kind, as data. */
export type Flow = PlanFlow | OrderFlow | ClaimFlow | JoinFlow
