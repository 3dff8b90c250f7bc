import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { signDigest } from '@openearn/attribution'
import { streamAbi, yieldVaultAbi } from '@openearn/contracts'
import type { Abi, Address, Hex } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { account } from '../../../contracts/test/anvil.js'
import { chainSettings, keyOf } from '../../test/actionWorld.js'
import { urlOf } from '../../test/database.js'
import { stranger } from '../../test/rewardFiles.js'
import { committer, openStreamChain, pauser, type StreamChain } from '../../test/streamChain.js'
import {
  listDoubtedRoots,
  runRootWatch,
  runStreamCommits,
  runStreamSnapshots,
  runStreamTrees,
} from '../features/streams/index.js'
import { decodeRewardFile, encodeRewardFile, toResult } from '../features/streams/rewards/rewardFile.js'
import { findRewardFile } from '../features/streams/storeSnapshots.js'
import { systemClock } from '../kernel/clock.js'
import { type Log, silentLog } from '../kernel/log.js'
import { createOutbound } from '../kernel/outbound.js'
import { type Chain, openChains } from '../rpc/chains.js'
import { type Rpc, RpcError, type RpcRequest } from '../rpc/rpc.js'
import { createSender, type Sender } from '../rpc/sender/index.js'
import { createKeySigner, type Signer } from '../rpc/signer.js'
import { listJobs } from '../server/jobs.js'
import { examine } from './doctor.js'
import { streams } from './streams.js'

const startsAt = Date.parse('2026-11-20T12:00:00Z') / 1_000
const halfDay = 43_200
const vetoSeconds = 60
const [first, second] = [account(6), account(7)].map(({ address }) => address) as [Address, Address]

let chain: StreamChain
let honest: Chain
let folder: string
let id: string
let contract: Address
let signer: Signer
let sender: Sender
let instant = 0
type Logged = { level: string; message: string; root?: string; found?: string[]; pause?: { to: Address; data: Hex } }
const logged: Logged[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roots-'))
  chain = await openStreamChain()
  const { earn, anvil, world, vault } = chain
  vi.stubEnv('DATABASE_URL', urlOf(earn.target))
  await earn.db`update chains set rpc_urls = ${[anvil.url]} where chain_id = ${chain.chainId}`
  const node = earn.ctx.chains.get(chain.chainId)
  if (!node) throw new Error('the world has a chain')
  honest = node
  signer = createKeySigner((await keyOf(2)).key, signDigest)
  sender = createSender(earn.ctx, { chain: node, signer, caps: { gasPrice: 10n ** 12n, spending: 10n ** 19n } })
  await world.mint(vault.asset, world.owner.address, 1_000_000_000n)
  await world.write(vault.asset, yieldVaultAbi as Abi, 'approve', [vault.address, 1_000_000_000n])
  const made = await chain.stream({
    ...{ type: 3, totalAmount: null, customArgs: { targetTokenId: chain.idOf(vault.address), tokensPerDay: '86400' } },
  })
  id = made.id
  contract = made.contract
  for (const to of [first, second]) await world.write(vault.address, yieldVaultAbi as Abi, 'deposit', [1_000_000n, to])
}, 120_000)
afterAll(async () => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
  await chain?.close()
  await rm(folder, { recursive: true, force: true })
})
beforeEach(() => {
  logged.length = 0
})

const setClock = (now: Date) => {
  chain.earn.clock.set(now)
  vi.useFakeTimers({ toFake: ['Date'], now })
}
const wait = (seconds: number) => setClock(new Date(chain.earn.clock.now().getTime() + seconds * 1_000))

/** The next instant of a snapshot is final, and its snapshot is taken; `change` happens before its tree is computed. */
async function takeNext(change: () => Promise<unknown> = async () => undefined): Promise<void> {
  instant += 1
  const { anvil, world, earn } = chain
  const at = startsAt + instant * halfDay + 1
  await anvil.client.setNextBlockTimestamp({ timestamp: BigInt(at) })
  await anvil.client.mine({ blocks: 70, interval: 1 })
  setClock(new Date((at + 70) * 1_000))
  await world.sync()
  await runStreamSnapshots(earn.ctx, { everySeconds: halfDay })
  await change()
  await runStreamTrees(earn.ctx)
}

/** The job, with nodes under some names. */
async function watch(nodes: Record<string, Chain>, vetoes = true): Promise<void> {
  const tell = (level: string) => (fields: object, message: string) => logged.push({ level, message, ...fields })
  const log = { ...silentLog, info: tell('info'), warn: tell('warn'), error: tell('error') } as unknown as Log
  await runRootWatch({ ...chain.earn.ctx, log }, { vetoes, nodesOf: () => new Map(Object.entries(nodes)) })
}

