import { asyncVaultAbi } from '@openearn/contracts'
import { type Abi, encodeFunctionData } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { type AsyncWorld, openAsyncWorld } from '../../../test/chain/asyncWorld.js'
import { withSuffix } from '../../../test/chain/watchWorld.js'

let opened: AsyncWorld
beforeAll(async () => {
  opened = await openAsyncWorld()
})
afterAll(() => opened?.close())

const owner = account(0)
const [one, other] = ['Y2Zi7KWy', 'MpOgVDnc'] as const

async function call(functionName: string, args: readonly unknown[], distributorId?: string, as = opened.alice) {
  const data = encodeFunctionData({ abi: asyncVaultAbi as Abi, functionName, args })
  return opened.world.send(as, opened.asyncVault, withSuffix(data, as.address, opened.asyncVault, distributorId))
}

type Named = { distributorId: string; amountRaw: string }

describe('a claim of requests that several distributors brought', () => {
  // Ids of entries are hashes: in their order one pair of five would hardly pass.
  const rounds = [1, 2, 3, 4, 5].flatMap((round) => [[one, other, round] as const, [other, one, round] as const])
  it.each<readonly [string, string, number]>(rounds)(
    'names the distributor of the oldest request, and lists the entries in that order: %s, then %s, time %i',
    async (older, newer) => {
      const { alice, earn, world } = opened
      const me = alice.address
      await call('requestDeposit', [20n, me, me], older)
      await call('requestDeposit', [30n, me, me], newer)
      await call('settleDeposit', [me, 0n], undefined, owner)
      const hash = await call('deposit', [50n, me, me])
      await world.sync()
      const { body } = await earn.call('GetAttribution', { params: { txHash: hash } })
      expect(body).toMatchObject({ distributorId: older, source: 'interaction' })
      expect(body.interactions.map(({ distributorId, amountRaw }: Named) => [distributorId, amountRaw])).toEqual([
        [older, '20'],
        [newer, '30'],
      ])
    },
  )
})
