import type { Flow } from '@openearn/sdk/flows'
import type { FlowStore } from './flowStore.js'

/** A flow that came to its end is kept for a day. */
const dayMs = 86_400_000

type KeptFlow = { at: number; flow: Flow }

/** The flows of one slot and kind in a store. Nothing of them is believed. */
export function openKept(name: string, kind: Flow['kind'], getStore: () => FlowStore) {
  const list = async (): Promise<KeptFlow[]> =>
    (await getStore().list(name)).filter((kept): kept is KeptFlow => isFlow(kept?.flow, kind))
  return {
    /**
     * A flow that came to its end is found as well: another tab may still show a former state of it, and a word that is said there
     * must not send it again.
     */
    get: async (id: string) => (await list()).find(({ flow }) => flow.id === id)?.flow,
    put: (flow: Flow) => getStore().put(name, flow),
    remove: (id: string) => getStore().remove(name, id),
    isEmpty: async () => (await list()).length === 0,
    /** The newest flow that is not at its end. Removes old ones that are. */
    findOpen: async (isLast: (flow: Flow) => boolean): Promise<Flow | undefined> => {
      const kept = await list()
      for (const { at, flow } of kept)
        if (isLast(flow) && Math.abs(Date.now() - at) > dayMs) await getStore().remove(name, flow.id)
      return kept.find(({ flow }) => !isLast(flow))?.flow
    },
  }
}

export type KeptFlows = ReturnType<typeof openKept>

const isFlow = (value: unknown, kind: string): value is Flow =>
  typeof value === 'object' && value !== null && (value as Flow).kind === kind && typeof (value as Flow).id === 'string'
