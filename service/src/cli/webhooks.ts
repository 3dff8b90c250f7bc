import {
  createWebhook,
  deleteWebhook,
  findOrganizationOf,
  listWebhookRows,
  listWebhooks,
  replayWebhook,
  testWebhook,
  type WebhookContext,
} from '../features/events/index.js'
import type { Caller } from '../kernel/operation.js'
import type { Context, Written } from '../postgres/context.js'
import { inTransaction, type Queryable } from '../postgres/pool.js'
import { openSealing } from '../server/sealing.js'
import { changing, withContext } from './command.js'
import { answer, type Command, parseFlags, printTable, requireFlag, UsageError } from './terminal.js'

const usage = `openearn webhooks add URL --org ID [--type NAME]… [--late]
openearn webhooks list --org ID
openearn webhooks test ID
openearn webhooks replay ID --after CURSOR
openearn webhooks remove ID
    They use SECRETS_KEY and WEBHOOKS_ALLOWED as the service does. CURSOR: \`next\` of GetEvents, or the cursor of an event`

export const webhooks: Command = {
  usage,
  run: async ([verb, ...words]) => {
    if (verb === 'add') return add(words)
    if (verb === 'list') return list(words)
    if (verb === 'test') return test(words)
    if (verb === 'replay') return replay(words)
    if (verb === 'remove') return remove(words)
    throw new UsageError(`webhooks: say add, list, test, replay or remove\n${usage}`)
  },
}

const callerOf = (organizationId: string): Caller => ({
  ...{ keyId: '', kind: 'secret', organizationId, distributorId: null },
  permissions: ['organization:webhooks'],
})

const withSealing = (ctx: Context): WebhookContext => {
  const { secretsKey } = ctx.config
  return { ...ctx, sealing: secretsKey === undefined ? undefined : openSealing(secretsKey) }
}

/** Runs the write of an operation, with a record of who ran the command. */
async function write<Body>(
  ctx: Context,
  words: readonly string[],
  { body, write: work }: Written<Body>,
  look: (tx: Queryable) => Promise<unknown>,
): Promise<Body> {
  await inTransaction(changing(ctx, ['webhooks', ...words], look).db, work)
  return body
}

async function add(words: string[]): Promise<void> {
  const { values, positionals } = parseFlags(
    words,
    { org: { type: 'string' }, type: { type: 'string', multiple: true }, late: { type: 'boolean' } },
    1,
  )
  const [url] = positionals
  if (url === undefined) throw new UsageError('webhooks add: name the url that takes the events')
  const organizationId = requireFlag(values.org, 'org')
  await withContext(async (ctx) => {
    await assertOrganization(ctx, organizationId)
    const caller = callerOf(organizationId)
    const made = await createWebhook(
      withSealing(ctx),
      { url, types: values.type ?? [], late: values.late ?? false },
      caller,
    )
    const look = (tx: Queryable) => listWebhookRows(tx, caller.organizationId)
    const { secret, ...webhook } = await write(ctx, ['add', ...words], made, look)
    answer({ ...webhook, secret }, [
      `id      ${webhook.id}`,
      `secret  ${secret}`,
      'The secret is shown this once. It verifies the header webhook-signature (Standard Webhooks 1.0.0).',
    ])
  })
}

async function assertOrganization(ctx: Context, organizationId: string): Promise<void> {
  const { findOrganization } = await import('../features/catalogue/operator/index.js')
  if (!(await findOrganization(ctx.db, organizationId)))
    throw new UsageError(`there is no organization ${organizationId}; \`openearn orgs list\` shows them`)
}

async function list(words: string[]): Promise<void> {
  const { values } = parseFlags(words, { org: { type: 'string' } })
  const organizationId = requireFlag(values.org, 'org')
  await withContext(async (ctx) => {
    await assertOrganization(ctx, organizationId)
    const { data } = await listWebhooks(ctx, {}, callerOf(organizationId))
    printTable(
      ['ID', 'URL', 'TYPES', 'STATE', 'LAST DELIVERY', 'FAILING'],
      data.map((each) => {
        const state = each.enabled ? 'enabled' : each.disabledReason || 'switched off'
        return [each.id, each.url, each.types.join(' ') || 'all', state, each.lastDeliveryAt ?? '', `${each.failing}`]
      }),
      data,
    )
  })
}

/** The webhook that a command names, and a caller of its organization. */
async function findNamed(ctx: Context, id: string | undefined, verb: string): Promise<{ id: string; caller: Caller }> {
  if (id === undefined) throw new UsageError(`webhooks ${verb}: name the webhook by its id`)
  const organizationId = await findOrganizationOf(ctx.db, id)
  if (organizationId === undefined)
    throw new UsageError(`there is no webhook ${id}; \`openearn webhooks list --org ID\` shows them`)
  return { id, caller: callerOf(organizationId) }
}

async function test(words: string[]): Promise<void> {
  const { positionals } = parseFlags(words, {}, 1)
  await withContext(async (ctx) => {
    const { id, caller } = await findNamed(ctx, positionals[0], 'test')
    const { body, write: work } = await testWebhook(withSealing(ctx), { webhookId: id }, caller)
    await inTransaction(ctx.db, work)
    answer(body, [
      body.error === '' ? `taken with ${body.status} in ${body.durationMs} ms` : `not taken: ${body.error}`,
    ])
    if (body.error !== '') process.exitCode = 1
  })
}

async function replay(words: string[]): Promise<void> {
  const { values, positionals } = parseFlags(words, { after: { type: 'string' } }, 1)
  const after = requireFlag(values.after, 'after')
  await withContext(async (ctx) => {
    const { id, caller } = await findNamed(ctx, positionals[0], 'replay')
    const made = await replayWebhook(ctx, { webhookId: id, after }, caller)
    const body = await write(ctx, ['replay', ...words], made, async () => ({ webhook: id, after }))
    answer(body, [`the events after ${after} are sent to ${body.url} again`])
  })
}

async function remove(words: string[]): Promise<void> {
  const { positionals } = parseFlags(words, {}, 1)
  await withContext(async (ctx) => {
    const { id, caller } = await findNamed(ctx, positionals[0], 'remove')
    const look = (tx: Queryable) => listWebhookRows(tx, caller.organizationId)
    const body = await write(ctx, ['remove', ...words], await deleteWebhook(ctx, { webhookId: id }, caller), look)
    answer(body, [`removed ${id} (${body.url})`])
  })
}
