import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Abi, type Address, encodeFunctionData, erc20Abi, getContractAddress, type Hex, multicall3Abi } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../contracts/test/until.js'
import { encode, scriptCode } from '../../test/attacks/creditWorld.js'
import type { Fault } from '../../test/chain/badNode.js'
import { type FaultWorld, openFaultWorld } from '../../test/chain/faultWorld.js'
import { chainId } from '../../test/chain/watchWorld.js'
import { rebuildChain } from '../../test/pipeline.js'
import { deploySafeWorld } from '../../test/safe.js'
import type { Watcher } from '../../test/sink.js'
import { systemClock } from '../kernel/clock.js'
import { silentLog } from '../kernel/log.js'
import type { CallPaths, Evidence } from '../rpc/callPaths.js'
import { listProjections } from '../server/projections.js'
import { computeStateHash } from '../server/stateHash.js'
import { openTracing } from '../server/tracing.js'
import { type Retraced, retraceRange } from './retrace.js'
import { findRawTransaction } from './storeRaw.js'

let fault: FaultWorld
let world: FaultWorld['world']
let alice: FaultWorld['alice']
let bob: FaultWorld['bob']
const D = 'Y2Zi7KWy'

beforeAll(async () => {
  fault = await openFaultWorld()
  ;({ world, alice, bob } = fault)
})
afterEach(() => fault.stopNodes())
afterAll(() => fault?.close())

const db = () => fault.earn.db
type Options = { wait?: number; trusts?: boolean }
/** A watcher whose traces come of these urls; by default of the chain's own node. */
const tracedBy = async (urls: readonly string[] = [world.anvil.url], options: Options = {}): Promise<Watcher> => {
  const chain = fault.chainOver(urls, 500)
  const settings = { ...chain, traceWaitSeconds: options.wait ?? 600, trustTraces: options.trusts ?? false }
  const tracing = openTracing({ clock: systemClock, log: silentLog }, settings)
  await tracing?.tracer.open()
  return world.watcher({ tracing })
}
const evidenceOf = async (hash: Hex): Promise<Evidence | undefined> =>
  (await findRawTransaction(db(), hash, chainId))?.evidence
const pathsOf = async (hash: Hex): Promise<CallPaths> => {
  const evidence = await evidenceOf(hash)
  if (!evidence || evidence === 'no trace') throw new Error(`evidence is ${evidence}`)
  return evidence
}
const lower = (address: string) => address.toLowerCase()
const told = ({ calls }: CallPaths) => calls.map(({ kind, caller, target }) => [kind, caller, target])
const deploy = (bytecode: Hex) => world.anvil.deploy({ abi: [], bytecode, args: [] })
const approve = () => encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [world.vault, 2n ** 255n] })
const give = async (to: Address, amount: bigint) =>
  world.anvil.done(
    world.anvil.client.writeContract({
      address: world.token,
      abi: [
        {
          type: 'function',
          name: 'mint',
          stateMutability: 'nonpayable',
          inputs: [{ type: 'address' }, { type: 'uint256' }],
          outputs: [],
        },
      ] as const,
      functionName: 'mint',
      args: [to, amount],
    }),
  )
/** A contract that deposits its own assets for alice, with a suffix that nobody sent it. */
const deployRouter = async (suffix = ''): Promise<Address> => {
  const deposit: Hex = `${encode.deposit(1_000n, alice.address)}${suffix}`
  const router = await deploy(
    scriptCode([
      { to: world.token, data: approve() },
      { to: world.vault, data: deposit },
    ]),
  )
  await give(router, 1_000_000n)
  return router
}
const rows = async () => {
  const [row] = await db()<{ paths: number; awaited: number }[]>`
    select (select count(*) from call_paths) as paths, (select count(*) from awaited_traces) as awaited`
  return row
}
/** Asks at once for what is awaited, until there is nothing. */
const nothingAwaited = (watcher: Watcher) =>
  until('the traces awaited', async () => {
    await db()`update awaited_traces set next_at = now()`
    await world.sync(watcher)
    return (await rows())?.awaited === 0
  })
const none: Fault = (call) =>
  /^(debug|trace)_/.test(call.method) && call.params[0] !== `0x${'00'.repeat(32)}`
    ? { id: call.id, error: { code: -32000, message: 'missing trie node' } }
    : undefined

