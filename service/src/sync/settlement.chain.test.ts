import { yieldVaultAbi } from '@openearn/contracts'
import { type Abi, type Address, encodeFunctionData, erc20Abi, type Hex, zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../contracts/test/anvil.js'
import { openWatchWorld, type WatchWorld, withSuffix } from '../../test/chain/watchWorld.js'
import { type Earn, openEarn } from '../../test/harness.js'
import { rebuildChain } from '../../test/pipeline.js'
import { readPublished } from '../../test/published.js'
import { adviseRefetch, listReadBeside } from '../cli/readBeside.js'
import { systemClock } from '../kernel/clock.js'
import { createNode } from '../rpc/node.js'
import { listProjections } from '../server/projections.js'
import { computeStateHash } from '../server/stateHash.js'
import { refetchRange } from './refetch.js'

const published = (name: string) => readPublished(`@cowprotocol/contracts/lib/contracts/${name}.json`)
const { abi, bytecode } = published('GPv2Settlement')
const authentication = published('GPv2AllowListAuthentication')
const [solver, owner] = [account(0), account(4)]
const distributor = 'Y2Zi7KWy'
const chainId = 31_337

let earn: Earn
let world: WatchWorld
let settlement: Address

beforeAll(async () => {
  earn = await openEarn()
  world = await openWatchWorld(earn.db, earn.organizationId)
  const { anvil, db } = world
  const authenticator = await anvil.deploy({ ...authentication, args: [] })
  const write = (to: Address, of: Abi, functionName: string, args: unknown[], as = solver) =>
    world.send(as, to, encodeFunctionData({ abi: of, functionName, args } as never))
  await write(authenticator, authentication.abi, 'initializeManager', [solver.address])
  await write(authenticator, authentication.abi, 'addSolver', [solver.address])
  settlement = await anvil.deploy({ abi, bytecode, args: [authenticator, zeroAddress] })
  const relayer = await anvil.client.readContract({ address: settlement, abi, functionName: 'vaultRelayer' })
  await db`update chains set swap = jsonb_build_object('orders', jsonb_build_object('settlement', ${settlement}::text))
    where chain_id = ${chainId}`
  await world.fund(owner, 10_000_000n)
  await write(world.token, erc20Abi as Abi, 'approve', [relayer, 2n ** 255n], owner)
}, 120_000)
afterAll(async () => {
  await world?.close()
  await earn?.close()
})

/** The owner sells assets for shares of the vault; the settlement deposits what it pulled and pays the shares out. */
async function settle(amount: bigint): Promise<Hex> {
  const { anvil, token, vault } = world
  const shares = await anvil.client.readContract({
    ...{ address: vault, abi: yieldVaultAbi, functionName: 'previewDeposit', args: [amount] },
  })
  const { timestamp } = await anvil.client.getBlock()
  const order = {
    ...{ sellToken: token, buyToken: vault, receiver: owner.address, sellAmount: amount, buyAmount: shares },
    ...{ validTo: Number(timestamp) + 3_600, appData: `0x${'07'.repeat(32)}` as Hex, feeAmount: 0n },
    ...{ kind: 'sell', partiallyFillable: false, sellTokenBalance: 'erc20', buyTokenBalance: 'erc20' },
  }
  const signature = await owner.signTypedData({
    domain: { name: 'Gnosis Protocol', version: 'v2', chainId, verifyingContract: settlement },
    types: {
      Order: [
        ...[
          ['sellToken', 'address'],
          ['buyToken', 'address'],
          ['receiver', 'address'],
          ['sellAmount', 'uint256'],
        ],
        ...[
          ['buyAmount', 'uint256'],
          ['validTo', 'uint32'],
          ['appData', 'bytes32'],
          ['feeAmount', 'uint256'],
        ],
        ...[
          ['kind', 'string'],
          ['partiallyFillable', 'bool'],
        ],
        ...[
          ['sellTokenBalance', 'string'],
          ['buyTokenBalance', 'string'],
        ],
      ].map(([name, type]) => ({ name: name!, type: type! })),
    },
    primaryType: 'Order',
    message: order,
  })
  const trade = {
    ...{ sellTokenIndex: 0n, buyTokenIndex: 1n, receiver: owner.address, sellAmount: amount, buyAmount: shares },
    ...{ validTo: order.validTo, appData: order.appData, feeAmount: 0n, flags: 0n, executedAmount: amount, signature },
  }
  const call = (target: Address, callData: Hex) => ({ target, value: 0n, callData })
  const deposit = [
    call(token, encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [vault, amount] })),
    call(vault, encodeFunctionData({ abi: yieldVaultAbi, functionName: 'deposit', args: [amount, settlement] })),
  ]
  const data = encodeFunctionData({
    ...{ abi, functionName: 'settle', args: [[token, vault], [shares, amount], [trade], [[], deposit, []]] },
  })
  return world.send(solver, settlement, withSuffix(data, solver.address, settlement, distributor))
}

