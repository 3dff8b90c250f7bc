import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../contracts/test/anvil.js'
import { computeStateHash } from '../../src/features/audit/index.js'
import { recordSigner } from '../../src/features/catalogue/storeSigners.js'
import { systemClock } from '../../src/kernel/clock.js'
import { newId } from '../../src/kernel/ids.js'
import { rebuildChain } from '../../src/pipeline/index.js'
import { findCursor } from '../../src/sync/storeCursors.js'
import { chainId, listVault, openWatchWorld, signer, type WatchWorld } from '../chain/watchWorld.js'
import { openTestDatabase, type TestDatabase } from '../database.js'

const kills = Number(process.env['KILLS'] ?? 20)
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

/** Waits until a block is derived. */
async function reach(block: number): Promise<void> {
  for (let tries = 0; ((await findCursor(killed.db, chainId))?.blockNumber ?? -1) < block; tries++) {
    if (tries > 2_000) throw new Error(`block ${block} was never reached`)
    await systemClock.sleep(50)
  }
}

describe('a watcher that is killed again and again', () => {
  it('loses nothing and doubles nothing, in the past and at the head', async () => {
    for (const user of users) await world.deposit(user, 5_000_000n)
    for (let turn = 0; turn < 120; turn++) await act(turn)
    const stop = { acting: true }
    const live = (async () => {
      for (let turn = 120; stop.acting; turn++) {
        await act(turn)
        await systemClock.sleep(30)
      }
    })()
    const seen: number[] = []
    for (let round = 0; round < kills; round++) {
      child = start()
      await once(child.stdout!, 'data')
      // The first half dies while the past is read, the second half at the head.
      if (round >= kills / 2) await reach(Number(await world.anvil.client.getBlockNumber()) - 2)
      await systemClock.sleep(Math.random() * (round % 2 === 0 ? 150 : 700))
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

  it('is taken over within 10 s by a second process that waited', async () => {
    const first = start()
    await once(first.stdout!, 'data')
    await systemClock.sleep(500)
    const second = start()
    await once(second.stdout!, 'data')
    await systemClock.sleep(1_000)
    first.kill('SIGKILL')
    const died = Date.now()
    await act(5)
    const head = Number(await world.anvil.client.getBlockNumber())
    while (((await findCursor(killed.db, chainId))?.blockNumber ?? -1) < head) await systemClock.sleep(50)
    const took = Date.now() - died
    second.kill('SIGKILL')
    console.log(`taken over in ${took} ms`)
    expect(took).toBeLessThan(10_000)
  }, 60_000)
})
