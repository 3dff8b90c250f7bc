import { readFile } from 'node:fs/promises'
import { openCatalogue } from '../features/catalogue/index.js'
import {
  findNextInstant,
  findRewardFile,
  findStream,
  listAllStreams,
  listFiles,
  listTaken,
  type PauseFlag,
  retakeSnapshot,
  updateEnd,
  updatePause,
  vetoSnapshot,
} from '../features/streams/index.js'
import { type ChangedFact, recomputeFromTables, recomputeRewards } from '../features/streams/rewards/index.js'
import { formatTs, parseTs, toUnixSeconds } from '../kernel/clock.js'
import { createOutbound } from '../kernel/outbound.js'
import type { Context } from '../postgres/context.js'
import type { Queryable } from '../postgres/pool.js'
import { openChains } from '../rpc/chains.js'
import { readChains } from '../server/readChains.js'
import { changing, withContext } from './command.js'
import { readReward, recomputeFiles } from './streamProof.js'
import { proveWallet } from './streamReward.js'
import { watchRoots } from './streamRoots.js'
import { answer, type Command, parseFlags, printTable, UsageError } from './terminal.js'

const usage = `openearn streams list
openearn streams pause ID snapshots|trees|commits|claims
openearn streams resume ID snapshots|trees|commits|claims
openearn streams veto ID
openearn streams end ID
openearn streams retake ID
openearn streams files ID
openearn streams recompute ID [--at RFC3339]
openearn streams recompute --file FILE… [--rpc URL]… [--terms HASH]
openearn streams diff FILE FILE
openearn streams prove ID WALLET [--leaf] [--out FILE]
openearn streams watch-root ID [--rpc URL]… [--file FILE]`

export const streams: Command = {
  usage,
  run: async ([verb = '', ...words]) => {
    const run = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined
    if (!run) throw new UsageError(`streams: say ${Object.keys(verbs).join(', ')}\n${usage}`)
    await run(words)
  },
}

const verbs: Readonly<Record<string, (words: string[]) => Promise<void>>> = {
  list,
  pause: (words) => setPause(words, true),
  resume: (words) => setPause(words, false),
  veto,
  end,
  retake,
  files,
  recompute,
  diff,
  prove,
  'watch-root': watchRoot,
}

const flags: Readonly<Record<string, PauseFlag>> = {
  snapshots: 'snapshotComputationPaused',
  trees: 'merkleTreeComputationPaused',
  commits: 'hashCommitmentPaused',
  claims: 'claimPaused',
}

async function list(words: string[]): Promise<void> {
  parseFlags(words, {})
  await withContext(async ({ db }) => {
    const rows = await listAllStreams(db)
    const header = ['ID', 'TYPE', 'CHAIN', 'STARTS', 'ENDS', 'PAUSED', 'ALARM']
    const cells = rows.map((row) => [
      ...[row.id, String(row.type), String(row.chainId ?? 'points'), formatTs(row.startsAt)],
      row.endsAt === null ? '' : formatTs(row.endsAt),
      Object.keys(flags)
        .filter((name) => row[flags[name] as PauseFlag])
        .join(),
      row.alarm ?? '',
    ])
    printTable(header, cells, rows)
  })
}

async function setPause(words: string[], paused: boolean): Promise<void> {
  const [id = '', step = ''] = parseFlags(words, {}, 2).positionals
  const flag = Object.hasOwn(flags, step) ? flags[step] : undefined
  if (!flag) throw new UsageError(`streams: say which step: ${Object.keys(flags).join(', ')}`)
  await change(['streams', paused ? 'pause' : 'resume', id, step], id, async ({ db, clock }) => {
    // The alarm stays: an operator who resumes the stream knows of it.
    const alarm = (await findStream(db, id))?.alarm ?? null
    await db.begin((tx) => updatePause(tx, id, { flag, paused, alarm, at: clock.now() }))
    answer({ id, step, paused }, [`${step} of ${id} ${paused ? 'are paused' : 'go on'}`])
  })
}

