import { cancellableAsyncVaultAbi as abi, cancellableAsyncVaultBytecode, testTokenAbi } from '@openearn/contracts'
import { type Abi, type Address, encodeFunctionData, type Hex, type PrivateKeyAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../contracts/test/anvil.js'
import { openWatchWorld, type WatchWorld, withSuffix } from '../../test/chain/watchWorld.js'
import { type Earn, openEarn } from '../../test/harness.js'
import { rebuildChain } from '../../test/pipeline.js'
import { listLots } from '../features/positions/index.js'
import { systemClock } from '../kernel/clock.js'
import { computeStateHash } from '../server/stateHash.js'

let earn: Earn
let world: WatchWorld
let vault: Address
const [owner, alice, bob, carol] = [account(0), account(1), account(2), account(3)]
const D = 'Y2Zi7KWy'
const E = 'MpOgVDnc'

beforeAll(async () => {
  earn = await openEarn()
  world = await openWatchWorld(earn.db, earn.organizationId)
  const settings = { asyncDeposit: true, asyncRedeem: true, separateIds: false, decimalsOffset: 0 }
  vault = await world.anvil.deploy({
    abi: abi as Abi,
    bytecode: cancellableAsyncVaultBytecode,
    args: [world.token, 'Async', 'aUSD', settings],
  })
  await world.list(vault, { kind: 'erc7540' })
  for (const user of [alice, bob, carol]) await world.fund(user, 1_000_000_000n, vault)
})
afterAll(async () => {
  await world?.close()
  await earn?.close()
})

const call = (
  user: PrivateKeyAccount,
  functionName: string,
  args: readonly unknown[],
  distributorId?: string,
): Promise<Hex> => {
  const data = encodeFunctionData({ abi: abi as Abi, functionName, args })
  return world.send(user, vault, withSuffix(data, user.address, vault, distributorId))
}
const request = (user: PrivateKeyAccount, assets: bigint, distributorId?: string) =>
  call(user, 'requestDeposit', [assets, user.address, user.address], distributorId)
const settle = (user: PrivateKeyAccount) => call(owner, 'settleDeposit', [user.address, 0n])
const lotsOf = async (user: { address: string }) => {
  await world.sync()
  const lots = await listLots(earn.db, [user.address.toLowerCase()])
  return Object.fromEntries(lots.map(({ distributorId, shares }) => [distributorId, BigInt(shares)]))
}
type Entry = {
  interaction: string
  distributorId: string
  amountRaw: string
  walletAddress: string
  attribution: string
  txHash: string
}
const entriesOf = async (hash: Hex): Promise<Entry[]> => {
  await world.sync()
  const { body } = await earn.call('ListInteractions', { query: { limit: 100, sortBy: 'amount', sortOrder: 'asc' } })
  return body.data.filter((entry: Entry) => entry.txHash === hash)
}
const sharesOf = (user: { address: Address }) =>
  world.anvil.client.readContract({
    address: vault,
    abi: testTokenAbi,
    functionName: 'balanceOf',
    args: [user.address],
  })

describe('an asynchronous deposit', () => {
  it('opens a request lot and makes no entry', async () => {
    const hash = await request(alice, 600n, D)
    expect(await entriesOf(hash)).toEqual([])
    expect(await lotsOf(alice)).toEqual({})
    const rows = await earn.db`select distributor_id, attribution, remaining from requests`
    expect(rows).toMatchObject([{ distributor_id: D, attribution: 'signed', remaining: '600' }])
  })

  it('is the ledger deposit when claimed: oldest request first, one entry a distributor, shares in proportion', async () => {
    await request(alice, 300n, E)
    await settle(alice)
    // 700 of 900: all 600 of D and 100 of E. The claim carries no code of its own.
    const hash = await call(alice, 'deposit', [700n, alice.address, alice.address])
    expect(await entriesOf(hash)).toMatchObject([
      {
        interaction: 'deposit',
        distributorId: E,
        amountRaw: '100',
        walletAddress: alice.address,
        attribution: 'signed',
      },
      {
        interaction: 'deposit',
        distributorId: D,
        amountRaw: '600',
        walletAddress: alice.address,
        attribution: 'signed',
      },
    ])
    expect(await sharesOf(alice)).toBe(700n)
    expect(await lotsOf(alice)).toEqual({ [D]: 600n, [E]: 100n })
  })

  it('claimed by a third party still belongs to the request, and its own code counts for nothing', async () => {
    await call(alice, 'setOperator', [bob.address, true])
    const hash = await call(bob, 'deposit', [200n, alice.address, alice.address], D)
    expect(await entriesOf(hash)).toMatchObject([{ distributorId: E, amountRaw: '200', walletAddress: alice.address }])
    expect(await lotsOf(alice)).toEqual({ [D]: 600n, [E]: 300n })
  })

  it("uses the claim's own code only for parts whose request had none", async () => {
    await request(bob, 100n)
    await request(bob, 50n, E)
    await settle(bob)
    const hash = await call(bob, 'deposit', [150n, bob.address, bob.address], D)
    expect(await entriesOf(hash)).toMatchObject([
      { distributorId: E, amountRaw: '50' },
      { distributorId: D, amountRaw: '100' },
    ])
    expect(await lotsOf(bob)).toEqual({ [D]: 100n, [E]: 50n })
  })

  it('leaves no entry when cancelled, and consumes what was pending', async () => {
    await request(carol, 500n, D)
    await call(carol, 'cancelDepositRequest', [0n, carol.address])
    await world.sync()
    const open = await earn.db`select cancelling from requests where controller = hex_bytes(${carol.address})`
    expect(open).toMatchObject([{ cancelling: true }])
    await call(owner, 'settleCancelDeposit', [carol.address, 0n])
    const hash = await call(carol, 'claimCancelDepositRequest', [0n, carol.address, carol.address])
    expect(await entriesOf(hash)).toEqual([])
    const rows = await earn.db`
      select remaining, cancelled, cancelling from requests where controller = hex_bytes(${carol.address})`
    expect(rows).toMatchObject([{ remaining: '0', cancelled: '500', cancelling: false }])
    expect(await lotsOf(carol)).toEqual({})
  })
})

describe('an asynchronous redemption', () => {
  it('takes shares at the request, from all lots in proportion', async () => {
    const hash = await call(alice, 'requestRedeem', [400n, alice.address, alice.address], E)
    expect(await entriesOf(hash)).toEqual([])
    expect(await sharesOf(alice)).toBe(500n)
    // 400 of 600 and 300: 266.67 and 133.33.
    expect(await lotsOf(alice)).toEqual({ [D]: 333n, [E]: 167n })
  })

  it('is the ledger withdrawal when claimed, credited to the request, and touches no lot', async () => {
    await call(owner, 'settleRedeem', [alice.address, 0n])
    const hash = await call(alice, 'redeem', [400n, alice.address, alice.address], D)
    expect(await entriesOf(hash)).toMatchObject([
      { interaction: 'withdraw', distributorId: E, amountRaw: '400', walletAddress: alice.address },
    ])
    expect(await lotsOf(alice)).toEqual({ [D]: 333n, [E]: 167n })
  })
})

describe('a vault that settles in parts', () => {
  const dan = account(4)
  beforeAll(() => world.fund(dan, 1_000_000n, vault))
  const requestsOf = (user: PrivateKeyAccount) => earn.db`
    select kind, distributor_id, amount, remaining, cancelled from requests
    where controller = hex_bytes(${user.address}) order by block_number`

  it('fills the oldest request first: a claim of the settled part credits only what it consumed', async () => {
    await request(dan, 600n, D)
    await request(dan, 400n, E)
    await call(owner, 'settleDepositPart', [dan.address, 0n, 700n])
    // 700 are claimable, 300 wait. The first claim stays inside the first request.
    const first = await call(dan, 'deposit', [250n, dan.address, dan.address])
    expect(await entriesOf(first)).toMatchObject([
      { interaction: 'deposit', distributorId: D, amountRaw: '250', attribution: 'signed' },
    ])
    expect(await lotsOf(dan)).toEqual({ [D]: 250n })
    expect(await requestsOf(dan)).toMatchObject([
      { distributor_id: D, remaining: '350', cancelled: '0' },
      { distributor_id: E, remaining: '400', cancelled: '0' },
    ])
  })

  it('is claimed across requests by an operator, whose own code counts for nothing', async () => {
    await call(dan, 'setOperator', [carol.address, true])
    const hash = await call(carol, 'deposit', [450n, dan.address, dan.address], E)
    expect(await entriesOf(hash)).toMatchObject([
      { interaction: 'deposit', distributorId: E, amountRaw: '100', walletAddress: dan.address },
      { interaction: 'deposit', distributorId: D, amountRaw: '350', walletAddress: dan.address },
    ])
    expect(await sharesOf(dan)).toBe(700n)
    expect(await lotsOf(dan)).toEqual({ [D]: 600n, [E]: 100n })
  })

  it('gives back what is still pending when that is cancelled, and leaves what was claimed', async () => {
    await call(dan, 'cancelDepositRequest', [0n, dan.address])
    await call(owner, 'settleCancelDeposit', [dan.address, 0n])
    const hash = await call(dan, 'claimCancelDepositRequest', [0n, dan.address, dan.address])
    expect(await entriesOf(hash)).toEqual([])
    expect(await requestsOf(dan)).toMatchObject([
      { distributor_id: D, amount: '600', remaining: '0', cancelled: '0' },
      { distributor_id: E, amount: '400', remaining: '0', cancelled: '300' },
    ])
    expect(await lotsOf(dan)).toEqual({ [D]: 600n, [E]: 100n })
  })

  it('takes shares from lots at the request to redeem, and pays each part to who brought the request', async () => {
    await call(dan, 'requestRedeem', [500n, dan.address, dan.address], D)
    expect(await lotsOf(dan)).toEqual({ [D]: 171n, [E]: 29n })
    await call(owner, 'settleRedeemPart', [dan.address, 0n, 200n])
    const first = await call(dan, 'redeem', [200n, dan.address, dan.address])
    expect(await entriesOf(first)).toMatchObject([
      { interaction: 'withdraw', distributorId: D, amountRaw: '200', walletAddress: dan.address },
    ])
    await call(owner, 'settleRedeem', [dan.address, 0n])
    const rest = await call(dan, 'redeem', [300n, dan.address, dan.address], E)
    expect(await entriesOf(rest)).toMatchObject([
      { interaction: 'withdraw', distributorId: D, amountRaw: '300', walletAddress: dan.address },
    ])
    expect(await lotsOf(dan)).toEqual({ [D]: 171n, [E]: 29n })
    expect(await sharesOf(dan)).toBe(200n)
  })
})

describe('a vault whose requests have ids of their own', () => {
  const eve = account(5)
  let own: Address
  const to = (user: PrivateKeyAccount, functionName: string, args: readonly unknown[], distributorId?: string) => {
    const data = encodeFunctionData({ abi: abi as Abi, functionName, args })
    return world.send(user, own, withSuffix(data, user.address, own, distributorId))
  }
  const readings = () => earn.db`
    select kind, request_id, before, after from request_readings
    where vault = hex_bytes(${own}) order by block_number, request_id`
  beforeAll(async () => {
    const settings = { asyncDeposit: true, asyncRedeem: true, separateIds: true, decimalsOffset: 0 }
    const args = [world.token, 'Own', 'oUSD', settings]
    own = await world.anvil.deploy({ abi: abi as Abi, bytecode: cancellableAsyncVaultBytecode, args })
    await world.list(own, { kind: 'erc7540' })
    await world.fund(eve, 1_000_000n, own)
  })

  it('credits a claim to whoever brought the request that was settled, as the vault itself tells of it', async () => {
    await to(eve, 'requestDeposit', [100n, eve.address, eve.address], D)
    await to(eve, 'requestDeposit', [200n, eve.address, eve.address], E)
    await to(owner, 'settleDeposit', [eve.address, 2n])
    const hash = await to(eve, 'deposit', [200n, eve.address, eve.address])
    expect(await entriesOf(hash)).toMatchObject([
      { interaction: 'deposit', distributorId: E, amountRaw: '200', walletAddress: eve.address },
    ])
    expect(await lotsOf(eve)).toEqual({ [E]: 200n })
    const open = await earn.db`
      select distributor_id, remaining from requests
      where controller = hex_bytes(${eve.address}) and remaining > 0`
    expect(open).toEqual([{ distributor_id: D, remaining: '100' }])
    expect(await readings()).toEqual([
      { kind: 'deposit', request_id: '1', before: '100', after: '100' },
      { kind: 'deposit', request_id: '2', before: '200', after: '0' },
    ])
  })

  it('is told apart by a rebuild that asks no node, and what it answered goes with its orphaned block', async () => {
    const { hash } = await rebuildChain({ db: earn.db, clock: systemClock }, { chainId: 31_337 })
    expect(hash).toBe(await computeStateHash(earn.db, 31_337))
    expect(await lotsOf(eve)).toEqual({ [E]: 200n })
    await world.anvil.client.request({ method: 'anvil_reorg', params: [1, []] } as never)
    await world.sync()
    expect(await readings()).toEqual([])
    const again = await to(eve, 'deposit', [150n, eve.address, eve.address])
    expect(await entriesOf(again)).toMatchObject([{ distributorId: E, amountRaw: '150' }])
    expect(await readings()).toMatchObject([{ request_id: '1' }, { request_id: '2', before: '200', after: '50' }])
  })
})

describe('everything asynchronous', () => {
  it('comes out of a reorganisation and of a rebuild as it was', async () => {
    await world.sync()
    const before = await computeStateHash(earn.db, 31_337)
    await request(alice, 10n, D)
    await settle(alice)
    await call(alice, 'deposit', [10n, alice.address, alice.address])
    await world.sync()
    expect(await computeStateHash(earn.db, 31_337)).not.toBe(before)
    await world.anvil.client.request({ method: 'anvil_reorg', params: [3, []] } as never)
    await world.sync()
    expect(await computeStateHash(earn.db, 31_337)).toBe(before)
    expect((await rebuildChain({ db: earn.db, clock: systemClock }, { chainId: 31_337 })).hash).toBe(before)
  })
})
