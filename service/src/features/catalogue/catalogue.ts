import { type AnswerCache, createAnswerCache, type Shelf } from '../../kernel/answerCache.js'
import { inSlices, type Steps } from '../../kernel/async/inSlices.js'
import { within } from '../../kernel/async/within.js'
import { systemClock } from '../../kernel/clock.js'
import type { PreparedBody } from '../../kernel/operation.js'
import type { Context } from '../../postgres/context.js'
import { type CatalogueSnapshot, joinRows, patchSnapshot } from './memory/snapshot.js'
import { prepareView } from './memory/view.js'
import { type CatalogueVersion, listenForChanges, readCatalogue, readLive, readVersion } from './store.js'

/** The catalogue of this process: an immutable snapshot, replaced as a whole when the database's version moves. */
export type Catalogue = {
  current(): CatalogueSnapshot
  /** Cached responses; those that follow from the catalogue are dropped with the snapshot. */
  readonly answers: AnswerCache
  /** Bodies made of the current snapshot. */
  readonly prepared: Shelf<PreparedBody>
  /** Reads the database again; afterwards `current()` is at least as new as the database was at the call. */
  refresh(): Promise<void>
  close(): Promise<void>
}

export type CatalogueContext = Context & { readonly catalogue: Catalogue }

/**
 * Opens the catalogue: reads it once, then follows it by NOTIFY and, should a message be lost, by comparing versions
 * every `pollMs`. A failed read keeps the last snapshot and is tried again at the next poll.
 */
export async function openCatalogue(ctx: Context, options: { pollMs?: number } = {}): Promise<Catalogue> {
  const pollMs = options.pollMs ?? 2_000
  const stopping = new AbortController()
  let snapshot = await makeReady(joinRows(await readCatalogue(ctx.db)))
  let reading: Promise<void> | undefined
  let queued: Promise<void> | undefined

  const answers = createAnswerCache()
  const swap = (next: CatalogueSnapshot) => {
    if (isOlder(next, snapshot)) return
    const isAlike = next.content === snapshot.content
    snapshot = next
    // They hold what the old snapshot was made of.
    if (!isAlike) answers.forget()
  }
  const read = async () => {
    const rows = await readCatalogue(ctx.db)
    const previous = snapshot
    swap(await makeReady(joinRows(rows, previous), previous))
  }
  // Most changes are figures that jobs pushed: those are read alone and put into the snapshot there is.
  const readChanges = async () => {
    const { version, liveVersion, live } = await readLive(ctx.db)
    if (version !== snapshot.version) await refresh()
    else {
      const previous = snapshot
      swap(await makeReady(patchSnapshot(previous, liveVersion, live), previous))
    }
  }
  // One read at a time; calls that arrive meanwhile share the next one, which starts after they asked.
  const refresh = (): Promise<void> => {
    if (!reading) {
      reading = read().finally(() => {
        reading = undefined
      })
      return reading
    }
    queued ??= reading
      .catch(() => undefined)
      .then(() => {
        queued = undefined
        return refresh()
      })
    return queued
  }
  // One look at a time as well; whatever is announced meanwhile is looked at after.
  let looking: Promise<void> | undefined
  let announced = false
  const refreshIfChanged = (): Promise<void> => {
    announced = true
    looking ??= (async () => {
      while (announced && !stopping.signal.aborted) {
        announced = false
        await look()
      }
      looking = undefined
    })()
    return looking
  }
  // A database that is away for an hour is said at once and then once a minute, not at every look.
  const saidEvery = Math.max(1, Math.round(60_000 / pollMs))
  let failures = 0
  const look = async () => {
    try {
      const { version, liveVersion } = await readVersion(ctx.db)
      if (version !== snapshot.version) await refresh()
      else if (liveVersion !== snapshot.liveVersion) await readChanges()
      if (failures > 0) ctx.log.info({ failures }, 'the catalogue is read again')
      failures = 0
    } catch (error) {
      if (!stopping.signal.aborted && failures++ % saidEvery === 0)
        ctx.log.warn({ err: error }, 'the catalogue could not be read; keeping the last')
    }
  }
  const poll = async () => {
    while (!stopping.signal.aborted) {
      await systemClock.sleep(pollMs, stopping.signal)
      if (!stopping.signal.aborted) await refreshIfChanged()
    }
  }
  const unlisten = await listenForChanges(ctx.db, () => void refreshIfChanged())
  const polling = poll()
  return {
    current: () => snapshot,
    answers,
    prepared: answers.shelf('prepared'),
    refresh,
    close: async () => {
      stopping.abort()
      await polling
      const said = unlisten().catch((error) =>
        ctx.log.debug({ err: error }, 'the database was gone before the catalogue'),
      )
      // A connection that was lost may never answer the goodbye.
      await within(said, { clock: systemClock, ms: 2_000 }, () => undefined)
      await looking
      await reading?.catch(() => undefined)
    },
  }
}

/** Makes a snapshot, and what requests need of it, while others go on being served. */
async function makeReady(steps: Steps<CatalogueSnapshot>, previous?: CatalogueSnapshot): Promise<CatalogueSnapshot> {
  const snapshot = await inSlices(steps)
  await inSlices(prepareView(snapshot, previous))
  return snapshot
}

/** Two reads may overlap; the one that saw less must not win. */
function isOlder(rows: CatalogueVersion, than: CatalogueVersion): boolean {
  return rows.version < than.version || (rows.version === than.version && rows.liveVersion < than.liveVersion)
}
