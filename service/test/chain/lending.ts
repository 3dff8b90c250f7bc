import { type Address, erc20Abi, type Hex, maxUint256, type PrivateKeyAccount } from 'viem'
import { account } from '../../../contracts/test/anvil.js'
import { deployLending, type LentToken, lendingCalls } from '../../src/cli/dev/lending.js'
import type { World } from '../actionWorld.js'

/** A market of Aave V3 as published, on the chain of a world and in its catalogue, and verbs of its users. */
export async function openLendingMarket(world: World, tokens: readonly LentToken[]) {
  const { client, done } = world.anvil
  const send = async (to: Address | undefined, data: Hex, as: PrivateKeyAccount = account(0)) =>
    done(client.sendTransaction({ account: as, ...(to ? { to } : {}), data, gas: 16_000_000n }))
  const market = await deployLending(
    {
      deploy: async (data) => {
        const { contractAddress } = await send(undefined, data)
        if (!contractAddress) throw new Error('the deployment made no contract')
        return contractAddress
      },
      send: async (to, data) => {
        await send(to, data)
      },
      call: async (to, data) => (await client.call({ to, data })).data ?? '0x',
    },
    account(0).address,
    tokens,
  )
  if (!market) throw new Error('the package of Aave V3 is not installed')
  const { pool, dataProvider } = market
  const lending = { aaveV3: [{ pool: pool.toLowerCase(), dataProvider: dataProvider.toLowerCase() }] }
  await world.earn.db`
    update chains set lending = ${JSON.stringify(lending)}::text::jsonb where chain_id = ${world.chainId}`
  await world.refresh()
  return {
    ...market,
    supply: async (token: Address, amount: bigint, as: PrivateKeyAccount) => {
      await world.write(token, erc20Abi, 'approve', [pool, maxUint256], as)
      await send(pool, lendingCalls.supply(token, amount, as.address), as)
    },
    borrow: (token: Address, amount: bigint, as: PrivateKeyAccount) =>
      send(pool, lendingCalls.borrow(token, amount, as.address), as),
  }
}
