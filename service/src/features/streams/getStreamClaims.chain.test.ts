import { streamAbi } from '@openearn/contracts'
import type { Abi } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { committer, openStreamChain, type StreamChain } from '../../../test/streamChain.js'
import { buildTree } from './tree.js'

let chain: StreamChain
beforeAll(async () => {
  chain = await openStreamChain()
})
afterAll(() => chain.close())

it('a claim is listed once it is confirmed, taken back by a reorganisation, and listed where it is mined again', async () => {
  const { anvil, earn, world, chainId } = chain
  const { client } = anvil
  const { id, contract } = await chain.stream()
  const user = account(6)
  const wallet = user.address.toLowerCase()
  await earn.db`update chains set confirmations = 3 where chain_id = ${chainId}`
  const tree = buildTree([{ wallet, cumulative: 700n }])!
  const { timestamp: rootAt } = await client.getBlock()
  await world.write(contract, streamAbi as Abi, 'updateRoot', [tree.root, Number(rootAt), 700n], committer)
  const claim = () => world.write(contract, streamAbi as Abi, 'claim', [700n, Number(rootAt), []], user)
  const list = async () => {
    await world.sync()
    const { body } = await earn.call('GetStreamClaims', { params: { id } })
    expect(body.pagination.total).toBe(body.data.length)
    return body.data
  }
  const readClaim = async ({ transactionHash }: Awaited<ReturnType<typeof claim>>) => {
    const { blockNumber } = await client.getTransactionReceipt({ hash: transactionHash })
    const block = await client.getBlock({ blockNumber })
    const blockTimestamp = new Date(Number(block.timestamp) * 1_000).toISOString().replace('.000', '')
    return {
      ...{ userAddress: user.address, amount: '700', txHash: transactionHash },
      ...{ blockNumber: Number(blockNumber), blockTimestamp },
    }
  }

  const before = await client.snapshot()
  const first = await claim()
  expect(await list(), 'in the newest block').toEqual([])
  await client.mine({ blocks: 2 })
  const orphaned = await readClaim(first)
  expect(await list(), 'confirmed').toEqual([orphaned])

  await client.revert({ id: before })
  await client.mine({ blocks: 6 })
  expect(await list(), 'orphaned').toEqual([])

  const second = await claim()
  expect(await list(), 'again in the newest block').toEqual([])
  await client.mine({ blocks: 2 })
  const mined = await readClaim(second)
  expect(mined.blockNumber).not.toBe(orphaned.blockNumber)
  expect(await list(), 'confirmed again').toEqual([mined])
})
