import type { World } from '../wallet/world.js'
import { advanceClaim } from './claimFlow.js'
import type { Flow } from './flow.js'
import { advanceJoin } from './joinFlow.js'
import { advanceOrder } from './orderFlow.js'
import { parseFlow } from './parseFlow.js'
import { advancePlan } from './planFlow.js'
import { isOwn, type PlanFlow, planKinds, type Word } from './state.js'

const isPlan = (flow: Flow): flow is PlanFlow => planKinds.some((kind) => kind === flow.kind)

/**
 * Brings a flow one step further, and returns its next state; the same state where nothing is to be done without a word of the
 * user. Store the state that it returns before you advance that: the wallet is asked by the step after the one that says
 * `asking`, and a stored `asking` never asks.
 * @throws TypeError if the value is no flow.
 */
export async function advance(given: Flow, world: World, word?: Word): Promise<Flow> {
  const flow = isOwn(given) ? given : parseFlow(given)
  if (isPlan(flow)) return advancePlan(flow, world, word)
  switch (flow.kind) {
    case 'order':
      return advanceOrder(flow, world, word)
    case 'claimRewards':
      return advanceClaim(flow, world, word)
    case 'join':
      return advanceJoin(flow, world, word)
  }
}
