import T from 'typebox'
import { type Caller, defineOperation, type Operation } from '../../kernel/operation.js'
import { Nullable, Uuid } from '../../kernel/wire.js'
import type { Context } from '../../postgres/context.js'
import { windowsAt } from './budget.js'
import { findKey, findUsed } from './store.js'

/** The context of GetKey. The catalogue, which has the names of organizations, is handed in. */
export type KeyContext = Context & {
  readonly catalogue: {
    current(): { readonly organizations: ReadonlyMap<string, { readonly name: string }> }
    refresh(): Promise<void>
  }
}

const Units = T.Integer({ minimum: 0 })
const perHour = 'Units an hour (UTC)'

/** A key as its holder sees it; never its text. */
const KeySchema = T.Object(
  {
    hint: T.String({
      description: 'The first 12 and the last 4 characters of the key',
      examples: ['sk_live_4Kd8…x2Qz'],
    }),
    kind: T.Enum(['publishable', 'secret']),
    organization: T.Object({ id: Uuid, name: T.String({ examples: ['Aurora'] }) }),
    distributorId: Nullable(
      T.String({ description: 'The only distributor the key may act for; null: any of its own' }),
    ),
    permissions: T.Array(T.String({ examples: ['organization:webhooks'] })),
    origins: T.Array(T.String({ examples: ['https://app.example'] }), {
      description: 'Origins that it may be used from; empty: any for a publishable key, none for a secret one',
    }),
    limits: T.Object({
      hourly: T.Integer({ minimum: 0, description: perHour, examples: [10_000] }),
      monthly: Nullable(T.Integer({ minimum: 0, description: 'Units a month (UTC); null without a cap' })),
      address: Nullable(
        T.Integer({ minimum: 0, description: `${perHour} of one client address; null without a share` }),
      ),
    }),
    used: T.Object({ hourly: Units, monthly: Units }, { description: 'Units used in this hour and this month (UTC)' }),
  },
  { title: 'Key' },
)

export const getKeyOperation: Operation<KeyContext> = defineOperation({
  operationId: 'GetKey',
  method: 'GET',
  path: '/v2/key',
  access: 'publishable',
  cost: 0,
  tag: 'Keys',
  summary: 'Show the key of this call',
  description:
    'Of whom it is, what it may do, and how much of its budget is used. Costs nothing, also when all is used.',
  responses: { 200: KeySchema },
  run: getKey,
})

async function getKey(ctx: KeyContext, _input: unknown, { keyId }: Caller) {
  const windows = windowsAt(ctx.clock.now())
  const [key, used] = await Promise.all([findKey(ctx.db, keyId), findUsed(ctx.db, keyId, windows)])
  const { organizationId, hourlyUnits: hourly, monthlyUnits: monthly, addressUnits: address, ...shown } = key
  const organization = { id: organizationId, name: await readName(ctx, organizationId) }
  return {
    ...{ ...shown, organization },
    ...{ limits: { hourly, monthly, address }, used: { hourly: used.hourUsed, monthly: used.monthUsed } },
  }
}

/** The name of an organization; one that is newer than the catalogue of this process is read first. */
async function readName({ catalogue }: KeyContext, id: string): Promise<string> {
  const find = () => catalogue.current().organizations.get(id)?.name
  if (find() === undefined) await catalogue.refresh()
  return find() ?? ''
}