describe('traces of a chain that is followed', () => {
  it('are asked for where calldata alone does not tell, and not of a plain deposit', async () => {
    const plain = await world.deposit(alice, 5_000_000n, D)
    const router = await deployRouter()
    const routed = await world.send(bob, router, '0x')
    await world.sync(await tracedBy())
    expect(await evidenceOf(plain)).toBeUndefined()
    expect(told(await pathsOf(routed))).toEqual([
      ['call', lower(bob.address), lower(router)],
      ['call', lower(router), lower(world.vault)],
    ])
  })

  it('are kept of Multicall3 and of a Safe as their real bytecode ran', async () => {
    const constants = join(dirname(createRequire(import.meta.url).resolve('viem')), '../_esm/constants/contracts.js')
    const { multicall3Bytecode } = (await import(pathToFileURL(constants).href)) as { multicall3Bytecode: Hex }
    const multicall = await deploy(multicall3Bytecode)
    await give(multicall, 1_000_000n)
    const calls = [
      { target: world.token, allowFailure: false, callData: approve() },
      { target: world.vault, allowFailure: true, callData: encode.deposit(10n ** 30n, alice.address) },
      { target: world.vault, allowFailure: false, callData: encode.deposit(500n, alice.address) },
    ]
    const data = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [calls] })
    const batched = await world.send(bob, multicall, data)
    const safes = await deploySafeWorld(({ abi, bytecode, args }) =>
      world.anvil.deploy({ abi: abi as Abi, bytecode, args: [...args] }),
    )
    const safe = safes.plan(alice, 1n)
    await world.send(bob, safe.creation.to, safe.creation.data)
    await give(safe.address, 10_000n)
    const approval = await safe.execute({ to: world.token, data: approve() }, 0n)
    await world.send(bob, approval.to, approval.data)
    const deposit = await safe.execute({ to: world.vault, data: encode.deposit(700n, safe.address) }, 1n)
    const executed = await world.send(bob, deposit.to, deposit.data)
    await world.sync(await tracedBy())
    expect(told(await pathsOf(batched))).toEqual([
      ['call', lower(bob.address), lower(multicall)],
      ['call', lower(multicall), lower(world.vault)],
    ])
    const ofSafe = await pathsOf(executed)
    expect(ofSafe.calls.map(({ kind, caller }) => [kind, caller])).toEqual([
      ['call', lower(bob.address)],
      ['delegatecall', lower(safe.address)],
      ['call', lower(safe.address)],
    ])
    expect(ofSafe.calls.every(({ isWord }) => !isWord)).toBe(true)
    expect(ofSafe.calls.at(-1)?.input).toBe(encode.deposit(700n, safe.address))
  })

  it('are kept of a contract whose constructor deposits, codes in its own data and all', async () => {
    // Whoever makes it funds it in the transaction before: its address is known.
    const nonce = await world.anvil.client.getTransactionCount({ address: bob.address })
    const made = getContractAddress({ from: bob.address, nonce: BigInt(nonce) })
    await give(made, 1_000n)
    const body = scriptCode([
      { to: world.token, data: approve() },
      { to: world.vault, data: `${encode.deposit(1_000n, alice.address)}deadbeef` },
    ])
    // What would be returned as the contract's code runs as its constructor instead.
    const run: Hex = `0x${body.slice(2 + 18 * 2)}`
    const hash = await world.anvil.client.sendTransaction({ account: bob, data: run, gas: 2_000_000n, to: null })
    await world.anvil.done(hash)
    await world.sync(await tracedBy())
    expect(told(await pathsOf(hash))).toEqual([
      ['create', lower(bob.address), lower(made)],
      ['call', lower(made), lower(world.vault)],
    ])
  })

  it('go with an orphaned block, and a rebuild gives the same rows of those that are kept, asking nobody', async () => {
    const router = await deployRouter()
    await world.send(bob, router, '0x')
    await world.sync(await tracedBy())
    const before = await rows()
    await world.send(bob, router, '0x')
    await world.sync(await tracedBy())
    expect(await rows()).toEqual({ ...before, paths: (before?.paths ?? 0) + 1 })
    await world.anvil.client.request({ method: 'anvil_reorg', params: [1, []] } as never)
    await world.sync(await tracedBy())
    expect(await rows()).toEqual(before)
    await fault.expectRebuilt()
  })
})

