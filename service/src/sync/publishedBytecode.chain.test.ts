import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { testTokenAbi } from '@openearn/contracts'
import {
  type Address,
  encodeFunctionData,
  erc20Abi,
  getContractAddress,
  type Hex,
  multicall3Abi,
  type PrivateKeyAccount,
  parseAbi,
} from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../contracts/test/anvil.js'
import { until } from '../../../contracts/test/until.js'
import { type Call, encode, scriptCode } from '../../test/attacks/creditWorld.js'
import { startBadNode } from '../../test/chain/badNode.js'
import { bundler, openEntryPoint, owner, type Version } from '../../test/chain/entryPoints.js'
import { chainId, openWatchWorld, type WatchWorld, withSuffix } from '../../test/chain/watchWorld.js'
import { type Earn, openEarn } from '../../test/harness.js'
import { readPublished } from '../../test/published.js'
import { deploySafeWorld } from '../../test/safe.js'
import { systemClock } from '../kernel/clock.js'
import { silentLog } from '../kernel/log.js'
import { createOutbound } from '../kernel/outbound.js'
import { openChain } from '../rpc/chains.js'
import { openTracing } from '../server/tracing.js'
import type { Tracing } from './steps/step.js'
import { findRawTransaction } from './storeRaw.js'

let earn: Earn
let world: WatchWorld
let second: Awaited<ReturnType<typeof startBadNode>>
let tracing: Tracing
const [D, E] = ['Y2Zi7KWy', 'MpOgVDnc']
const user = account(4)

beforeAll(async () => {
  earn = await openEarn()
  world = await openWatchWorld(earn.db, earn.organizationId)
  // What a contract made up counts when two nodes tell it.
  second = await startBadNode(world.anvil.url)
  const { rpc: _rpc, headUrls: _headUrls, ...own } = world.chain
  const chain = openChain(createOutbound(systemClock), { ...own, rpcUrls: [world.anvil.url, second.url] })
  tracing = openTracing({ clock: systemClock, log: silentLog }, chain) as Tracing
  await tracing.tracer.open()
}, 120_000)
afterAll(async () => {
  await second?.stop()
  await world?.close()
  await earn?.close()
})

const deploy = (bytecode: Hex) => world.anvil.deploy({ abi: [], bytecode, args: [] })
const mint = (to: Address, amount = 1_000_000n) =>
  world.anvil.done(
    world.anvil.client.writeContract({
      address: world.token,
      abi: testTokenAbi,
      functionName: 'mint',
      args: [to, amount],
    }),
  )
const approve = (spender: Address = world.vault): Call => ({ to: world.token, data: encode.approve(spender) })
const deposit = (wallet: Address, amount: bigint, code?: string): Call => ({
  to: world.vault,
  data: withSuffix(encode.deposit(amount, wallet), wallet, world.vault, code),
})
const send = async (from: PrivateKeyAccount, { to, data }: Call): Promise<Hex> => {
  const hash = await world.anvil.client.sendTransaction({ account: from, to, data, gas: 8_000_000n })
  await world.anvil.done(hash)
  return hash
}
/** The ledger's entries of a transaction by its call paths. */
const entriesOf = async (hash: Hex) => {
  const watcher = world.watcher({ tracing })
  await world.sync(watcher)
  await until('the traces awaited', async () => {
    await earn.db`update awaited_traces set next_at = now()`
    await world.sync(watcher)
    const [row] = await earn.db<{ count: number }[]>`select count(*) as count from awaited_traces`
    return row?.count === 0
  })
  expect((await findRawTransaction(earn.db, hash, chainId))?.evidence).toMatchObject({ hasLogs: true })
  const { body } = await earn.call('ListInteractions', { query: { limit: 100, sortBy: 'amount', sortOrder: 'asc' } })
  return body.data.filter((entry: { txHash: string }) => entry.txHash === hash)
}
const credited = (distributorId: string, attribution: string, wallet: Address, amount: bigint) => ({
  ...{ interaction: 'deposit', distributorId, attribution, walletAddress: wallet, amountRaw: String(amount) },
})

