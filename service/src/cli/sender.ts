import { formatTs } from '../kernel/clock.js'
import { cancelOutgoing, findOutgoing, listOutgoing, type OutgoingRow } from '../rpc/sender/index.js'
import {
  answer,
  type Command,
  changing,
  parseFlags,
  parseWhole,
  printTable,
  UsageError,
  withContext,
} from './command.js'

const usage = `openearn sender list [--chain CHAIN_ID] [--all] [--limit N]
openearn sender cancel ID
list shows the transactions this installation sends itself and that are not over, with --all also those that are.
cancel takes one that is queued out of the queue; of one that is sent already it asks for an empty transaction in its place.`

export const sender: Command = {
  summary: 'list and cancel the transactions this installation sends',
  usage,
  run: async ([verb, ...words]) => {
    if (verb === 'list') return list(words)
    if (verb === 'cancel') return cancel(words)
    throw new UsageError(`sender: say list or cancel\n${usage}`)
  },
}

const header = ['ID', 'CHAIN', 'STATE', 'NONCE', 'SINCE', 'FOR', 'WHY']

async function list(words: string[]): Promise<void> {
  const { values } = parseFlags(words, {
    chain: { type: 'string' },
    all: { type: 'boolean' },
    limit: { type: 'string' },
  })
  const limit = parseWhole(values.limit ?? '100', 1)
  if (limit === undefined) throw new UsageError('--limit must be a whole number of at least 1')
  const chainId = parseWhole(values.chain, 1)
  if (values.chain !== undefined && chainId === undefined) throw new UsageError('--chain must be the id of a chain')
  await withContext(async ({ db }) => {
    const rows = await listOutgoing(db, {
      ...(chainId === undefined ? {} : { chainId }),
      ...{ isOpen: values.all !== true, limit },
    })
    printTable(header, rows.map(toRow), rows)
  })
}

function toRow({ id, chainId, state, cancelling, nonce, createdAt, purpose, reason }: OutgoingRow): string[] {
  const now = state === 'sent' && cancelling ? 'cancelling' : state
  return [id, String(chainId), now, nonce === null ? '' : String(nonce), formatTs(createdAt), purpose, reason ?? '']
}

async function cancel(words: string[]): Promise<void> {
  const [id = ''] = parseFlags(words, {}, 1).positionals
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id))
    throw new UsageError('sender cancel: name the transaction by its id; `openearn sender list` shows them')
  await withContext(async (ctx) => {
    const { db } = changing(ctx, ['sender', 'cancel', id], (tx) => findOutgoing(tx, id))
    const now = await db.begin((tx) => cancelOutgoing(tx, id))
    if (!now) throw new UsageError(`there is no transaction ${id} that is not over`)
    answer({ id, state: now }, [
      now === 'cancelled'
        ? `cancelled ${id}; it was never sent`
        : `${id} is being cancelled: an empty transaction is sent in its place, and whichever is mined first counts`,
    ])
  })
}
