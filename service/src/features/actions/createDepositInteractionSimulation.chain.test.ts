import { testTokenAbi } from '@openearn/contracts'
import { type Address, encodeErrorResult, type Hex, parseAbi } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import type { World, WorldVault } from '../../../test/actionWorld.js'
import { type DepositWorld, openDepositWorld, usd } from '../../../test/depositWorld.js'
import { refused } from '../../../test/refused.js'
import type { Chain } from '../../rpc/chains.js'
import { RpcError } from '../../rpc/rpc.js'

type Request = Chain['rpc']['request']

const user = account(1)
const texts = parseAbi(['error Error(string)'])
const panics = parseAbi(['error Panic(uint256)'])
const caps = parseAbi(['error ERC4626ExceededMaxDeposit(address receiver, uint256 assets, uint256 max)'])

let world: World
let deposit: DepositWorld['deposit']
let renew: DepositWorld['renew']
let token: Address
let vault: WorldVault

beforeAll(async () => {
  ;({ world, deposit, renew } = await openDepositWorld())
})
afterAll(() => world.close())
beforeEach(async () => {
  ;({ token, vault } = await renew())
})

/** A node that takes no state overrides, nor one other method. */
const refusing =
  (also: string) =>
  (request: Request): Request =>
  async (asked) => {
    const overrides = asked.method === 'eth_call' && Array.isArray(asked.params) && asked.params.length > 2
    if (overrides || asked.method === also) throw new RpcError(-32602, 'refused', undefined)
    return request(asked)
  }

describe('the simulation of a deposit', () => {
  it('skips the simulation when asked to, and then uses constant gas limits', async () => {
    const plan = await deposit({ simulate: false })
    expect(plan.body.simulation).toEqual({ status: 'skipped', blockNumber: null, blockHash: null, assetChanges: [] })
    expect(
      plan.body.transactions.map((item: { transaction: { gasLimit: string } }) => item.transaction.gasLimit),
    ).toEqual(['120000', '600000'])
    await world.send(plan, user)
  })

  it('simulates through eth_simulateV1 where the node refuses overrides, and says so where it offers neither', async () => {
    const second = await world.withNode(refusing(''), () => deposit())
    const none = await world.withNode(refusing('eth_simulateV1'), () => deposit())
    expect(second.body.simulation).toMatchObject({ status: 'ok', assetChanges: [{ amount: String(-100n * usd) }, {}] })
    expect(none.body.simulation).toEqual({
      status: 'unavailable',
      blockNumber: null,
      blockHash: null,
      assetChanges: [],
    })
    expect(none.status).toBe(200)
    await world.send(second, user)
  })

  it('asks the node three times at most', async () => {
    const methods: string[] = []
    const counting =
      (request: Request): Request =>
      (asked) => {
        methods.push(asked.method)
        return request(asked)
      }
    expect((await world.withNode(counting, () => deposit())).status).toBe(200)
    expect(methods).toEqual(['eth_getBlockByNumber', 'eth_call', 'eth_call'])
  })
  it('says which transaction would revert, and why', async () => {
    // A vault that may not mint its yield any more reverts on deposit.
    await world.send(await deposit(), user)
    await world.anvil.pass(3600)
    await world.write(token, testTokenAbi, 'setMinter', [vault.address, false])
    const answer = refused(await deposit(), 'SIMULATION_REVERTED')
    expect(answer.context.transactionIndex).toBe(1)
    expect(answer.error).toMatch(
      /transaction 2 of 2 \(deposit\) would revert with NotMinter\(.*\): only a minter of the token may do this/,
    )
  })

  it.each<[string, Hex, string]>([
    ['a text', encodeErrorResult({ abi: texts, args: ['closed for the audit'] }), 'with "closed for the audit"'],
    ['a panic', encodeErrorResult({ abi: panics, args: [18n] }), 'with a panic: division by zero'],
    [
      'a custom error many contracts share',
      encodeErrorResult({ abi: caps, args: [user.address, 5n, 4n] }),
      `with ERC4626ExceededMaxDeposit(${user.address}, 5, 4): the vault takes at most that much of this wallet at present`,
    ],
    ['a custom error nobody knows', '0x12345678', 'with the custom error 0x12345678, which is not known here'],
    ['nothing', '0x', 'without a reason'],
  ])('tells in words what the vault reverts with: %s', async (_name, returned, words) => {
    await world.breakCall(vault.address, '0x6e553f65', returned)
    const body = refused(await deposit(), 'SIMULATION_REVERTED')
    expect(body.error).toBe(`transaction 2 of 2 (deposit) would revert ${words}`)
    expect(body.context.transactionIndex).toBe(1)
  })

  it('tells what the vault reverts with through eth_simulateV1 as well', async () => {
    await world.breakCall(vault.address, '0x6e553f65', encodeErrorResult({ abi: texts, args: ['closed'] }))
    const body = refused(await world.withNode(refusing(''), () => deposit()), 'SIMULATION_REVERTED')
    expect(body.error).toBe('transaction 2 of 2 (deposit) would revert with "closed"')
  })
})
