import { type Abi, type Address, concat, encodeFunctionData, type Hex, type PrivateKeyAccount, zeroAddress } from 'viem'
import { account } from '../../../contracts/test/anvil.js'
import type { World } from '../actionWorld.js'
import type { Answer } from '../harness.js'
import { readPublished } from '../published.js'

const published = (name: string) => readPublished(`@cowprotocol/contracts/lib/contracts/${name}.json`)

const authentication = published('GPv2AllowListAuthentication')
const settlementCode = published('GPv2Settlement')

export type TestSettlement = Awaited<ReturnType<typeof openSettlement>>

/** The settlement contract of CoW Protocol as published, on the chain of a world, set up for it; an account may settle. */
export async function openSettlement(world: World, solver: PrivateKeyAccount = account(0)) {
  const { anvil } = world
  const authenticator = await anvil.deploy({ ...authentication, args: [] })
  const write = (to: Address, abi: Abi, name: string, args: readonly unknown[], as = account(0)) =>
    world.write(to, abi, name, args, as)
  await write(authenticator, authentication.abi, 'initializeManager', [account(0).address])
  await write(authenticator, authentication.abi, 'addSolver', [solver.address])
  const address = await anvil.deploy({ ...settlementCode, args: [authenticator, zeroAddress] })
  const { abi } = settlementCode
  const read = (functionName: string, args: readonly unknown[]) =>
    anvil.client.readContract({ address, abi, functionName, args })
  const relayer = (await read('vaultRelayer', [])) as Address
  const configure = async (change: { venue?: 'local' | 'cow'; orderBook?: string; settlement?: Address } = {}) => {
    const orders = {
      settlement: lower(address),
      relayer: lower(relayer),
      authenticator: lower(authenticator),
      ...change,
    }
    await world.earn.db`
      update chains set swap = jsonb_set(coalesce(swap, '{}'), '{orders}', ${JSON.stringify(orders)}::text::jsonb)
      where chain_id = ${world.chainId}`
    await world.refresh()
  }
  await configure()
  return {
    address,
    relayer,
    authenticator,
    abi,
    read,
    configure,
    filledAmount: (uid: Hex) => read('filledAmount', [uid]) as Promise<bigint>,
    /** Sends the approvals of a built order, as its wallet would. */
    approve: async (built: Answer, as: PrivateKeyAccount) => {
      for (const { transaction } of built.body.approvals) {
        const { to, data, gasLimit } = transaction
        await anvil.done(anvil.client.sendTransaction({ account: as, to, data, gas: BigInt(gasLimit) }))
      }
    },
    /**
     * Settles an order out of what the settlement contract holds: `part` is sold, and at least its share of the limit is
     * paid. The signature is as the contract takes it: of a contract wallet with its address before it.
     */
    settle: async (built: Answer, signature: Hex, options: { part?: bigint; scheme?: 'eip712' | 'eip1271' } = {}) => {
      const { message } = built.body.typedData
      const [sold, bought] = [BigInt(message.sellAmount), BigInt(message.buyAmount)]
      const isContract = options.scheme === 'eip1271'
      const flags = (message.partiallyFillable ? 2n : 0n) + (isContract ? 64n : 0n)
      const trade = {
        ...{ sellTokenIndex: 0n, buyTokenIndex: 1n, receiver: message.receiver, sellAmount: sold, buyAmount: bought },
        ...{ validTo: message.validTo, appData: message.appData, feeAmount: 0n, flags },
        executedAmount: options.part ?? sold,
        signature: isContract ? concat([message.receiver, signature]) : signature,
      }
      const tokens = [message.sellToken, message.buyToken]
      const data = encodeFunctionData({
        ...{ abi, functionName: 'settle', args: [tokens, [bought, sold], [trade], [[], [], []]] },
      })
      return anvil.done(anvil.client.sendTransaction({ account: solver, to: address, data, gas: 1_000_000n }))
    },
  }
}

const lower = (address: Address) => address.toLowerCase()