async function veto(words: string[]): Promise<void> {
  const [id = ''] = parseFlags(words, {}, 1).positionals
  await change(['streams', 'veto', id], id, async ({ db, clock }) => {
    const at = await db.begin((tx) => vetoSnapshot(tx, id, clock.now()))
    if (at === undefined) throw new UsageError('the stream has no snapshot that can still be vetoed')
    const instant = formatTs(new Date(at * 1_000))
    answer({ id, vetoed: instant }, [`the snapshot of ${instant} is vetoed: it is never committed`])
  })
}

async function end(words: string[]): Promise<void> {
  const [id = ''] = parseFlags(words, {}, 1).positionals
  await change(['streams', 'end', id], id, async ({ db, clock, config }) => {
    const now = clock.now()
    const endsAt = new Date(findNextInstant(toUnixSeconds(now), config.streamSnapshotSeconds) * 1_000)
    if (!(await db.begin((tx) => updateEnd(tx, id, endsAt, now))))
      throw new UsageError(`the stream ends by ${formatTs(endsAt)} anyway, or starts later`)
    answer({ id, endsAt: formatTs(endsAt) }, [`the stream ends at ${formatTs(endsAt)}`])
  })
}

async function retake(words: string[]): Promise<void> {
  const [id = ''] = parseFlags(words, {}, 1).positionals
  await change(['streams', 'retake', id], id, async (ctx, plain) => {
    // Reading the catalogue is no change: it takes transactions of its own.
    const catalogue = await openCatalogue(plain)
    try {
      const chains = openChains(createOutbound(ctx.clock), await readChains(plain))
      const result = await retakeSnapshot({ ...ctx, chains, catalogue }, id)
      if (result !== 'taken') throw new UsageError(result)
      answer({ id, retaken: true }, [`the snapshot of the end of ${id} was taken again`])
    } finally {
      await catalogue.close()
    }
  })
}

const idForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Changes a stream, on the record. */
async function change(
  words: string[],
  id: string,
  work: (ctx: Context, plain: Context) => Promise<void>,
): Promise<void> {
  if (!idForm.test(id)) throw new UsageError('streams: name the stream by its id; `openearn streams list` shows them')
  await withContext(async (ctx) => {
    if (!(await findStream(ctx.db, id))) throw new UsageError(`there is no stream ${id}`)
    await work(
      changing(ctx, words, (tx) => look(tx, id)),
      ctx,
    )
  })
}

/** A stream and the newest of its snapshots that counts. */
async function look(tx: Queryable, id: string) {
  const [stream, taken] = await Promise.all([findStream(tx, id), listTaken(tx, [id])])
  const counted = taken.get(id)?.counted
  const snapshot = counted && { id: counted.id, at: formatTs(new Date(counted.at * 1_000)), isLast: counted.isLast }
  return { ...stream, snapshot: snapshot ?? null }
}

/** The reward files of a stream: the operator listener serves each at `/streams/files/<SHA-256>`. */
async function files(words: string[]): Promise<void> {
  const [id = ''] = parseFlags(words, {}, 1).positionals
  if (!idForm.test(id)) throw new UsageError('streams files: name a stream by its id')
  await withContext(async ({ db }) => {
    const kept = await findFiles(db, id)
    const shown = kept.map(({ hash, at }) => ({ at: formatTs(at), file: hash }))
    printTable(
      ['INSTANT', 'SHA-256'],
      shown.map(({ at, file }) => [at, file]),
      shown,
    )
  })
}

/** The reward files of a stream, at least one for each snapshot. Throws UsageError with the reason if the stream has no files. */
async function findFiles(db: Queryable, id: string): Promise<{ hash: string; at: Date }[]> {
  const [stream, kept] = await Promise.all([findStream(db, id), listFiles(db, id)])
  if (!stream) throw new UsageError(`there is no stream ${id}`)
  if (kept.length === 0)
    throw new UsageError(
      'no snapshot of the stream is taken yet: the first comes once a block after its instant is final',
    )
  return kept
}

