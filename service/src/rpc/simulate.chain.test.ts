import {
  dripVaultAbi,
  dripVaultBytecode,
  feeOnTransferTokenAbi,
  feeOnTransferTokenBytecode,
  noReturnTokenAbi,
  noReturnTokenBytecode,
  runnerDeployedBytecode,
  testTokenAbi,
  testTokenBytecode,
  yieldVaultAbi,
  yieldVaultBytecode,
} from '@openearn/contracts'
import { type Address, encodeFunctionData, erc20Abi, erc4626Abi, type Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Anvil, account as accountOf, startAnvil } from '../../../contracts/test/anvil.js'
import { rpcOf } from '../../test/rpcOf.js'
import { systemClock } from '../kernel/clock.js'
import { createOutbound } from '../kernel/outbound.js'
import { readHead } from './blocks.js'
import { type Chain, openChain } from './chains.js'
import { combine, multicall, readAccount, readContract } from './multicall.js'
import { nativeToken } from './native.js'
import { describeRevert } from './revert.js'
import { RpcError } from './rpc.js'
import { getNextBlock, simulateCalls } from './simulate.js'

const user = accountOf(1)
const wallet = user.address
let anvil: Anvil
let chain: Chain
let token: Address
let vault: Address

beforeAll(async () => {
  anvil = await startAnvil({ timestamp: 1_700_000_000 })
  chain = openChain(createOutbound(systemClock), {
    chainId: 31337,
    name: 'Anvil',
    nativeSymbol: 'ETH',
    rpcUrls: [anvil.url],
    confirmations: 1,
    finalityDepth: 64,
    pollIntervalMs: 1000,
    reorgRecheckSeconds: 2,
    entryPoints: [],
  })
  token = await anvil.deploy({ abi: testTokenAbi, bytecode: testTokenBytecode, args: ['Dollar', 'USD', 6] })
  const args = [token, 'Yield', 'yUSD', 6, 0n, true]
  vault = await anvil.deploy({ abi: yieldVaultAbi, bytecode: yieldVaultBytecode, args })
  await mint(token, 1_000_000n)
})

afterAll(() => anvil.stop())

const mint = (of: Address, amount: bigint) =>
  anvil.done(
    anvil.client.writeContract({ address: of, abi: noReturnTokenAbi, functionName: 'mint', args: [wallet, amount] }),
  )
const approve = (of: Address, spender: Address, amount: bigint) => ({
  to: of,
  value: 0n,
  data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, amount] }),
})
const deposit = (amount: bigint) => ({
  to: vault,
  value: 0n,
  data: encodeFunctionData({ abi: erc4626Abi, functionName: 'deposit', args: [amount, wallet] }),
})
const tokens = () => [token, vault, nativeToken]

describe('a read', () => {
  it('is asked in one call, with a failed read undefined and the others answered', async () => {
    const read = combine({
      asset: readContract(vault, erc4626Abi, 'asset', []),
      held: readContract(token, erc20Abi, 'balanceOf', [wallet]),
      nobody: readContract(wallet, erc20Abi, 'balanceOf', [wallet]),
      unknown: readContract(token, erc4626Abi, 'asset', []),
      pair: combine({ vault: readAccount(vault), wallet: readAccount(wallet) }),
    })
    const { answer, blockNumber } = await multicall(chain, read)
    expect(answer).toMatchObject({ asset: token, held: 1_000_000n, nobody: undefined, unknown: undefined })
    expect(answer.pair.wallet).toEqual({ balance: 10_000n * 10n ** 18n, codeLength: 0n })
    expect(answer.pair.vault.codeLength).toBeGreaterThan(1000n)
    expect(blockNumber).toBe(await anvil.client.getBlockNumber())
  })

  it('is answered at the block asked for', async () => {
    const head = await anvil.client.getBlock()
    const held = readContract(token, erc20Abi, 'balanceOf', [wallet])
    await mint(token, 5n)
    expect((await multicall(chain, held, { blockHash: head.hash as Hex })).answer).toBe(1_000_000n)
    expect((await multicall(chain, held)).answer).toBe(1_000_005n)
  })
})

