import type { FastifyInstance, FastifyRequest } from 'fastify'
import { listChanges } from '../../features/audit/index.js'
import { listKeys } from '../../features/auth/index.js'
import { tellImports } from '../../features/catalogue/differences/index.js'
import { listSettlements } from '../../features/solver/index.js'
import { listChainStatus, listJobStatus, listVaultStatus } from '../../features/status/index.js'
import { listAwaiting } from '../../features/streams/index.js'
import type { Context } from '../../postgres/context.js'
import { listOutgoing, listSenders, sumSpending } from '../../rpc/sender/index.js'
import { defaultVetoSeconds } from '../jobs.js'
import { readCaps } from '../sender.js'

/** Most rows of a list that grows for ever. */
const rowsMax = 200
/** Imports have many rows each. */
const importsMax = 20
const dayMs = 86_400_000

type ListOptions = {
  admit: (request: FastifyRequest) => void
  /** The chains whose jobs are told. */
  chains: readonly number[]
}

type List = () => Promise<{ data: readonly unknown[]; limit?: number }>

/**
 * The lists that an operator reads, as `/ops/v1/{name}.json`: `at` is when it was read, `limit` how many rows it has at most.
 * Amounts are in the smallest unit. Nothing there changes anything.
 */
export function addLists(app: FastifyInstance, ctx: Context, { admit, chains }: ListOptions): void {
  for (const [name, read] of Object.entries(listsOf(ctx, chains)))
    app.get(`/ops/v1/${name}.json`, async (request, reply) => {
      admit(request)
      const at = ctx.clock.now()
      const text = JSON.stringify({ at, ...(await read()) }, (_name, value) =>
        typeof value === 'bigint' ? String(value) : value,
      )
      return reply.header('Cache-Control', 'no-store').send(Buffer.from(text))
    })
}

function listsOf({ db, clock, config }: Context, chains: readonly number[]): Readonly<Record<string, List>> {
  const vetoSeconds = config.vetoSeconds ?? defaultVetoSeconds(chains)
  return {
    chains: async () => ({ data: await listChainStatus(db, clock.now()) }),
    vaults: async () => ({ data: await listVaultStatus(db, clock.now(), {}) }),
    jobs: async () => ({ data: await listJobStatus(db, chains) }),
    senders: async () => ({ data: await listSpenders({ db, clock, config }) }),
    transactions: async () => {
      const rows = await listOutgoing(db, { isOpen: true, limit: rowsMax })
      return { data: rows.map(({ data, ...row }) => row), limit: rowsMax }
    },
    settlements: async () => ({ data: await listSettlements(db, rowsMax), limit: rowsMax }),
    streams: async () => ({ data: await listAwaiting(db, { vetoSeconds, now: clock.now() }) }),
    imports: async () => {
      const imports = await listChanges(db, importsMax, 'catalogue import ')
      return { data: tellImports(imports), limit: importsMax }
    },
    changes: async () => ({ data: await listChanges(db, rowsMax), limit: rowsMax }),
    keys: async () => ({ data: (await listKeys(db, undefined)).map(({ origins, permissions, ...key }) => key) }),
  }
}

/** Senders with the amount that each has spent, or may still spend by what it signed, in 24 hours, and the most it may. */
async function listSpenders({ db, clock, config }: Pick<Context, 'db' | 'clock' | 'config'>) {
  const spentDayMax = readCaps(config).spending
  const since = new Date(clock.now().getTime() - dayMs)
  const senders = await listSenders(db)
  return Promise.all(
    senders.map(async (sender) => ({ ...sender, spentDay: await sumSpending(db, sender, since), spentDayMax })),
  )
}