describe.each(['06', '07', '08'] as const)('EntryPoint 0.%s by trace', (version: Version) => {
  it('behind a bundler’s contract leaves each operation its own code, whether the bundle stands in the calldata or not', async () => {
    const entryPoint = await openEntryPoint(earn.db, world, version)
    const operation = (salt: bigint, amount: bigint, code: string) =>
      entryPoint.operation(salt, (wallet) => entryPoint.batch([approve(), deposit(wallet, amount, code)]))
    const first = await operation(1n, 70n, D)
    const other = await operation(2n, 80n, E)
    const bundle = { to: entryPoint.address, data: entryPoint.handleOps([first.op, other.op]) }
    const handedOn = await deploy(scriptCode({ passOn: entryPoint.address }))
    const tail = Buffer.from(`${E}\u0008\u0000`).toString('hex') + '8021'.repeat(8)
    const passed = await send(bundler, { to: handedOn, data: `${bundle.data}${tail}` })
    expect(await entriesOf(passed)).toMatchObject([
      credited(D, 'signed', first.sender, 70n),
      credited(E, 'signed', other.sender, 80n),
    ])
    const third = await operation(3n, 90n, D)
    const kept = await deploy(scriptCode([{ to: entryPoint.address, data: entryPoint.handleOps([third.op]) }]))
    expect(await entriesOf(await send(bundler, { to: kept, data: '0x' }))).toMatchObject([
      credited(D, 'signed', third.sender, 90n),
    ])
  }, 60_000)
})

describe('an operation that runs another EntryPoint’s bundle', () => {
  it('leaves each account what its own calls made, by trace', async () => {
    const [outer, inner] = [await openEntryPoint(earn.db, world, '06'), await openEntryPoint(earn.db, world, '07')]
    const within = await inner.operation(5n, (wallet) => inner.batch([approve(), deposit(wallet, 33n, E)]))
    const nested = { to: inner.address, data: inner.handleOps([within.op]) }
    const calls = (wallet: Address) => outer.batch([approve(), nested, deposit(wallet, 44n, D)])
    const around = await outer.operation(6n, calls, 6_000_000n)
    expect(await entriesOf(await outer.bundle([around.op]))).toMatchObject([
      credited(E, 'signed', within.sender, 33n),
      credited(D, 'signed', around.sender, 44n),
    ])
  }, 60_000)
})

describe('a Safe 1.4.1 by trace', () => {
  it('is credited for what a module makes it do, alone and through multiSend, whoever calls the module', async () => {
    const { abi } = readPublished('@safe-global/safe-contracts/build/artifacts/contracts/Safe.sol/Safe.json')
    const library = readPublished(
      '@safe-global/safe-contracts/build/artifacts/contracts/libraries/MultiSend.sol/MultiSend.json',
    )
    const multiSend = await deploy(library.bytecode)
    const safes = await deploySafeWorld((input) => world.anvil.deploy({ ...input, args: [...input.args] }))
    const safe = safes.plan(owner, 1n)
    await send(bundler, safe.creation)
    await mint(safe.address)
    const module = await deploy(scriptCode({ passOn: safe.address }))
    const enable = encodeFunctionData({ abi, functionName: 'enableModule', args: [module] })
    await send(bundler, await safe.execute({ to: safe.address, data: enable }, 0n))
    await send(bundler, await safe.execute(approve(), 1n))
    const run = ({ to, data }: Call, operation = 0): Call => ({
      to: module,
      data: encodeFunctionData({ abi, functionName: 'execTransactionFromModule', args: [to, 0n, data, operation] }),
    })
    const alone = await send(user, run(deposit(safe.address, 21n, D)))
    expect(await entriesOf(alone)).toMatchObject([credited(D, 'signed', safe.address, 21n)])
    const part = ({ to, data }: Call) =>
      `00${to.slice(2)}${'0'.repeat(64)}${(data.length / 2 - 1).toString(16).padStart(64, '0')}${data.slice(2)}`
    const packed: Hex = `0x${part(deposit(safe.address, 22n, D))}${part(deposit(safe.address, 23n, E))}`
    const batch = encodeFunctionData({ abi: library.abi, functionName: 'multiSend', args: [packed] })
    const together = await send(user, run({ to: multiSend, data: batch }, 1))
    expect(await entriesOf(together)).toMatchObject([
      credited(D, 'signed', safe.address, 22n),
      credited(E, 'signed', safe.address, 23n),
    ])
  }, 60_000)
})

