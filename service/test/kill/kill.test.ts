import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../contracts/test/anvil.js'
import { patient } from '../../../contracts/test/patience.js'
import { until } from '../../../contracts/test/until.js'
import { recordSigner } from '../../src/features/catalogue/storeSigners.js'
import { systemClock } from '../../src/kernel/clock.js'
import { newId } from '../../src/kernel/ids.js'
import { computeStateHash } from '../../src/server/stateHash.js'
import { findCursor } from '../../src/sync/storeCursors.js'
import { chainId, listVault, openWatchWorld, signer, type WatchWorld } from '../chain/watchWorld.js'
import { openTestDatabase, type TestDatabase } from '../database.js'
import { rebuildChain } from '../pipeline.js'
import { seededRandom } from '../seed.js'

const kills = Number(process.env['KILLS'] ?? 12)
const users = [account(1), account(2), account(3), account(4)]
const codes = ['Y2Zi7KWy', 'MpOgVDnc', undefined]
const script = fileURLToPath(new URL('./watchProcess.mjs', import.meta.url))

let killed: TestDatabase
let whole: TestDatabase
let world: WatchWorld
let child: ChildProcess | undefined

beforeAll(async () => {
  killed = await openTestDatabase()
  whole = await openTestDatabase()
  const organizationId = newId()
  for (const { db } of [killed, whole])
    await db`insert into organizations (id, name, organization_type) values (${organizationId}, 'O', 'distributor')`
  world = await openWatchWorld(killed.db, organizationId)
  for (const user of users) await world.fund(user, 1_000_000_000_000n)
  await copyCatalogue(organizationId)
}, 120_000)
afterAll(async () => {
  child?.kill('SIGKILL')
  await world?.close()
  await killed?.close()
  await whole?.close()
})

/** The same catalogue for the database that is never disturbed. */
async function copyCatalogue(organizationId: string) {
  const { db } = whole
  await db`insert into chains (chain_id, name, slug, watched) values (${chainId}, 'Devnet', 'devnet', true)`
  for (const id of ['Y2Zi7KWy', 'MpOgVDnc'])
    await db`insert into distributors (id, organization_id, active_from) values (${id}, ${organizationId}, '1970-01-01')`
  await recordSigner(db, signer.address, new Date(0))
  await listVault(db, { vault: world.vault, token: world.token })
}

/** One random action of a user, mined at once. */
async function act(turn: number): Promise<void> {
  const user = users[turn % users.length]!
  const code = codes[turn % codes.length]
  if (turn % 5 === 3) await world.transfer(user, users[(turn + 1) % users.length]!.address, 7n)
  else if (turn % 7 === 6) await world.redeem(user, 11n, code)
  else await world.deposit(user, BigInt(1_000 + turn * 13), code)
}

function start(): ChildProcess {
  const { rpc: _rpc, ...chain } = world.chain
  const input = JSON.stringify({ target: killed.target, chain, windowMax: 8 })
  return spawn(process.execPath, [script, input], { stdio: ['ignore', 'pipe', 'inherit'] })
}

/** Until a block is derived. */
const reach = (block: number) =>
  until(
    `block ${block}`,
    async () => ((await findCursor(killed.db, chainId))?.blockNumber ?? -1) >= block,
    patient(5_000),
  )

/** A moment of the program's time: whatever it does then is what the kill falls into. */
const instant = (ms: number) => systemClock.sleep(ms)

describe('a watcher that is killed again and again', () => {
  it('loses nothing and doubles nothing, in the past and at the head', async () => {
    for (const user of users) await world.deposit(user, 5_000_000n)
    for (let turn = 0; turn < 120; turn++) await act(turn)
    const stop = { acting: true }
    const live = (async () => {
      for (let turn = 120; stop.acting; turn++) {
        await act(turn)
        await instant(30)
      }
    })()
    const seen: number[] = []
    const random = seededRandom()
    for (let round = 0; round < kills; round++) {
      child = start()
      await once(child.stdout!, 'data')
      // The first half dies while the past is read, the second half at the head.
      const head = Number(await world.anvil.client.getBlockNumber())
      await reach(round < kills / 2 ? (seen.at(-1) ?? 0) + random.int(0, 12) : head - 2)
      await instant(random.next() * (round % 2 === 0 ? 150 : 700))
      child.kill('SIGKILL')
      await once(child, 'exit')
      seen.push((await findCursor(killed.db, chainId))?.blockNumber ?? -1)
    }
    stop.acting = false
    await live
    child = start()
    const head = Number(await world.anvil.client.getBlockNumber())
    await reach(head)
    child.kill('SIGKILL')
    expect(new Set(seen).size).toBeGreaterThan(2)

    const undisturbed = world.watcherOn(whole.db)
    await world.sync(undisturbed)
    const hash = await computeStateHash(whole.db, chainId)
    expect(await computeStateHash(killed.db, chainId)).toBe(hash)
    const [doubled] = await killed.db`
      select count(*)::int as count from (select from interactions group by transaction_hash, log_index having count(*) > 1) d`
    expect(doubled).toMatchObject({ count: 0 })
    expect((await rebuildChain({ db: killed.db, clock: systemClock }, { chainId })).hash).toBe(hash)
    console.log(
      `${kills} kills, head ${head}, stops at blocks ${seen.join(' ')}: state hash ${hash.slice(0, 16)}… equal`,
    )
  }, 1_800_000)

  it('is taken over by a second process that waited, and looks again every two seconds', async () => {
    const holders = () => killed.db`
      select distinct l.pid from pg_locks l join pg_database d on d.oid = l.database
      where d.datname = current_database() and l.locktype = 'advisory' and l.granted
        -- Shared locks only say which chains a process can follow.
        and l.mode = 'ExclusiveLock'`
    const first = start()
    await until('the first to hold the lock', async () => (await holders()).length === 1)
    const second = start()
    let said = ''
    second.stdout!.on('data', (chunk) => {
      said += String(chunk)
    })
    const waits = await until('the second to wait for it', () => /^waits (\d+) ms$/m.exec(said)?.[1])
    expect(Number(waits)).toBeLessThanOrEqual(2_000)
    expect(await holders()).toHaveLength(1)
    first.kill('SIGKILL')
    await act(5)
    await reach(Number(await world.anvil.client.getBlockNumber()))
    second.kill('SIGKILL')
  }, 60_000)
})