describe('traces that do not come at once', () => {
  it('do not hold up the head: calldata decides until they come, and then the block is derived again', async () => {
    const node = await fault.badNode(none)
    const watcher = await tracedBy([node.url])
    const hash = await world.send(bob, await deployRouter(), '0x')
    await world.sync(watcher)
    expect(await evidenceOf(hash)).toBeUndefined()
    expect(await rows()).toMatchObject({ awaited: 1 })
    node.state.fault = undefined
    await nothingAwaited(watcher)
    expect(await evidenceOf(hash)).toMatchObject({ hasLogs: true })
    expect(await rows()).toMatchObject({ awaited: 0 })
    await fault.expectRebuilt()
  })

  it('are given up after traceWaitSeconds: that is kept as an observation, and the ability regained changes nothing', async () => {
    const node = await fault.badNode(none)
    const hash = await world.send(bob, await deployRouter(), '0x')
    const watcher = await tracedBy([node.url], { wait: 0 })
    await world.sync(watcher)
    await nothingAwaited(watcher)
    expect(await evidenceOf(hash)).toBe('no trace')
    await world.sync(await tracedBy())
    expect(await evidenceOf(hash)).toBe('no trace')
    expect(await rows()).toMatchObject({ awaited: 0 })
  })

  it('are asked of another url when one fails, has only recent blocks, or tells what does not hold together', async () => {
    const faults: Fault[] = [
      none,
      (call) => (call.method === 'debug_traceTransaction' ? 'hang' : undefined),
      (call) => (call.method === 'debug_traceTransaction' ? { status: 500, body: 'no' } : undefined),
      (call, truth) =>
        call.method === 'debug_traceTransaction'
          ? { ...truth, result: { ...(truth.result as object), from: world.vault } }
          : undefined,
      (call, truth) =>
        call.method === 'debug_traceTransaction'
          ? { ...truth, result: { ...(truth.result as object), calls: [] } }
          : undefined,
      (call) => (call.method === 'debug_traceTransaction' ? { id: call.id, result: null } : undefined),
      (call, truth) =>
        call.method === 'eth_getTransactionByHash'
          ? { ...truth, result: { ...(truth.result as object), nonce: '0x0' } }
          : undefined,
    ]
    const router = await deployRouter()
    for (const wrong of faults) {
      const node = await fault.badNode()
      const watcher = await tracedBy([node.url, world.anvil.url])
      await world.sync(watcher)
      node.state.fault = wrong
      const hash = await world.send(bob, router, '0x')
      await world.sync(watcher)
      await nothingAwaited(watcher)
      expect(told(await pathsOf(hash))).toHaveLength(2)
      expect(node.state.faults).toBeGreaterThan(0)
    }
  }, 60_000)

  it('are not asked for where no url can give them, and nothing is awaited', async () => {
    const node = await fault.badNode((call) =>
      /^(debug|trace)_/.test(call.method)
        ? { id: call.id, error: { code: -32601, message: 'the method does not exist' } }
        : undefined,
    )
    const before = await rows()
    const hash = await world.send(bob, await deployRouter(), '0x')
    await world.sync(await tracedBy([node.url]))
    expect(await evidenceOf(hash)).toBeUndefined()
    expect(await rows()).toEqual(before)
    await world.sync(await tracedBy())
    expect(await evidenceOf(hash)).toBeUndefined()
  })
})

describe('traces that an operator asks for again', () => {
  const again = async (hash: Hex, isDry: boolean) => {
    const at = (await findRawTransaction(db(), hash, chainId))?.blockNumber ?? -1
    const chain = fault.chainOver([world.anvil.url], 5_000)
    const tracing = openTracing({ clock: systemClock, log: silentLog }, chain)
    if (!tracing) throw new Error('the chain has a url')
    const told: Retraced[] = []
    const done = await retraceRange(
      { db: db(), clock: systemClock },
      {
        ...{ chainId, projections: listProjections(), from: at, to: at, tracer: tracing.tracer, isDry },
        onDifferences: (each) => told.push(each),
      },
    )
    expect(told).toEqual([done])
    return done
  }

  it('change nothing in a dry run, and else put in place what differs, of which a rebuild gives the same', async () => {
    const hash = await world.send(bob, await deployRouter(), '0x')
    await world.sync()
    const before = await computeStateHash(db(), chainId)
    expect(await again(hash, true)).toMatchObject({ asked: 1, traced: 1, changed: 1 })
    expect(await evidenceOf(hash)).toBeUndefined()
    expect(await computeStateHash(db(), chainId)).toBe(before)
    expect(await again(hash, false)).toMatchObject({ asked: 1, traced: 1, changed: 1 })
    expect(told(await pathsOf(hash))).toHaveLength(2)
    expect(await again(hash, false)).toMatchObject({ asked: 1, traced: 1, changed: 0, differences: [] })
    await fault.expectRebuilt()
  })
})

