import { formatTs } from '../../kernel/clock.js'
import type { Context, StateNow, TellStates } from '../../postgres/context.js'
import { listBusyKeys } from './store.js'

/** Shares of a budget whose use is told, in percent. */
const steps = [80, 100] as const

/** Tells organizations that a key has used 80 or 100 percent of its hour or its month, once in each. */
export async function tellBudgets({ db, clock }: Pick<Context, 'db' | 'clock'>, tellStates: TellStates): Promise<void> {
  const at = clock.now()
  await tellStates(db, 'budgets', async (tx) =>
    (await listBusyKeys(tx, { at, percent: steps[0] })).map((busy): StateNow => {
      const { keyId, hint, organizationId, window, startsAt, limit, used } = busy
      const percent = steps.findLast((step) => used * 100 >= limit * step) ?? steps[0]
      const data = { id: keyId, hint, window, since: formatTs(startsAt), limit, used, percent }
      const fact = {
        ...{ type: 'key.budget', at, chainId: null, organizationId, data },
        subject: { kind: 'key', id: keyId } as const,
      }
      return { id: `${keyId} ${window}`, state: `${formatTs(startsAt)} ${percent}`, facts: () => [fact] }
    }),
  )
}