async function commit(): Promise<void> {
  const { earn, anvil, world } = chain
  await runStreamCommits(earn.ctx, { vetoSeconds, committerOf: () => signer.address, costMax: 10n ** 18n })
  await sender.step()
  await anvil.client.mine({ blocks: 1 })
  await sender.step()
  await world.sync()
}

const newest = async () => {
  const [row] = await chain.earn.db<{ id: string; root: string; file: string; vetoed: boolean; committed: boolean }[]>`
    select id, hex_text(root) as root, hex_text(file_hash) as file, vetoed_at is not null as vetoed,
      commit_id is not null as committed
    from stream_snapshots where stream_id = ${id} order by snapshot_at desc limit 1`
  if (!row) throw new Error('no snapshot was taken')
  return row
}

/** A node that changes what it is asked and what it answers. */
function nodeOf(change: {
  ask?: (request: RpcRequest) => RpcRequest
  tell?: (method: string, result: unknown) => unknown
}): Chain {
  const { ask = (request) => request, tell = (_, result) => result } = change
  const rpc: Rpc = {
    ...honest.rpc,
    as: () => rpc,
    request: async (request) => tell(request.method, await honest.rpc.request(ask(request))),
    batch: async (requests) =>
      (await honest.rpc.batch(requests.map(ask))).map((result, index) => tell(requests[index]?.method ?? '', result)),
  }
  return { ...honest, rpc }
}

/** A node that refuses long ranges of blocks, and the ranges that it answered, by the addresses they are of. */
function shortSighted() {
  const most = 4
  const answered = new Map<string, [from: number, to: number][]>()
  const ask = (request: RpcRequest): RpcRequest => {
    if (request.method !== 'eth_getLogs') return request
    const [{ fromBlock, toBlock, address }] = request.params as [Record<'fromBlock' | 'toBlock' | 'address', unknown>]
    const [from, to] = [Number(fromBlock), Number(toBlock)]
    if (to - from >= most) throw new RpcError(-32_005, 'the range is too long', undefined)
    const key = JSON.stringify(address)
    answered.set(key, [...(answered.get(key) ?? []), [from, to]])
    return request
  }
  return { short: nodeOf({ ask }), answered }
}

async function run(...words: string[]): Promise<string> {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    await streams.run(words)
    return write.mock.calls.map(([text]) => String(text)).join('')
  } finally {
    write.mockRestore()
  }
}

function takeExitCode(): typeof process.exitCode {
  const { exitCode } = process
  process.exitCode = undefined
  return exitCode
}