async function recompute(words: string[]): Promise<void> {
  const options = {
    file: { type: 'string', multiple: true },
    rpc: { type: 'string', multiple: true },
    at: { type: 'string' },
    terms: { type: 'string' },
  } as const
  const { values, positionals } = parseFlags(words, options, 1)
  if (values.file !== undefined) {
    await recomputeFiles(values.file, values)
    return
  }
  const [id = ''] = positionals
  if (!idForm.test(id)) throw new UsageError('streams recompute: name a stream by its id, or a --file')
  if (values.rpc !== undefined)
    throw new UsageError('--rpc goes with --file: what a node says is counted against a file')
  if (values.terms !== undefined) throw new UsageError('--terms goes with --file')
  const at = values.at === undefined ? undefined : parseTs(values.at)
  if (values.at !== undefined && !at) throw new UsageError('--at must be an RFC 3339 date-time')
  await withContext(async ({ db }) => {
    const kept = (await findFiles(db, id)).filter((file) => !at || file.at.getTime() === at.getTime())
    if (kept.length === 0)
      throw new UsageError('no snapshot was taken at that instant: `openearn streams files` shows them')
    const counts: Count[] = []
    for (const { hash, at: taken } of kept) {
      const { inputs, result } = readReward(formatTs(taken), (await findRewardFile(db, hash)) ?? '')
      const { root, total } = recomputeRewards(inputs)
      const todays = await recomputeFromTables(db, { hash, inputs })
      const isSame = root === result.root
      const isSameToday = !todays || (todays.root === result.root && !todays.changed.some(isHolding))
      const note = isSameToday
        ? ''
        : `; by today's tables it is ${todays.root ?? 'no root'}: different ${todays.changed.join(', ') || 'rules'}`
      counts.push({ name: formatTs(taken), root, total, kept: result.root, isSame, note })
    }
    report(counts)
  })
}

/** Holdings are derived of final blocks, and never change; a price may come later. */
const isHolding = (fact: ChangedFact): boolean => fact === 'balances' || fact === 'lots'

type Count = { name: string; root: string | null; total: bigint; kept: string | null; isSame: boolean; note: string }

function report(counts: readonly Count[]): void {
  const lines = counts.map(
    ({ name, root, total, isSame, note }) =>
      `${name}  ${root ?? 'no root'}  ${total}  ${isSame ? 'as kept' : 'DIFFERS'}${note}`,
  )
  const results = counts.map(({ isSame, total, note, ...count }) => ({
    ...count,
    total: String(total),
    same: isSame,
    note,
  }))
  answer(results, lines)
  if (counts.some(({ isSame }) => !isSame)) process.exitCode = 1
}

async function diff(words: string[]): Promise<void> {
  const { positionals } = parseFlags(words, {}, 2)
  const [first, second] = positionals
  if (first === undefined || second === undefined) throw new UsageError('streams diff: name two reward files')
  const [before, after] = await Promise.all(
    [first, second].map(async (file) => readLeaves(file, await readFile(file, 'utf8'))),
  )
  const wallets = [...new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])])].sort()
  const changes = wallets.flatMap((wallet) => {
    const [was, is] = [before?.get(wallet) ?? 0n, after?.get(wallet) ?? 0n]
    return was === is ? [] : [{ wallet, before: String(was), after: String(is) }]
  })
  const cells = changes.map(({ wallet, before: was, after: is }) => [wallet, was, is])
  printTable(['WALLET', 'BEFORE', 'AFTER'], cells, changes)
}

async function prove([id = '', ...words]: string[]): Promise<void> {
  if (!idForm.test(id)) throw new UsageError('streams prove: name a stream by its id')
  await proveWallet(id, words)
}

async function watchRoot([id = '', ...words]: string[]): Promise<void> {
  if (!idForm.test(id)) throw new UsageError('streams watch-root: name a stream by its id')
  await watchRoots(id, words)
}

const readLeaves = (name: string, text: string): ReadonlyMap<string, bigint> =>
  new Map(readReward(name, text).result.leaves.map(({ wallet, cumulative }) => [wallet, cumulative]))
