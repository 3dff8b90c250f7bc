import {
  findUserId,
  listMembers,
  listMembershipEvents,
  listWallets,
  removeMembership,
  updateWalletUser,
  type Wallet,
} from '../features/membership/operator.js'
import { formatTs } from '../kernel/clock.js'
import type { Config } from '../kernel/config.js'
import type { Queryable } from '../postgres/pool.js'
import { changing, withContext } from './command.js'
import { answer, type Command, formatTable, parseFlags, printTable, UsageError } from './terminal.js'

const usage = `openearn members list [--limit N]
openearn members show WALLET
openearn members link WALLET MEMBER      WALLET joins the user of MEMBER; both are members already
openearn members unlink WALLET           WALLET is no member any more
A wallet is its address after its ecosystem: evm:0x…, solana:…, ton:…`

export const members: Command = {
  usage,
  run: async ([verb, ...words]) => {
    if (verb === 'list') return list(words)
    if (verb === 'show') return show(words)
    if (verb === 'link') return link(words)
    if (verb === 'unlink') return unlink(words)
    throw new UsageError(`members: say list, show, link or unlink\n${usage}`)
  },
}

const header = ['WALLET', 'USER', 'JOINED', 'SIGNED UP THROUGH']

async function list(words: string[]): Promise<void> {
  const { values } = parseFlags(words, { limit: { type: 'string' } })
  const limit = values.limit ?? '100'
  if (!/^[1-9][0-9]{0,6}$/.test(limit)) throw new UsageError('--limit must be a whole number of at least 1')
  await withContext(async ({ db }) => {
    const rows = await listMembers(db, Number(limit))
    printTable(header, rows.map(toRow), rows)
  })
}

async function show(words: string[]): Promise<void> {
  await withContext(async ({ db, config }) => {
    const wallet = await readWallet(parseFlags(words, {}, 1).positionals[0], config)
    const userId = await findUserId(db, wallet)
    if (userId === undefined) throw noMember(wallet)
    const wallets = await listWallets(db, userId)
    const events = await listMembershipEvents(db, userId)
    const eventRows = events.map((event) => [formatTs(event.at), event.kind, formatWallet(event)])
    answer({ userId, wallets, events }, [
      ...formatTable(header, wallets.map(toRow)),
      '',
      ...formatTable(['AT', 'WHAT', 'WALLET'], eventRows),
    ])
  })
}

async function link(words: string[]): Promise<void> {
  await withContext(async (ctx) => {
    const [first, second] = parseFlags(words, {}, 2).positionals
    const [wallet, member] = [await readWallet(first, ctx.config), await readWallet(second, ctx.config)]
    const { db, clock } = changing(ctx, ['members', 'link', ...words], (tx) => readUser(tx, wallet))
    for (const one of [wallet, member]) if ((await findUserId(db, one)) === undefined) throw noMember(one)
    if (!(await updateWalletUser(db, wallet, member, clock.now()))) throw noMember(wallet)
    const userId = await findUserId(db, member)
    answer({ ...wallet, userId }, [`${formatWallet(wallet)} belongs to user ${userId}`])
  })
}

async function unlink(words: string[]): Promise<void> {
  await withContext(async (ctx) => {
    const wallet = await readWallet(parseFlags(words, {}, 1).positionals[0], ctx.config)
    const { db, clock } = changing(ctx, ['members', 'unlink', ...words], (tx) => readUser(tx, wallet))
    if (!(await removeMembership(db, wallet, clock.now()))) throw noMember(wallet)
    answer(wallet, [`${formatWallet(wallet)} is no member any more; it may join again`])
  })
}

/** Whose a wallet is, as it is recorded with a change. */
async function readUser(tx: Queryable, wallet: Wallet): Promise<unknown> {
  const userId = await findUserId(tx, wallet)
  return userId === undefined ? null : { wallet: formatWallet(wallet), userId }
}

/** Loads the addresses of every ecosystem, which `members list` has no use for. */
async function readWallet(text: string | undefined, config: Config): Promise<Wallet> {
  const { ecosystems, parseWallet } = await import('../features/membership/index.js')
  const at = text?.indexOf(':') ?? -1
  const ecosystem = ecosystems.find((name) => name === text?.slice(0, at))
  if (text === undefined || ecosystem === undefined)
    throw new UsageError(`members: name the wallet as ecosystem:address\n${usage}`)
  return parseWallet(ecosystem, text.slice(at + 1), config)
}

function formatWallet({ ecosystem, address }: Wallet): string {
  return `${ecosystem}:${address}`
}

function noMember(wallet: Wallet): UsageError {
  return new UsageError(`${formatWallet(wallet)} is no member`)
}

function toRow(row: Wallet & { userId: string; joinedAt: Date; signupDistributorId: string | null }): string[] {
  return [formatWallet(row), row.userId, formatTs(row.joinedAt), row.signupDistributorId ?? '']
}