describe('a root that is looked at before it is committed', () => {
  it('is right by the stored facts and two nodes, one of which refuses long ranges, and is committed once its time to be vetoed is over', async () => {
    await takeNext()
    const { short, answered } = shortSighted()
    await watch({ one: honest, other: short })
    // No lower start is known: every block is asked about once, from the first on.
    expect(answered.size).toBe(2)
    for (const ranges of answered.values()) {
      expect(ranges.length).toBeGreaterThan(3)
      expect(ranges.map(([from]) => from)).toEqual([0, ...ranges.slice(0, -1).map(([, to]) => to + 1)])
    }
    expect(logged).toMatchObject([{ level: 'info', message: 'a root is counted again: it is right', streamId: id }])
    const { root } = await newest()
    expect(await run('watch-root', id)).toBe(
      `2026-11-21T00:00:00Z  ${root}  43200  ours  right\n  stored facts: as it is\n  ${new URL(chain.anvil.url).host}: as it is\n`,
    )
    expect(takeExitCode()).toBeUndefined()
    await watch({ one: honest, other: honest })
    expect(logged).toHaveLength(1)
    await commit()
    expect((await newest()).committed).toBe(false)
    wait(vetoSeconds)
    await commit()
    expect(await newest()).toMatchObject({ committed: true, vetoed: false })
    await expect(run('watch-root', 'someone')).rejects.toThrow('by its id')
    await expect(run('watch-root', id.replace(/^.{8}/, '00000000'))).rejects.toThrow('there is no confirmed stream')
  }, 60_000)

  it('is named and vetoed within 60 s where one leaf has a unit more, also by one node that is asked twice', async () => {
    const wallet = first.toLowerCase()
    await takeNext(async () => {
      const { id: snapshotId } = await newest()
      await chain.earn.db`
        update stream_wallet_snapshots set rewards = rewards + 1
        where snapshot_id = ${snapshotId} and wallet = hex_bytes(${wallet})`
      await chain.earn
        .db`update stream_snapshots set amount_distributed = amount_distributed + 1 where id = ${snapshotId}`
    })
    const host = new URL(chain.anvil.url).host
    const said = await run('watch-root', id)
    expect(said).toMatch(/ {2}86401 {2}ours {2}DIFFERS$/m)
    for (const source of ['stored facts', host])
      expect(said).toMatch(new RegExp(`^ {2}${source}: ${wallet} has (\\d+)1, and has earned \\1\\d$`, 'm'))
    expect(said).toContain(`before it is committed: openearn streams veto ${id}`)
    expect(takeExitCode()).toBe(1)
    await watch({ one: honest })
    expect(logged).toMatchObject([{ level: 'error', veto: `openearn streams veto ${id}` }])
    expect(await newest()).toMatchObject({ committed: false, vetoed: false })
    expect(await listDoubtedRoots(chain.earn.db)).toMatchObject([{ streamId: id, sources: ['one', 'stored facts'] }])
    wait(15)
    await commit()
    await watch({ one: honest })
    expect(logged.at(-1)).toMatchObject({ level: 'error', message: expect.stringMatching(/it is vetoed$/) })
    expect(String(logged.at(-1)?.found)).toContain(`${wallet} has `)
    expect(await newest()).toMatchObject({ committed: false, vetoed: true })
    wait(vetoSeconds)
    await commit()
    expect(await newest()).toMatchObject({ committed: false, vetoed: true })
    expect(await listDoubtedRoots(chain.earn.db)).toEqual([])
  }, 60_000)

  it('is not vetoed by a node that lies or lags alone: there is an alarm, and it is committed', async () => {
    await takeNext()
    let lies = 0
    const liar = nodeOf({
      tell: (method, result) => {
        if (method !== 'eth_getLogs' || !Array.isArray(result) || result.length < 2) return result
        lies += 1
        return result.slice(0, -1)
      },
    })
    const early = `0x${(await chain.anvil.client.getBlockNumber({ cacheTime: 0 }).then((number) => number - 75n)).toString(16)}`
    const lagging = nodeOf({
      ask: ({ method, params }) => {
        const isHead = method === 'eth_getBlockByNumber' && (params as unknown[])[0] === 'latest'
        return { method, params: isHead ? [early, false] : params }
      },
    })
    for (const nodes of [{ liar }, { liar, lagging }, { liar, honest }, { lagging }])
      for (let tick = 0; tick < 3; tick++) {
        await watch(nodes)
        expect(await newest()).toMatchObject({ committed: false, vetoed: false })
        wait(4)
      }
    expect(lies).toBeGreaterThan(0)
    const alarms = logged.filter(({ level }) => level === 'error')
    expect(alarms.length).toBeGreaterThan(0)
    for (const { found } of alarms) expect(String(found)).toContain('liar: the root is ')
    const [reading] = await chain.earn.db<{ told: boolean; problems: string[] }[]>`
      select is_told as told, problems from stream_root_readings where source = 'lagging' order by root_at desc limit 1`
    expect(reading).toEqual({ told: false, problems: ['the chain has not come past its instant'] })
    wait(vetoSeconds)
    await commit()
    expect(await newest()).toMatchObject({ committed: true, vetoed: false })
  }, 60_000)

  it('is told and not vetoed where the setting asks for alarms alone, or its commit is on its way', async () => {
    await takeNext(async () => {
      const { id: snapshotId } = await newest()
      await chain.earn.db`
        delete from stream_wallet_snapshots where snapshot_id = ${snapshotId} and wallet = hex_bytes(${second.toLowerCase()})`
      await chain.earn.db`
        update stream_snapshots n set amount_distributed = (
          select sum(rewards) from stream_wallet_snapshots w where w.snapshot_id = n.id)
        where id = ${snapshotId}`
    })
    await watch({ one: honest, other: honest }, false)
    expect(logged).toMatchObject([
      {
        level: 'error',
        found: expect.arrayContaining([expect.stringContaining(`${second.toLowerCase()} is missing`)]),
      },
    ])
    expect(await newest()).toMatchObject({ vetoed: false })
    wait(vetoSeconds)
    await runStreamCommits(chain.earn.ctx, { vetoSeconds, committerOf: () => signer.address, costMax: 10n ** 18n })
    await watch({ one: honest, third: honest })
    expect(await newest()).toMatchObject({ committed: true, vetoed: false })
    expect(logged.at(-1)).toMatchObject({
      level: 'error',
      pause: { command: expect.stringContaining('setClaimsPaused') },
    })
  }, 60_000)
})

