import type { TellStates } from '../../postgres/context.js'
import { inTransaction } from '../../postgres/pool.js'
import { recordFacts } from './storeOutbox.js'
import { listToldStates, recordToldStates, tryGroup } from './storeToldStates.js'

/** Says in `told_states` that a group was looked at before. */
const marker = ''

/** Tells of changed states. The first look at a group tells nothing: what held before it is the past. */
export const tellStates: TellStates = (db, group, read) =>
  inTransaction(db, async (tx) => {
    if (!(await tryGroup(tx, group))) return
    const states = await read(tx)
    const told = await listToldStates(tx, group, [marker, ...states.map(({ id }) => id)])
    const changed = states.filter(({ id, state }) => told.get(id) !== state)
    const isFirst = !told.has(marker)
    if (changed.length === 0 && !isFirst) return
    await recordToldStates(tx, group, [...changed, ...(isFirst ? [{ id: marker, state: '' }] : [])])
    if (!isFirst)
      await recordFacts(
        tx,
        changed.flatMap(({ id, facts }) => facts(told.get(id))),
      )
  })