describe('wallets that may keep shares without a call of theirs', () => {
  it('are asked for their code at the block, a delegation being none, and what was told is kept', async () => {
    const hash = await world.send(bob, await deployRouter(), '0x')
    const projections = listProjections()
    const [positions, ...others] = projections.derived
    if (!positions) throw new Error('there is no projection')
    const wallets = [world.vault, alice.address, bob.address].map(lower)
    const keepers = () => wallets
    const asking = {
      ...positions,
      sources: (config: unknown) => positions.sources(config).map((source) => ({ ...source, keepers })),
    }
    await world.anvil.client.request({
      method: 'anvil_setCode',
      params: [bob.address, `0xef0100${world.vault.slice(2)}`],
    } as never)
    const set = await world.send(alice, await deployRouter(), '0x')
    await world.sync(world.watcher({ projections: { ...projections, derived: [asking, ...others] } }))
    for (const each of [hash, set])
      expect((await findRawTransaction(db(), each, chainId))?.contracts).toEqual([lower(world.vault)])
    await world.anvil.client.request({ method: 'anvil_setCode', params: [bob.address, '0x'] } as never)
    await fault.expectRebuilt()
  })
})

describe('what a node tells without logs', () => {
  it('proves the calls alone, by trace_transaction', async () => {
    const node = await fault.badNode((call) =>
      call.method.startsWith('debug_') ? { id: call.id, error: { code: -32601, message: 'no' } } : undefined,
    )
    const hash = await world.send(bob, await deployRouter(), '0x')
    await world.sync(await tracedBy([node.url]))
    expect(await pathsOf(hash)).toMatchObject({ hasLogs: false, calls: [{ logs: [] }, { logs: [] }] })
  })
})

describe('a suffix that its contract made up', () => {
  const suffix = 'deadbeef'
  const words = async (hash: Hex) => (await pathsOf(hash)).calls.map(({ isWord }) => isWord)

  it('rests on one node’s word, until a second one tells the same calls', async () => {
    const router = await deployRouter(suffix)
    const alone = await world.send(bob, router, '0x')
    await world.sync(await tracedBy())
    expect(await words(alone)).toEqual([false, true])
    const node = await fault.badNode()
    const second = await world.send(bob, router, '0x')
    await world.sync(await tracedBy([world.anvil.url, node.url]))
    expect(await words(second)).toEqual([false, false])
    expect(await words(alone)).toEqual([false, true])
  })

  it('stays so where two nodes disagree, and is asked for again until they do not', async () => {
    const router = await deployRouter(suffix)
    const other = await fault.badNode((call, truth) =>
      call.method === 'debug_traceTransaction'
        ? { ...truth, result: JSON.parse(JSON.stringify(truth.result).replaceAll('deadbeef', 'deadbeee')) }
        : undefined,
    )
    const watcher = await tracedBy([world.anvil.url, other.url])
    const hash = await world.send(bob, router, '0x')
    await world.sync(watcher)
    expect(await words(hash)).toEqual([false, true])
    expect(await rows()).toMatchObject({ awaited: 1 })
    other.state.fault = undefined
    await nothingAwaited(watcher)
    expect(await words(hash)).toEqual([false, false])
    expect(await rows()).toMatchObject({ awaited: 0 })
  })
})

describe('a past that is read', () => {
  it('has the traces of blocks with many of them by block, and gives the rows a rebuild gives', async () => {
    const router = await deployRouter()
    await world.sync(await tracedBy())
    await world.anvil.client.setAutomine(false)
    for (let i = 0; i < 9; i++)
      await world.anvil.client.sendTransaction({ account: bob, to: router, data: '0x', gas: 1_000_000n })
    await world.anvil.client.mine({ blocks: 1 })
    await world.anvil.client.setAutomine(true)
    await world.anvil.client.mine({ blocks: 100 })
    const node = await fault.badNode()
    const before = await rows()
    await world.sync(await tracedBy([node.url]))
    expect(await rows()).toEqual({ ...before, paths: (before?.paths ?? 0) + 9 })
    expect(node.calls.get('debug_traceBlockByHash')).toBe(2)
    const { hash } = await rebuildChain({ db: db(), clock: systemClock }, { chainId })
    expect(hash).toMatch(/^[0-9a-f]{64}$/)
  })
})
