import { streamAbi } from '@openearn/contracts'
import { decodeFunctionData, type Hex } from 'viem'
import type { Database } from '../../src/postgres/pool.js'
import type { Random } from './random.js'

/** A root as `updateRoot` of the contract of a stream takes it. */
export type Root = { root: string; at: number; total: bigint }

type Form = { id: string; contract: string; root: Root | null }
type Mined = Form & { success: boolean }
type Block = { number: number; time: number; mined: Mined[] }

const confirmations = 4
export const finality = 24

/**
 * A chain with contracts of streams, and a sender with a pool, by their rules alone: blocks come and are reorganised away,
 * transactions are mined, dropped, put back, cancelled and forgotten. It writes into the tables what the sender of the
 * service and its watcher would.
 */
export function createModel(
  db: Database,
  random: Random,
  { chainId, head, time }: { chainId: number; head: number; time: number },
) {
  const blocks: Block[] = [{ number: head, time, mined: [] }]
  /** Forms of a transaction that can be mined: its own, and an empty one in its place. */
  const pool = new Map<string, Form[]>()
  /** Those a sender does not look at again, though a reorganisation dropped them after they were over. */
  const forgotten = new Set<string>()
  let nonce = 0
  let followed = head
  const figures = { mined: 0, reverted: 0, reorgs: 0, dropped: 0, cancelled: 0, ghosts: 0 }
  const tip = (): Block => blocks.at(-1) as Block

  /** The roots of a contract, oldest first: what `RootUpdated` said. */
  const rootsOf = (contract: string): Root[] =>
    blocks.flatMap(({ mined }) =>
      mined.flatMap((each) => (each.contract === contract && each.success && each.root ? [each.root] : [])),
    )

  /** Whether `updateRoot` would succeed in the next block. */
  const isTaken = (contract: string, { at, total }: Root): boolean => {
    const current = rootsOf(contract).at(-1)
    return at <= tip().time + 12 && at > (current?.at ?? 0) && total >= (current?.total ?? 0n)
  }

  const findMined = (id: string) => {
    for (const { number, mined } of blocks) for (const each of mined) if (each.id === id) return { number, ...each }
    return undefined
  }

  const listRows = () => db<{ id: string; state: string; cancelling: boolean; contract: string; data: Hex }[]>`
    select id, state, cancelling, hex_text(target) as contract, hex_text(data) as data from outgoing_transactions
    order by created_at, id`

  const mine = (): void => {
    const block: Block = { number: tip().number + 1, time: tip().time + 12, mined: [] }
    blocks.push(block)
    for (const [id, forms] of pool) {
      if (random.chance(0.3)) continue
      const form = random.pick(forms)
      const success = form.root === null || isTaken(form.contract, form.root)
      block.mined.push({ ...form, success })
      pool.delete(id)
      figures.mined += 1
      if (!success) figures.reverted += 1
    }
  }

  const reorganise = (depth: number): void => {
    const first = tip().number - depth + 1
    if (first <= head) return
    const gone = blocks.splice(blocks.findIndex(({ number }) => number === first))
    figures.reorgs += 1
    for (const { mined } of gone)
      for (const { id, contract, root } of mined) {
        figures.dropped += 1
        if (random.chance(0.4)) pool.set(id, [{ id, contract, root }])
        else if (random.chance(0.6)) forgotten.add(id)
      }
    followed = Math.min(followed, first - 1)
    for (let count = 0; count <= depth; count++) mine()
  }

  /** What the sender does with each transaction; `reopens`: whether it looks at those that are over until they are final. */
  const send = async (reopens: boolean): Promise<void> => {
    for (const { id, state, cancelling, contract, data } of await listRows()) {
      if (state === 'failed') continue
      const { args } = decodeFunctionData({ abi: streamAbi, data })
      const [root, at, total] = args as unknown as [string, number, bigint]
      const own: Form = { id, contract, root: { root, at: Number(at), total } }
      const mined = findMined(id)
      if (state === 'queued') {
        if (own.root && !isTaken(contract, own.root))
          await db`update outgoing_transactions set state = 'failed', reason = 'it would revert' where id = ${id}`
        else if (random.chance(0.8)) {
          nonce += 1
          await db`update outgoing_transactions set state = 'sent', nonce = ${nonce} where id = ${id} and state = 'queued'`
          pool.set(id, [own])
        }
      } else if (state === 'sent') {
        if (!mined) pool.set(id, cancelling ? [own, { ...own, root: null }] : (pool.get(id) ?? [own]))
        else if (tip().number - mined.number + 1 >= confirmations) await conclude(id, mined)
      } else if (concluded.has(id) && !forgotten.has(id) && !mined && reopens && !pool.has(id) && random.chance(0.7))
        await db`update outgoing_transactions set state = 'sent' where id = ${id} and nonce is not null`
      else if (mined && state === 'cancelled' && mined.root !== null && !ghosts.has(id)) {
        ghosts.add(id)
        figures.ghosts += 1
      }
    }
  }
  const ghosts = new Set<string>()
  const concluded = new Set<string>()

  const conclude = async (id: string, { number, root, success }: Mined & { number: number }): Promise<void> => {
    const state = root === null ? 'cancelled' : success ? 'confirmed' : 'reverted'
    if (state === 'cancelled') figures.cancelled += 1
    concluded.add(id)
    await db`
      update outgoing_transactions set state = ${state}, block_number = ${number}, transaction_hash = '\\x01'
      where id = ${id} and state = 'sent'`
  }

  /** What the watcher does: roots of new blocks, none of those that are gone, and the cursor. */
  const follow = async (streams: ReadonlyMap<string, string>): Promise<void> => {
    await db`
      delete from stream_events where chain_id = ${chainId} and kind = 'root' and block_number > ${followed}`
    for (const { number, time: at, mined } of blocks.filter((block) => block.number > followed))
      for (const [index, { contract, root, success }] of mined.entries()) {
        const streamId = streams.get(contract)
        if (!success || !root || streamId === undefined) continue
        await db`
          insert into stream_events (chain_id, block_number, block_timestamp, log_index, stream_id, kind,
            transaction_hash, root, root_at, total)
          values (${chainId}, ${number}, to_timestamp(${at}), ${index}, ${streamId}, 'root', '\\x02',
            hex_bytes(${root.root}), to_timestamp(${root.at}), ${String(root.total)})`
      }
    followed = tip().number
    await db`
      update chain_cursors set block_number = ${followed}, head_number = ${followed},
        block_timestamp = to_timestamp(${tip().time}), finalized_number = greatest(finalized_number, ${followed - finality})
      where chain_id = ${chainId}`
  }

  return {
    ...{ figures, rootsOf, mine, reorganise, send, follow },
    now: () => tip().time,
    /** Time passes in blocks of 12 s. */
    pass: (to: number) => {
      while (tip().time < to) mine()
    },
  }
}
