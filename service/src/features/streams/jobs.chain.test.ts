import { streamAbi } from '@openearn/contracts'
import type { Abi, Address, Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Anvil } from '../../../../contracts/test/anvil.js'
import { Death, dyingDb, dyingRpc } from '../../../test/dying.js'
import { seededRandom, times } from '../../../test/seed.js'
import {
  expectClaims,
  expectEachCommittedOnce,
  hour,
  inWorld,
  openStreamJobs,
  total,
  wallets,
} from '../../../test/streamJobs.js'
import type { Chain } from '../../rpc/chains.js'
import type { Signer } from '../../rpc/signer.js'
import { retakeSnapshot } from './jobSnapshots.js'
import { decodeRewardFile, hashFile, recomputeRewards } from './rewards/rewardFile.js'
import { findRewardFile } from './storeSnapshots.js'
import { updatePause } from './storeStreams.js'
import { vetoSnapshot } from './veto.js'

let anvil: Anvil
let chain: Chain
let signer: Signer
let signerKey: Hex
let close: () => Promise<void>

beforeAll(async () => {
  const opened = await openStreamJobs()
  ;({ anvil, chain, signer, signerKey, close } = opened)
})
afterAll(() => close?.())

describe('a process that ends between any two steps of snapshot, tree, commit and confirmation', () => {
  it.each(Array.from({ length: 5 * times }, (_, draw) => draw))(
    'commits every root once, loses none, and leaves no gap of nonces (draw %i)',
    () =>
      inWorld(async (world) => {
        const random = seededRandom()
        await world.hold(wallets[0] ?? '', 3n)
        await world.hold(wallets[1] ?? '', 10n ** 18n + 7n)
        for (let round = 0; round < 16; round++) {
          await world.pass(hour + random.int(0, 900))
          if (random.next() < 0.4) await world.hold(wallets[random.int(0, 2)] ?? '', BigInt(random.int(0, 1_000_000)))
          await world.follow()
          for (let turn = 0; turn < 4; turn++) {
            const step = world.steps[random.next() < 0.6 ? turn : random.int(0, 3)]
            const db = random.next() < 0.5 ? dyingDb(world.db, random.int(0, 14)) : world.db
            const rpc = random.next() < 0.5 ? dyingRpc(chain.rpc, random.int(0, 8), random.next() < 0.5) : chain.rpc
            await step?.(world.ctxOf({ db, rpc })).catch((error) => expect(error).toBeInstanceOf(Death))
          }
          if (random.next() < 0.7) world.clock.advance(31_000)
        }
        for (let round = 0; round < 4; round++) {
          await world.pass(700)
          await world.settle()
        }
        await expectEachCommittedOnce(world)
      }),
    60_000,
  )
})

