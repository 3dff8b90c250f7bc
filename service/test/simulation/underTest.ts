import { tell } from '../../src/features/events/index.js'
import { type LedgerRows, tellEntries } from '../../src/features/ledger/index.js'
import { systemClock } from '../../src/kernel/clock.js'
import { silentLog } from '../../src/kernel/log.js'
import type { Database, Transaction } from '../../src/postgres/pool.js'
import type { Node } from '../../src/rpc/node.js'
import { computeStateHash } from '../../src/server/stateHash.js'
import { createPipeline, rebuildChain, rewindChain } from '../pipeline.js'
import { createWatcher, type Reaction, type Sink, type Watcher } from '../sink.js'

/** All that the simulation uses of how the service follows a chain. */

export type { Sink, Watcher }

/** A chain in a database. */
export type Place = { db: Database; chainId: number }

/** What is done in the transaction in which rows were derived, or taken back. */
export type Inside = {
  onWritten(tx: Transaction, entryIds: readonly string[]): Promise<void>
  onRewound(tx: Transaction): Promise<void>
}

const contextOf = ({ db }: Place) => ({ db, clock: systemClock, log: silentLog })

export function openSink(place: Place, inside: Inside): Sink {
  const reaction: Reaction = {
    name: 'inside',
    onBlocks: (tx, _chainId, _blocks, rows) =>
      inside.onWritten(
        tx,
        (rows.get('ledger') as LedgerRows[]).flatMap(({ interactions }) => interactions.map(({ id }) => id)),
      ),
    onRewind: (tx) => inside.onRewound(tx),
  }
  const { chainId } = place
  return createPipeline(contextOf(place), {
    chainId,
    reactions: [reaction, tellEntries(tell, systemClock)],
    backfillWindow: 8,
  })
}

export function watch(input: {
  chainId: number
  confirmations: number
  node: Node
  sink: Sink
  random: () => number
}): Watcher {
  const { chainId, confirmations, ...rest } = input
  const chain = { chainId, confirmations, finalityDepth, reorgRecheckSeconds: 0 }
  return createWatcher({ ...rest, chain, clock: systemClock, log: silentLog, windowMax: 16, calmMs: 0 })
}

/** Blocks after which one is final where the node does not say. */
export const finalityDepth = 80

/** What an operator does: takes a chain back to a block. */
export async function rewind(place: Place, to: number): Promise<void> {
  await rewindChain(contextOf(place), { chainId: place.chainId, to })
}

/** The same: derives everything of a chain again. Answers the hash of its state. */
export async function rebuild(place: Place): Promise<string> {
  return (await rebuildChain(contextOf(place), { chainId: place.chainId })).hash
}

export const hashState = ({ db, chainId }: Place): Promise<string> => computeStateHash(db, chainId)