describe('a simulation', () => {
  it('runs approval and deposit in order and tells what the wallet gains and loses', async () => {
    const calls = [approve(token, vault, 500n), deposit(500n)]
    const probe = { token, to: vault, amount: 500n }
    const result = await simulateCalls(chain, { wallet, calls, tokens: tokens(), probe })
    expect(result).toMatchObject({
      status: 'ok',
      changes: [-500n, 500_000_000n, 0n],
      probe: { sent: 500n, received: 500n },
    })
  })

  it('measures gas as if each call stood alone, to within a tenth', async () => {
    const call = approve(token, vault, 77n)
    const result = await simulateCalls(chain, { wallet, calls: [call], tokens: tokens() })
    const receipt = await anvil.done(anvil.client.sendTransaction({ ...call, account: user }))
    if (result.status !== 'ok') throw new Error(result.status)
    const intrinsic = await anvil.client.estimateGas({ to: wallet, account: user, value: 0n })
    expect(intrinsic).toBeGreaterThanOrEqual(21_000n)
    const measured = Number(result.gasUsed[0]) + 21_000 + callDataGas(call.data)
    expect(Math.abs(measured - Number(receipt.gasUsed)) / Number(receipt.gasUsed)).toBeLessThan(0.1)
    await anvil.done(anvil.client.sendTransaction({ ...approve(token, vault, 0n), account: user }))
  })

  it('names the call that reverts and carries its data', async () => {
    const calls = [approve(token, vault, 499n), deposit(500n)]
    const result = await simulateCalls(chain, { wallet, calls, tokens: tokens() })
    expect(result).toMatchObject({ status: 'reverted', index: 1 })
    if (result.status !== 'reverted') throw new Error(result.status)
    expect(describeRevert(result.returned)).toBe(
      `with ERC20InsufficientAllowance(${vault}, 499, 500): the spender may take less than what is to be moved`,
    )
  })

  it('sees a token that delivers less than was sent', async () => {
    const args = ['Taxed', 'TAX', 18, 100n]
    const taxed = await anvil.deploy({ abi: feeOnTransferTokenAbi, bytecode: feeOnTransferTokenBytecode, args })
    await mint(taxed, 1000n)
    const probe = { token: taxed, to: vault, amount: 1000n }
    const result = await simulateCalls(chain, { wallet, calls: [], tokens: [taxed], probe })
    expect(result).toMatchObject({ probe: { sent: 1000n, received: 990n }, changes: [0n] })
  })

  it('takes a token that returns nothing', async () => {
    const old = await anvil.deploy({ abi: noReturnTokenAbi, bytecode: noReturnTokenBytecode, args: ['O', 'O', 6] })
    await mint(old, 1000n)
    const probe = { token: old, to: vault, amount: 1000n }
    const result = await simulateCalls(chain, { wallet, calls: [approve(old, vault, 9n)], tokens: [old], probe })
    expect(result).toMatchObject({ status: 'ok', probe: { sent: 1000n, received: 1000n } })
  })

  it('counts native value that leaves', async () => {
    const calls = [{ to: accountOf(2).address, data: '0x' as Hex, value: 12_345n }]
    expect(await simulateCalls(chain, { wallet, calls, tokens: tokens() })).toMatchObject({
      changes: [0n, 0n, -12_345n],
    })
  })

  it('gives the same answer through eth_simulateV1 where overrides are refused', async () => {
    const calls = [
      approve(token, vault, 500n),
      deposit(500n),
      { to: accountOf(2).address, data: '0x' as Hex, value: 7n },
    ]
    const plain = await simulateCalls(chain, { wallet, calls, tokens: tokens() })
    const refusing = withRpc(async ({ method, params }) => {
      if (method === 'eth_call' && Array.isArray(params) && params.length > 2)
        throw new RpcError(-32602, 'no', undefined)
      return chain.rpc.request({ method, params })
    })
    const other = await simulateCalls(refusing, { wallet, calls, tokens: tokens() })
    expect(other).toMatchObject({ status: 'ok', changes: plain.status === 'ok' ? plain.changes : [] })
    const bad = await simulateCalls(refusing, { wallet, calls: [deposit(500n)], tokens: tokens() })
    if (bad.status !== 'reverted') throw new Error(bad.status)
    expect(describeRevert(bad.returned)).toBe(
      `with ERC20InsufficientAllowance(${vault}, 0, 500): the spender may take less than what is to be moved`,
    )
  })

  it('runs in a block of its own, where what accrued since the head is paid for', async () => {
    const args = [token, 12, 0n, 10n]
    const drip = await anvil.deploy({ abi: dripVaultAbi, bytecode: dripVaultBytecode, args })
    await anvil.done(
      anvil.client.writeContract({ address: drip, abi: dripVaultAbi, functionName: 'accrue', gas: 3_000_000n }),
    )
    const head = await readHead(chain)
    const calls = [approve(token, drip, 500n), { ...deposit(500n), to: drip }]
    const request = { wallet, calls, tokens: [token], at: { blockHash: head.hash } }
    const inBlock = getNextBlock(head)
    const gasOf = async (node: Pick<Chain, 'name' | 'rpc'>, more: object) => {
      const result = await simulateCalls(node, { ...request, ...more })
      if (result.status !== 'ok') throw new Error(result.status)
      return Number(result.gasUsed[1])
    }
    const refusing = (lengthMax: number, also = '') =>
      withRpc(async ({ method, params }) => {
        if ((method === 'eth_call' && Array.isArray(params) && params.length > lengthMax) || method === also)
          throw new RpcError(-32602, 'no', undefined)
        return chain.rpc.request({ method, params })
      })
    const cheap = await gasOf(chain, {})
    const dear = await gasOf(chain, { inBlock })
    expect(dear - cheap).toBeGreaterThan(10 * 20_000)
    // A node that takes no other block is asked by eth_simulateV1, and without that in the block there is.
    expect(await gasOf(refusing(3), { inBlock })).toBeGreaterThanOrEqual(dear)
    expect(await gasOf(refusing(2), { inBlock })).toBeGreaterThanOrEqual(dear)
    expect(await gasOf(refusing(3, 'eth_simulateV1'), { inBlock })).toBe(cheap)
    const ignoring = withRpc(({ method, params }) =>
      chain.rpc.request({ method, params: Array.isArray(params) ? params.slice(0, 3) : params }),
    )
    expect(await gasOf(ignoring, { inBlock })).toBeGreaterThanOrEqual(dear)
  })

  it('is unavailable where a node offers neither way, or ignores the override', async () => {
    const request = { wallet, calls: [deposit(1n)], tokens: tokens() }
    const none = withRpc(async () => {
      throw new RpcError(-32601, 'no such method', undefined)
    })
    expect(await simulateCalls(none, request)).toEqual({ status: 'unavailable' })
    const ignoring = withRpc(async ({ method }) => {
      if (method === 'eth_call') return '0x'
      throw new RpcError(-32601, 'no such method', undefined)
    })
    expect(await simulateCalls(ignoring, request)).toEqual({ status: 'unavailable' })
  })

  it('leaves nothing behind', async () => {
    expect(await anvil.client.getCode({ address: wallet })).toBeUndefined()
    expect(runnerDeployedBytecode.length).toBeLessThan(2 * 24_576)
  })
})

function withRpc(request: Chain['rpc']['request']): Pick<Chain, 'name' | 'rpc'> {
  return { name: 'Anvil', rpc: rpcOf(request) }
}

function callDataGas(data: Hex): number {
  const bytes = Buffer.from(data.slice(2), 'hex')
  return bytes.reduce((sum, byte) => sum + (byte === 0 ? 4 : 16), 0)
}
