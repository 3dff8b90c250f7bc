import { findOrder, listOrders, showOrder, stopOrder } from '../features/orders/index.js'
import { changing, withContext } from './command.js'
import { answer, type Command, parseFlags, parseWhole, printTable, UsageError } from './terminal.js'

const usage = `openearn orders list [--chain CHAIN_ID] [--organization ID] [--limit N]
openearn orders show ID
openearn orders stop ID
list shows the newest swap orders and what became of each, show one of them with the transaction that ends it and what the
solver made of it. stop has an order settled here no more; who holds its signature may still fill it on the chain.`

export const orders: Command = {
  usage,
  run: async ([verb, ...words]) => {
    if (verb === 'list') return list(words)
    if (verb === 'show') return show(words)
    if (verb === 'stop') return stop(words)
    throw new UsageError(`orders: say list, show or stop\n${usage}`)
  },
}

const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const header = ['ID', 'STATUS', 'CHAIN', 'DISTRIBUTOR', 'WALLET', 'SELLS', 'FILLED', 'EXPIRES', 'WHY']

async function list(words: string[]): Promise<void> {
  const { values } = parseFlags(words, {
    chain: { type: 'string' },
    organization: { type: 'string' },
    limit: { type: 'string' },
  })
  const limit = parseWhole(values.limit ?? '100', 1)
  if (limit === undefined) throw new UsageError('--limit must be a whole number of at least 1')
  const chainId = parseWhole(values.chain, 1)
  if (values.chain !== undefined && chainId === undefined) throw new UsageError('--chain must be the id of a chain')
  const organizationId = values.organization
  if (organizationId !== undefined && !uuidForm.test(organizationId))
    throw new UsageError('--organization must be the id of an organization; `openearn orgs list` shows them')
  await withContext(async ({ db }) => {
    const found = await listOrders(db, { organizationId, chainId, limit })
    const shown = await Promise.all(found.map((order) => showOrder(db, order)))
    const cells = shown.map((order) => [
      ...[order.orderId, order.status, String(order.chainId), order.distributorId, order.userAddress],
      ...[`${order.amountIn} ${order.tokenIn}`, order.filledIn, order.expiresAt, order.error ?? ''],
    ])
    printTable(header, cells, shown)
  })
}

async function show(words: string[]): Promise<void> {
  const id = parseId('show', words)
  await withContext(async ({ db }) => {
    const order = await findOrder(db, id)
    if (!order) throw new UsageError(`there is no order ${id}`)
    const shown = await showOrder(db, order)
    const { cancellation, txHashes, attempts, ...rest } = shown
    answer(shown, [
      ...Object.entries(rest).map(([name, value]) => `${name.padEnd(14)}${value ?? ''}`),
      `${'txHashes'.padEnd(14)}${txHashes.join(' ')}`,
      `${'cancellation'.padEnd(14)}${cancellation.data} to ${cancellation.to}`,
      ...attempts.map(({ at, outcome, detail }) => `${'attempt'.padEnd(14)}${at} ${outcome}: ${detail}`),
    ])
  })
}

const stopped = 'the operator stopped it'

async function stop(words: string[]): Promise<void> {
  const id = parseId('stop', words)
  await withContext(async (ctx) => {
    const { db } = changing(ctx, ['orders', 'stop', id], (tx) => findOrder(tx, id))
    const isStopped = await db.begin((tx) => stopOrder(tx, id, { at: ctx.clock.now(), why: stopped }))
    if (!isStopped) throw new UsageError(`there is no order ${id} that was submitted and is not stopped`)
    answer({ id, stopped: true }, [
      `stopped ${id}: nothing more is queued for it, and a settlement that is not mined is cancelled at the next block`,
    ])
  })
}

function parseId(verb: string, words: string[]): string {
  const [id = ''] = parseFlags(words, {}, 1).positionals
  if (!uuidForm.test(id))
    throw new UsageError(`orders ${verb}: name the order by its id; \`openearn orders list\` shows them`)
  return id.toLowerCase()
}