describe('a settlement that deposits for the owner of an order of another installation', () => {
  it('is credited from the chain alone: nothing of the order is in this database', async () => {
    const hash = await settle(5_000_000n)
    await world.sync()
    expect(await earn.db`select count(*)::int as count from swap_orders`).toEqual([{ count: 0 }])
    const { body } = await earn.call('ListInteractions', { query: { limit: 100 } })
    expect(body.data).toMatchObject([
      {
        ...{ txHash: hash, distributorId: distributor, attribution: 'signed' },
        ...{ walletAddress: owner.address, amountRaw: '5000000' },
      },
    ])
  })

  it('is the same after a rebuild, which asks no node', async () => {
    const before = await computeStateHash(earn.db, chainId)
    const { hash } = await rebuildChain({ db: earn.db, clock: systemClock }, { chainId })
    expect(hash).toBe(before)
  })
})

describe('a settlement contract that comes into the catalogue after the vault was read', () => {
  const nameSettlement = async (swap: object | null): Promise<void> => {
    await earn.db`update chains set swap = ${swap && JSON.stringify(swap)}::text::jsonb where chain_id = ${chainId}`
    await earn.db`update catalogue_versions set version = version + 1`
  }
  const listCredited = async () => {
    const { body } = await earn.call('ListInteractions', { query: { limit: 100 } })
    return body.data
  }

  it('has what it settled before credited once the range is asked for again, and by a rebuild after that', async () => {
    await nameSettlement(null)
    const hash = await settle(1_000_000n)
    const from = Number(await world.anvil.client.getBlockNumber())
    await world.sync()
    const read = await listReadBeside(earn.db)
    await nameSettlement({ orders: { settlement } })
    const command = `openearn chains refetch ${chainId} --from ${read[0]?.from} --to ${from}`
    const advice = `${settlement.toLowerCase()}: what was read before says nothing of it; run ${command}`
    expect(adviseRefetch(read, await listReadBeside(earn.db))).toEqual([advice])
    await world.sync(world.watcher())
    expect(await listCredited()).toHaveLength(1)

    const range = { from, to: from, chainId, projections: listProjections(), node: createNode(world.chain.rpc) }
    const again = () => refetchRange({ db: earn.db, clock: systemClock }, range)
    expect(await again()).toMatchObject({ missingLogs: 1, extraLogs: 0, firstWrong: from })
    const credited = expect.objectContaining({ txHash: hash, distributorId: distributor, walletAddress: owner.address })
    expect(await listCredited()).toContainEqual(credited)
    expect(await again()).toMatchObject({ missingLogs: 0, extraLogs: 0, firstWrong: null })
    const before = await computeStateHash(earn.db, chainId)
    expect((await rebuildChain({ db: earn.db, clock: systemClock }, { chainId })).hash).toBe(before)
  })
})
