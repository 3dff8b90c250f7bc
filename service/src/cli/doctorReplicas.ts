import { lastEventOf } from '../features/events/index.js'
import { ConfigError } from '../kernel/config.js'
import type { Context } from '../postgres/context.js'
import { isWell } from '../postgres/reading.js'
import { openReplicas, type Replica } from '../postgres/replicas.js'
import { countReplicaConnections } from '../server/connectionCount.js'
import { findDatabaseFacts } from '../server/storeDatabaseFacts.js'
import type { CheckResult } from './doctorPrices.js'

const what = 'production: replicas'
const advice =
  'name in DATABASE_READ_URLS each server that replicates DATABASE_URL by its own address, and give it connections; docs/runbook.md, "Replicas"'

/** Says of each replica whether it is read, and whether a process that serves finds connections there. */
export async function examineReplicas({ config, db, log }: Context): Promise<CheckResult[]> {
  const { databaseReadUrls: urls, databasePoolSize, patience } = config
  if (urls.length === 0) return []
  try {
    const replicas = await openReplicas(db, { urls, log, lastEventOf, patience })
    try {
      return [await judgeReplicas(replicas.list, countReplicaConnections(databasePoolSize))]
    } finally {
      await replicas.end()
    }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return [{ what, well: false, detail: error.message, advice }]
  }
}

/** In a cluster whose servers are all named, the one that leads takes writes: that is no fault while another is read. */
async function judgeReplicas(list: readonly Replica[], needed: number): Promise<CheckResult> {
  const read = list.filter((replica) => isWell(replica.state()))
  const leading = list.filter((replica) => replica.leads() && read.length > 0)
  const rooms = await Promise.all(read.map(async (replica) => ({ replica, left: await countLeft(replica) })))
  const scarce = rooms.filter(({ left }) => left < needed)
  const told = list.map((replica) => `${replica.name} ${replica.describe()}`)
  told.push(
    ...scarce.map(({ replica, left }) => `${replica.name} has ${left} connections for the ${needed} of one serve`),
  )
  return {
    what,
    well: read.length + leading.length === list.length && scarce.length === 0,
    detail: told.join('; '),
    advice,
  }
}

async function countLeft({ db }: Replica): Promise<number> {
  const { connectionsMax, connectionsReserved, others } = await findDatabaseFacts(db)
  return connectionsMax - connectionsReserved - others
}
