import type { Flow } from './flow.js'
import { isHex } from './state.js'

const texts = ['id', 'kind', 'status', 'wallet'] as const
const kinds = ['deposit', 'withdraw', 'claim', 'cancel', 'swap', 'order', 'claimRewards', 'join']

/**
 * A stored flow, copied: it is data and nothing else. That it has the form of a flow is all that is said of it; each request to
 * the wallet is compared with its plan again.
 * @throws TypeError if it has not that form.
 */
export function parseFlow(value: unknown): Flow {
  const flow = JSON.parse(JSON.stringify(value ?? null)) as Record<string, unknown> | null
  if (typeof flow !== 'object' || flow === null || Array.isArray(flow) || flow['version'] !== 1)
    throw new TypeError('this is no flow of this version')
  for (const name of texts) if (typeof flow[name] !== 'string') throw new TypeError(`the flow has no ${name}`)
  if (!kinds.includes(String(flow['kind']))) throw new TypeError('there is no such kind of flow')
  if (!isHex(flow['wallet'], 20)) throw new TypeError('the flow has no wallet')
  if (!Number.isSafeInteger(flow['chainId'])) throw new TypeError('the flow has no chain')
  const { actionIds, position } = flow
  if (actionIds !== undefined && !(Array.isArray(actionIds) && actionIds.every((each) => typeof each === 'string')))
    throw new TypeError('the flow has ids that are none')
  if (position !== undefined && !(Number.isSafeInteger(position) && Number(position) >= 0))
    throw new TypeError('the flow has no position')
  return flow as unknown as Flow
}