describe('the jobs of a stream', () => {
  it('keep with every root a file that it comes out of again, and go on from what was kept', () =>
    inWorld(async (world) => {
      await world.hold(wallets[0] ?? '', 5n)
      while (Number((await anvil.client.getBlock()).timestamp) < world.endsAt + hour) {
        await world.pass(3 * hour)
        await world.hold(wallets[1] ?? '', BigInt(world.balances.length))
        await world.settle()
      }
      const snapshots = await world.listSnapshots()
      expect(snapshots.length).toBeGreaterThan(2)
      let previous: string | null = null
      for (const { file, root, amount } of snapshots) {
        const text = (await findRewardFile(world.db, file)) ?? ''
        expect(hashFile(text)).toBe(file)
        const { inputs, result } = decodeRewardFile(text)
        expect(recomputeRewards(inputs)).toEqual(result)
        expect([result.root, String(result.total), inputs.origin.previous]).toEqual([root, amount, previous])
        previous = file
      }
      await expectClaims(world)
    }))

  it('delay what is paused and change nothing that is owed; a vetoed snapshot is never committed', () =>
    inWorld(async (world) => {
      await world.hold(wallets[0] ?? '', 5n)
      const pause = (flag: Parameters<typeof updatePause>[2]['flag'], paused: boolean) =>
        world.db.begin((tx) => updatePause(tx, world.id, { flag, paused, alarm: null, at: world.clock.now() }))
      await world.pass(world.startsAt + hour - Number((await anvil.client.getBlock()).timestamp))
      await pause('snapshotComputationPaused', true)
      await world.pass(2 * hour + 5)
      await world.settle()
      expect(await world.listSnapshots()).toEqual([])
      await pause('snapshotComputationPaused', false)
      await pause('merkleTreeComputationPaused', true)
      await world.settle()
      expect(await world.listSnapshots()).toMatchObject([{ at: world.startsAt + 3 * hour, root: null }])
      await pause('merkleTreeComputationPaused', false)
      await pause('hashCommitmentPaused', true)
      await world.settle()
      expect([(await world.listSnapshots())[0]?.root === null, await world.listCommitted()]).toEqual([false, []])
      await vetoSnapshot(world.db, world.id, world.clock.now())
      await pause('hashCommitmentPaused', false)
      await world.settle()
      expect([await world.listSnapshots(), await world.listCommitted()]).toEqual([[], []])
      await pause('hashCommitmentPaused', true)
      await world.pass(8 * hour)
      await world.settle()
      expect(await world.listSnapshots()).toMatchObject([{ at: world.endsAt, isLast: true }])
      await vetoSnapshot(world.db, world.id, world.clock.now())
      await pause('hashCommitmentPaused', false)
      await world.settle()
      expect(await world.listSnapshots()).toEqual([])
      expect(await retakeSnapshot(world.ctxOf(), world.id)).toBe('taken')
      await world.settle()
      expect(await world.listCommitted()).toMatchObject([{ total, isConfirmed: true }])
      await expectClaims(world)
    }))

  it('wait while the chain is caught up with, and while the past of the share price is being read', () =>
    inWorld(async (world) => {
      const { db, clock } = world
      await world.hold(wallets[0] ?? '', 5n)
      await world.pass(world.startsAt + 2 * hour + 60 - Number((await anvil.client.getBlock()).timestamp))
      await world.follow()
      await db`update chain_cursors set block_number = head_number - 33`
      await world.steps[0](world.ctxOf())
      expect(await world.listSnapshots()).toEqual([])
      await db`update sources set synced = false`
      await world.settle()
      expect(await world.listSnapshots()).toEqual([])
      await db`update sources set synced = true`
      await db`
        insert into snapshot_gaps (vault_id, from_at, to_at, opened_to, opened_at)
        select id, to_timestamp(${world.startsAt}), to_timestamp(${world.startsAt + 900}), now(), ${clock.now()} from vaults`
      await world.settle()
      expect(await world.listSnapshots()).toEqual([])
      // One that has not gone on for an hour is no reason to wait any longer.
      clock.advance(hour * 1_000)
      await world.settle()
      expect(await world.listSnapshots()).toMatchObject([{ at: world.startsAt + 2 * hour }])
    }))

  it('bring the last root to the chain again that a reorganisation dropped after its commit was confirmed', () =>
    inWorld(async (world) => {
      const { client } = anvil
      await world.hold(wallets[0] ?? '', 5n)
      await world.pass(world.endsAt + hour - Number((await client.getBlock()).timestamp))
      await world.follow()
      for (const step of world.steps.slice(0, 3)) await step(world.ctxOf())
      const [number, before] = [Number(await client.getBlockNumber()), await client.snapshot()]
      await world.steps[3](world.ctxOf())
      await client.mine({ blocks: 3 })
      await world.steps[3](world.ctxOf())
      await world.follow()
      const committed = await world.listCommitted()
      expect(committed).toMatchObject([{ total, isConfirmed: true }])
      await client.revert({ id: before })
      // No node has it any more, and another transaction of the key has its nonce.
      const account = privateKeyToAccount(signerKey)
      await anvil.done(client.sendTransaction({ account, to: account.address, nonce: world.nonce }))
      await client.mine({ blocks: 6 })
      await world.rewind(number)
      await world.follow()
      expect(await world.listCommitted()).toEqual([])
      for (let round = 0; round < 4; round++) {
        await world.pass(700)
        await world.settle()
      }
      expect(await world.listCommitted()).toMatchObject([{ root: committed[0]?.root, total, isConfirmed: true }])
      await expectClaims(world)
    }))

  it('stop committing, with an alarm, when a root stands in the contract that is not ours', () =>
    inWorld(async (world) => {
      await world.hold(wallets[0] ?? '', 5n)
      await world.pass(5 * hour)
      await world.settle()
      const [ours] = await world.listCommitted()
      const foreign = `0x${'ee'.repeat(32)}`
      await anvil.client.impersonateAccount({ address: signer.address as Address })
      const args = [foreign, Number(ours?.rootAt) / 1_000 + 1, ours?.total]
      await anvil.done(
        anvil.client.writeContract({
          ...{ account: signer.address as Address, address: world.contract, abi: streamAbi as Abi },
          ...{ functionName: 'updateRoot', args },
        }),
      )
      await world.pass(2 * hour)
      await world.settle()
      const [row] = await world.db`select hash_commitment_paused as paused, alarm from streams`
      expect(row).toMatchObject({ paused: true, alarm: expect.stringContaining(foreign) })
      expect((await world.listCommitted()).map(({ root }) => root)).toEqual([foreign, ours?.root])
    }))
})
