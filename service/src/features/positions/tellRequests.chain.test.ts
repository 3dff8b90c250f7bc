import { asyncVaultAbi } from '@openearn/contracts'
import { type Abi, encodeFunctionData } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { type AsyncWorld, openAsyncWorld } from '../../../test/chain/asyncWorld.js'
import { flushEvents } from '../../../test/flushEvents.js'
import { tell } from '../events/index.js'
import { tellRequests } from './tellRequests.js'

let opened: AsyncWorld
beforeAll(async () => {
  opened = await openAsyncWorld()
})
afterAll(() => opened?.close())

it('a request is told claimable, claimed and cancelled, each once, also where two processes look', async () => {
  const { earn, world, asyncVault, asyncId, alice } = opened
  const owner = account(0)
  const call = (user: typeof alice, functionName: string, args: readonly unknown[]) =>
    world.send(user, asyncVault, encodeFunctionData({ abi: asyncVaultAbi as Abi, functionName, args }))
  const told = async () => {
    await world.sync()
    await Promise.all([tellRequests(earn.ctx, tell), tellRequests(earn.ctx, tell)])
    await flushEvents(earn.db)
    const rows = await earn.db<{ type: string; subjectId: string; data: Record<string, string> }[]>`
      select type, subject_id as "subjectId", data from feed where type like 'request.%' order by position`
    for (const { subjectId, data } of rows) {
      expect(subjectId).toBe(alice.address)
      expect(data).toMatchObject({ walletAddress: alice.address, opportunityId: asyncId })
    }
    return rows.map(({ type, data }) => [type, data['assets']])
  }
  await call(alice, 'requestDeposit', [500n, alice.address, alice.address])
  expect(await told()).toEqual([])
  await call(owner, 'settleDeposit', [alice.address, 0n])
  const claimable = [['request.claimable', '500']]
  expect(await told()).toEqual(claimable)
  expect(await told()).toEqual(claimable)
  await call(alice, 'deposit', [500n, alice.address, alice.address])
  const claimed = [...claimable, ['request.claimed', '500']]
  expect(await told()).toEqual(claimed)
  // Made, settled and claimed between two looks.
  await call(alice, 'requestDeposit', [70n, alice.address, alice.address])
  await call(owner, 'settleDeposit', [alice.address, 0n])
  await call(alice, 'deposit', [70n, alice.address, alice.address])
  expect(await told()).toEqual([...claimed, ['request.claimed', '70']])
  const [row] = await earn.db<{ left: number }[]>`
    select count(*) as left from request_told where state not in ('claimed', 'cancelled')`
  expect(row?.left).toBe(0)
})