describe('the setting', () => {
  const rootsOf = async (ctx: StreamChain['earn']['ctx']) =>
    (await examine(ctx)).filter(({ what }) => what.startsWith('roots of streams'))

  it('asks for the job, which vetoes a root that goes on from cut earnings, and the doctor names it until then', async () => {
    const { ctx, db } = chain.earn
    const job = listJobs({ capabilitySeconds: 60 }).find(({ name }) => name === 'roots counted again')
    if (!job) throw new Error('there is a job that counts roots again')
    // The wallets of the snapshot before lost one of them after its reward file was written.
    await takeNext()
    const { root } = await newest()
    const readings = () => db`select from stream_root_readings where root = hex_bytes(${root})`
    await job.run(ctx)
    expect(await readings()).toHaveLength(0)
    // The jobs have the chains as they are watched; the context of the world has them as requests do.
    const chains = openChains(createOutbound(systemClock), [chainSettings(chain.anvil.url)])
    const asked = { ...ctx, chains, config: { ...ctx.config, rootWatch: 'veto' as const, vetoSeconds: 59 } }
    await job.run(asked)
    expect(await readings()).toHaveLength(2)
    expect(await newest()).toMatchObject({ root, vetoed: false })
    const host = new URL(chain.anvil.url).host
    expect(await rootsOf(asked)).toMatchObject([
      {
        ...{ well: false, advice: `openearn streams watch-root ${id}` },
        detail: `1 differ; that of 2026-11-23T00:00:00Z of stream ${id} by ${host}, stored facts`,
      },
      { well: false, detail: '59 s', advice: expect.stringMatching(/^set VETO_SECONDS to at least 60/) },
    ])
    wait(15)
    await job.run(asked)
    expect(await newest()).toMatchObject({ root, committed: false, vetoed: true })
    expect(await rootsOf(ctx)).toMatchObject([
      { well: false, detail: expect.stringMatching(/^1 differ; that of 2026-11-22T/) },
    ])
  }, 60_000)
})

describe("a root on the chain that is not the service's", () => {
  it('raises an alarm with the command by which a holder of the role pauses the claims, and its file names the leaves', async () => {
    const { db } = chain.earn
    const [last] = await db<{ file: string }[]>`
      select hex_text(file_hash) as file from stream_snapshots n where stream_id = ${id} and vetoed_at is null
        and exists (select from stream_events e where e.stream_id = n.stream_id and e.root = n.root) order by snapshot_at desc limit 1`
    const { inputs, result } = decodeRewardFile((await findRewardFile(db, last?.file ?? '')) ?? '')
    const wallets = result.leaves.map(({ wallet, cumulative }, index) => ({
      wallet: index === 0 ? stranger : wallet,
      rewards: cumulative,
    }))
    const forged = toResult(wallets)
    const path = join(folder, 'forged.json')
    await writeFile(path, encodeRewardFile(inputs, forged).text)
    const given = [forged.root, inputs.to + 1, forged.total]
    await chain.world.write(contract, streamAbi as unknown as Abi, 'updateRoot', given, committer)
    await chain.world.sync()
    const said = await run('watch-root', id, '--file', path, '--rpc', chain.anvil.url)
    expect(said).toMatch(new RegExp(`${forged.root} {2}${forged.total} {2}not ours {2}DIFFERS$`, 'm'))
    expect(said).toContain(`${stranger} has ${wallets[0]?.rewards}, and has earned 0`)
    expect(said).toContain(
      `${pauser.address.toLowerCase()} or ${chain.world.owner.address.toLowerCase()}: cast send --chain`,
    )
    expect(takeExitCode()).toBe(1)
    await watch({ one: honest })
    const alarm = logged.find(({ root }) => root === forged.root)
    expect(alarm).toMatchObject({ level: 'error', message: expect.stringMatching(/not ours/), streamId: id })
    if (!alarm?.pause) throw new Error('the alarm says how claims are paused')
    await chain.send(alarm.pause, pauser)
    const read = { address: contract, abi: streamAbi, functionName: 'areClaimsPaused' } as const
    expect(await chain.anvil.client.readContract(read)).toBe(true)
    const told = () => logged.filter(({ level, root }) => level === 'error' && root === forged.root).length
    expect(told()).toBe(1)
    for (let minute = 0; minute < 3; minute++) {
      wait(60)
      await watch({ one: honest })
    }
    expect(told()).toBe(1)
  }, 60_000)
})
