import { formatTs } from '../kernel/clock.js'
import type { Queryable } from '../postgres/pool.js'
import {
  cancelOutgoing,
  findOutgoing,
  listOutgoing,
  listSenders,
  type OutgoingRow,
  releaseSender,
} from '../rpc/sender/index.js'
import { changing, withContext } from './command.js'
import { answer, type Command, parseFlags, parseWhole, print, printTable, UsageError } from './terminal.js'

const usage = `openearn sender list [--chain CHAIN_ID] [--all] [--limit N]
openearn sender cancel ID
openearn sender release ADDRESS --chain CHAIN_ID
list shows the transactions this installation sends itself and that are not over, with --all also those that are.
cancel takes one that is queued out of the queue; of one that is sent already it asks for an empty transaction in its place.
release lets a key go on that stopped because it has transactions that are not ours: they are taken as they are.`

export const sender: Command = {
  usage,
  run: async ([verb, ...words]) => {
    if (verb === 'list') return list(words)
    if (verb === 'cancel') return cancel(words)
    if (verb === 'release') return release(words)
    throw new UsageError(`sender: say list, cancel or release\n${usage}`)
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
    for (const { chainId: on, address, stopped } of await listSenders(db))
      if (stopped !== null && (chainId === undefined || on === chainId))
        print(`the key ${address} is stopped on ${on}: ${stopped}`)
  })
}

function toRow({ id, chainId, state, cancelling, nonce, createdAt, purpose, held, reason }: OutgoingRow): string[] {
  const now = state === 'sent' && cancelling ? 'cancelling' : state
  return [
    id,
    String(chainId),
    now,
    nonce === null ? '' : String(nonce),
    formatTs(createdAt),
    purpose,
    [held, reason].filter(Boolean).join(': '),
  ]
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

async function release(words: string[]): Promise<void> {
  const { values, positionals } = parseFlags(words, { chain: { type: 'string' } }, 1)
  const [address = ''] = positionals
  const chainId = parseWhole(values.chain, 1)
  if (!/^0x[0-9a-f]{40}$/i.test(address) || chainId === undefined)
    throw new UsageError(
      'sender release: name the address of the key and its --chain; `openearn sender list` shows them',
    )
  const key = { chainId, address: address.toLowerCase() }
  await withContext(async (ctx) => {
    const look = async (tx: Queryable) =>
      (await listSenders(tx)).find((each) => each.chainId === chainId && each.address === key.address)
    const { db } = changing(ctx, ['sender', 'release', address, '--chain', String(chainId)], look)
    const isReleased = await db.begin((tx) => releaseSender(tx, key, ctx.clock.now()))
    if (!isReleased) throw new UsageError(`the key ${address} is not stopped on ${chainId}`)
    answer({ ...key, released: true }, [
      `${address} goes on at the next look: its transactions on ${chainId} so far are taken as they are`,
    ])
  })
}