describe('what stands between a wallet and the vault, by trace', () => {
  it('is credited as Multicall3 ran it: its own call for the wallet it delivers to, the wallet’s own code before it', async () => {
    const constants = join(dirname(createRequire(import.meta.url).resolve('viem')), '../_esm/constants/contracts.js')
    const { multicall3Bytecode } = (await import(pathToFileURL(constants).href)) as { multicall3Bytecode: Hex }
    const multicall = await deploy(multicall3Bytecode)
    await mint(user.address)
    await send(user, approve(multicall))
    const calls = [
      { ...approve(), data: encode.transferFrom(user.address, multicall, 31n) },
      approve(),
      deposit(user.address, 31n, D),
    ].map(({ to: target, data: callData }) => ({ target, callData, allowFailure: false }))
    const data = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [calls] })
    expect(await entriesOf(await send(user, { to: multicall, data }))).toMatchObject([
      { ...credited(D, 'unsigned', user.address, 31n), isSwap: false },
    ])
    const own = withSuffix(data, user.address, multicall, E)
    expect(await entriesOf(await send(user, { to: multicall, data: own }))).toMatchObject([
      credited(E, 'signed', user.address, 31n),
    ])
  }, 60_000)

  it('is credited through a router of commands that pulls by an allowance contract, deposits for itself and sweeps', async () => {
    const commands = parseAbi(['function execute(bytes commands, bytes[] inputs, uint256 deadline)'])
    const [from] = await world.anvil.client.getAddresses()
    const nonce = BigInt(await world.anvil.client.getTransactionCount({ address: from! }))
    const [pullerAt, routerAt] = [0n, 1n].map((more) => getContractAddress({ from: from!, nonce: nonce + more })) as [
      Address,
      Address,
    ]
    const pulls = { to: world.token, data: encode.transferFrom(user.address, routerAt, 40n) }
    expect(await deploy(scriptCode([pulls]))).toBe(pullerAt)
    const sweep = { to: world.vault, data: encode.transfer(user.address, 40n) }
    const steps = [{ to: pullerAt, data: '0x36c78516' as Hex }, approve(), deposit(routerAt, 40n), sweep]
    expect(await deploy(scriptCode(steps))).toBe(routerAt)
    await mint(user.address)
    await send(user, approve(pullerAt))
    const args = ['0x020b', ['0x', '0x'], 4_000_000_000n] as const
    const data = encodeFunctionData({ abi: commands, functionName: 'execute', args })
    const coded = await send(user, { to: routerAt, data: withSuffix(data, user.address, routerAt, D) })
    expect(await entriesOf(coded)).toMatchObject([credited(D, 'signed', user.address, 40n)])
    expect(await entriesOf(await send(user, { to: routerAt, data }))).toEqual([])
    expect(
      await world.anvil.client.readContract({
        address: world.vault,
        abi: erc20Abi,
        functionName: 'balanceOf',
        args: [routerAt],
      }),
    ).toBe(0n)
  }, 60_000)
})

describe('an account whose delegation changes in the block of its deposit', () => {
  it('is credited by its own batch, and keeps what it minted', async () => {
    const wallet = account(7)
    await mint(wallet.address)
    const delegate = readPublished('entry-point-08/artifacts/Simple7702Account.json')
    const [first, other] = [await world.anvil.deploy({ ...delegate, args: [] }), await deploy(scriptCode([]))]
    const { client } = world.anvil
    const nonce = await client.getTransactionCount({ address: wallet.address })
    const delegateTo = (address: Address, at: number) => wallet.signAuthorization({ address, chainId, nonce: at })
    const batch = [approve(), deposit(wallet.address, 65n, D)].map(({ to, data }) => ({ target: to, value: 0n, data }))
    const fees = (tip: bigint) => ({ gas: 2_000_000n, maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: tip })
    await client.request({ method: 'evm_setAutomine', params: [false] } as never)
    const hash = await client.sendTransaction({
      ...{ account: wallet, to: wallet.address, nonce, ...fees(10n ** 9n) },
      data: encodeFunctionData({ abi: delegate.abi, functionName: 'executeBatch', args: [batch] }),
      authorizationList: [await delegateTo(first, nonce + 1)],
    })
    const changed = await client.sendTransaction({
      ...{ account: user, to: user.address, ...fees(1n) },
      authorizationList: [await delegateTo(other, nonce + 2)],
    })
    await client.request({ method: 'evm_mine', params: [] } as never)
    await client.request({ method: 'evm_setAutomine', params: [true] } as never)
    const blocks = await Promise.all([hash, changed].map((of) => client.getTransactionReceipt({ hash: of })))
    expect(new Set(blocks.map(({ blockHash }) => blockHash)).size).toBe(1)
    expect(await client.getCode({ address: wallet.address })).toBe(`0xef0100${other.slice(2).toLowerCase()}`)
    expect(await entriesOf(hash)).toMatchObject([credited(D, 'signed', wallet.address, 65n)])
  })
})
