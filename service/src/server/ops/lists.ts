import type { FastifyInstance, FastifyRequest } from 'fastify'
import { listChanges } from '../../features/audit/index.js'
import { listKeys } from '../../features/auth/index.js'
import { listChainStatus, listJobStatus } from '../../features/status/index.js'
import type { Context } from '../../postgres/context.js'
import { listSenders } from '../../rpc/sender/index.js'

const changesMax = 200

type ListOptions = {
  admit: (request: FastifyRequest) => void
  /** The chains whose jobs are told. */
  chains: readonly number[]
}

/** The lists that an operator reads, as `/ops/v1/{name}.json`. Nothing there changes anything. */
export function addLists(app: FastifyInstance, { db, clock }: Context, { admit, chains }: ListOptions): void {
  const lists: Readonly<Record<string, () => Promise<readonly unknown[]>>> = {
    chains: () => listChainStatus(db, clock.now()),
    jobs: () => listJobStatus(db, chains),
    senders: () => listSenders(db),
    changes: () => listChanges(db, changesMax),
    keys: async () => (await listKeys(db, undefined)).map(({ origins, permissions, ...key }) => key),
  }
  for (const [name, read] of Object.entries(lists))
    app.get(`/ops/v1/${name}.json`, async (request, reply) => {
      admit(request)
      return reply.header('Cache-Control', 'no-store').send(Buffer.from(JSON.stringify({ data: await read() })))
    })
}
