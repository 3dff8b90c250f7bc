import { findOrder, listOrders, showOrder } from '../features/orders/index.js'
import { answer, type Command, parseFlags, parseWhole, printTable, UsageError, withContext } from './command.js'

const usage = `openearn orders list [--chain CHAIN_ID] [--organization ID] [--limit N]
openearn orders show ID
list shows the newest swap orders and what became of each, show one of them with the transaction that ends it.`

export const orders: Command = {
  summary: 'list swap orders and show what became of one',
  usage,
  run: async ([verb, ...words]) => {
    if (verb === 'list') return list(words)
    if (verb === 'show') return show(words)
    throw new UsageError(`orders: say list or show\n${usage}`)
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
  const [id = ''] = parseFlags(words, {}, 1).positionals
  if (!uuidForm.test(id))
    throw new UsageError('orders show: name the order by its id; `openearn orders list` shows them')
  await withContext(async ({ db }) => {
    const order = await findOrder(db, id.toLowerCase())
    if (!order) throw new UsageError(`there is no order ${id}`)
    const shown = await showOrder(db, order)
    const { cancellation, txHashes, ...rest } = shown
    answer(shown, [
      ...Object.entries(rest).map(([name, value]) => `${name.padEnd(14)}${value ?? ''}`),
      `${'txHashes'.padEnd(14)}${txHashes.join(' ')}`,
      `${'cancellation'.padEnd(14)}${cancellation.data} to ${cancellation.to}`,
    ])
  })
}
