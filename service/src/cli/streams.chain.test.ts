import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { signDigest } from '@openearn/attribution'
import { streamAbi, yieldVaultAbi } from '@openearn/contracts'
import { verifyReward } from '@openearn/sdk/proof'
import type { Abi, Address } from 'viem'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { account } from '../../../contracts/test/anvil.js'
import { keyOf } from '../../test/actionWorld.js'
import { urlOf } from '../../test/database.js'
import { rebuildChain } from '../../test/pipeline.js'
import { moveEarned, stranger } from '../../test/rewardFiles.js'
import { committer, openStreamChain, type StreamChain } from '../../test/streamChain.js'
import { listChanges } from '../features/audit/index.js'
import { computeSnapshot } from '../features/streams/amounts.js'
import {
  decodeRewardFile,
  encodeRewardFile,
  hashFile,
  type RewardInputs,
  type RewardResult,
  recomputeRewards,
} from '../features/streams/rewards/rewardFile.js'
import { systemClock } from '../kernel/clock.js'
import { createKeySigner } from '../rpc/signer.js'
import { listJobs } from '../server/jobs.js'
import { streams } from './streams.js'

const startsAt = Date.parse('2026-11-20T12:00:00Z') / 1_000
const halfDay = 43_200
const [first, second] = [account(6), account(7)]

let chain: StreamChain
let folder: string
let id: string
let contract: Address
let work: () => Promise<void>

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'streams-'))
  chain = await openStreamChain()
  const { earn, anvil, world, vault } = chain
  vi.stubEnv('DATABASE_URL', urlOf(earn.target))
  vi.stubEnv('SUDO_USER', '')
  await earn.db`update chains set rpc_urls = ${[anvil.url]} where chain_id = ${chain.chainId}`
  const signer = createKeySigner((await keyOf(2)).key, signDigest)
  const jobs = listJobs({ capabilitySeconds: 60, committer: signer }).filter(({ name }) =>
    ['snapshots of streams', 'trees of streams', 'roots of streams', 'transactions of our own'].includes(name),
  )
  expect(jobs).toHaveLength(4)
  work = async () => {
    for (const job of jobs) await job.run(earn.ctx)
    await anvil.client.mine({ blocks: 1 })
    await jobs[3]?.run(earn.ctx)
    await world.sync()
  }
  await world.mint(vault.asset, world.owner.address, 1_000_000_000n)
  await world.write(vault.asset, yieldVaultAbi as Abi, 'approve', [vault.address, 1_000_000_000n])
  const made = await chain.stream({
    ...{ type: 3, totalAmount: null, customArgs: { targetTokenId: chain.idOf(vault.address), tokensPerDay: '86400' } },
  })
  id = made.id
  contract = made.contract
  for (const { address } of [first, second]) await deposit(address)
}, 120_000)
afterAll(async () => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
  await chain?.close()
  await rm(folder, { recursive: true, force: true })
})

const deposit = (to: Address) =>
  chain.world.write(chain.vault.address, yieldVaultAbi as Abi, 'deposit', [1_000_000n, to])

/** The chain comes to an instant, what was before it is final, and it is that late for commands as well. */
async function passTo(at: number): Promise<void> {
  const { client } = chain.anvil
  await client.setNextBlockTimestamp({ timestamp: BigInt(at) })
  await client.mine({ blocks: 70, interval: 1 })
  const now = new Date((at + 70) * 1_000)
  chain.earn.clock.set(now)
  vi.useFakeTimers({ toFake: ['Date'], now })
  await chain.world.sync()
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

const changes = () => listChanges(chain.earn.db, 100)
const snapshots = () => chain.earn.db<{ at: Date; file: string; vetoed: boolean; committed: boolean; last: boolean }[]>`
  select snapshot_at as at, hex_text(file_hash) as file, vetoed_at is not null as vetoed,
    commit_id is not null as committed, is_last as last
  from stream_snapshots where stream_id = ${id} order by snapshot_at, created_at`
const countRoots = async () =>
  (await chain.earn.db`select from stream_events where stream_id = ${id} and kind = 'root'`).length
const readByHash = (hash: string) => chain.earn.service.opsApp.inject({ method: 'GET', url: `/streams/files/${hash}` })

/** The exit code a command left, and none for the next one. */
function takeExitCode(): typeof process.exitCode {
  const { exitCode } = process
  process.exitCode = undefined
  return exitCode
}

/** The reward files of the stream, as they come from the operator listener, in a folder. */
async function writeFiles(name: string): Promise<string[]> {
  await mkdir(join(folder, name))
  return Promise.all(
    (await snapshots()).map(async ({ file }, at) => {
      const path = join(folder, name, `${at}.json`)
      await writeFile(path, (await readByHash(file)).body)
      return path
    }),
  )
}

async function withoutDatabase(work: () => Promise<void>): Promise<void> {
  vi.stubEnv('DATABASE_URL', 'postgres://nobody@127.0.0.1:1/none')
  try {
    await work()
  } finally {
    vi.stubEnv('DATABASE_URL', urlOf(chain.earn.target))
  }
}

/** What somebody with the committer's key can write: half of what everybody had earned by a file is a stranger's. */
async function forgeAfter(path: string): Promise<{ inputs: RewardInputs; result: RewardResult; text: string }> {
  const text = await readFile(path, 'utf8')
  const { inputs } = decodeRewardFile(text)
  const { states } = computeSnapshot(inputs.terms, inputs.facts, inputs.to, inputs.from)
  const held = new Map(inputs.facts.balances.map(({ wallet, shares }) => [wallet, shares]))
  const to = inputs.to + 20
  const { client } = chain.anvil
  let block = await client.getBlock()
  while (Number(block.timestamp) > to) block = await client.getBlock({ blockHash: block.parentHash })
  const forged = {
    ...{ ...inputs, to, from: { own: moveEarned(states.own), base: moveEarned(states.base) } },
    facts: { ...inputs.facts, balances: [...held].map(([wallet, shares]) => ({ at: inputs.to, wallet, shares })) },
    origin: {
      ...{ ...inputs.origin, previous: hashFile(text), observations: [] },
      block: { number: Number(block.number), hash: block.hash },
    },
  }
  const result = recomputeRewards(forged)
  return { inputs: forged, result, text: encodeRewardFile(forged, result).text }
}

describe('openearn streams', () => {
  it('finds what the jobs of the service took and committed, and its reward files come from the operator listener', async () => {
    await passTo(startsAt + halfDay + 1)
    await work()
    await deposit(second.address)
    await passTo(startsAt + 2 * halfDay + 1)
    await work()
    expect(await countRoots()).toBe(2)
    const taken = await snapshots()
    const paths = []
    for (const [at, { file }] of taken.entries()) {
      const answer = await readByHash(file)
      expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'application/json'])
      expect(answer.body).toBe((await readByHash(file.slice(2))).body)
      paths.push(join(folder, `${at}.json`))
      await writeFile(paths[at] ?? '', answer.body)
    }
    expect((await readByHash(`0x${'00'.repeat(32)}`)).statusCode).toBe(404)
    expect((await readByHash('nothing')).statusCode).toBe(404)
    const [one = '', other = ''] = paths
    const said = await run('recompute', id)
    expect(said.match(/as kept$/gm)).toHaveLength(2)
    expect(await run('recompute', id, '--at', '2026-11-21T12:00:00Z')).toBe(said.split('\n').slice(1).join('\n'))
    const { root } = JSON.parse(await readFile(one, 'utf8')).result
    expect(said.split('\n')[0]).toContain(root)
    expect(process.exitCode).toBeUndefined()
    // A later file alone believes what was before it.
    expect(await run('recompute', '--file', other)).toMatch(
      /^believed: the earnings of everybody by 2026-11-21T00:00:00Z/m,
    )
    expect(takeExitCode()).toBe(3)
    await writeFile(one, (await readFile(one, 'utf8')).replace(root, `0x${'11'.repeat(32)}`))
    expect(await run('recompute', '--file', one)).toMatch(/DIFFERS$/m)
    expect(takeExitCode()).toBe(1)
    expect(
      (await run('diff', one, other))
        .split('\n')
        .slice(1, -1)
        .map((line) => line.split(/ +/)[0]),
    ).toEqual([first, second].map(({ address }) => address.toLowerCase()).sort())
    expect((await run('diff', other, other)).split('\n')).toHaveLength(2)
    await expect(run('recompute', '--file', join(folder, 'none.json'))).rejects.toThrow('ENOENT')
    await expect(run('recompute', id, '--at', '2026-11-21T13:00:00Z')).rejects.toThrow(
      'no snapshot was taken at that instant',
    )
    expect(await changes()).toEqual([])
  })

  it('proves the reward of a wallet by the root of the contract, as the sdk verifies offline', async () => {
    const wallet = second.address.toLowerCase()
    const path = join(folder, 'proof.json')
    const said = await run('prove', id, second.address, '--out', path)
    const { file = '' } = (await snapshots()).at(-1) ?? {}
    const read = { address: contract, abi: streamAbi as Abi, functionName: 'getRoots' }
    const [{ root }] = (await chain.anvil.client.readContract(read)) as [{ root: string }]
    expect(said).toContain(root)
    expect(said).toContain(file)
    const verdict = verifyReward(JSON.parse(await readFile(path, 'utf8')), { root, file })
    const leaf = decodeRewardFile((await readByHash(file)).body).result.leaves.find((each) => each.wallet === wallet)
    expect(verdict).toMatchObject({ ok: true, wallet, cumulative: leaf?.cumulative, inputs: { streamId: id } })
    const bare = JSON.parse(await run('prove', id, wallet, '--leaf'))
    expect(verifyReward(bare, { root })).toMatchObject({ ok: true, cumulative: leaf?.cumulative, inputs: null })
    await expect(run('prove', id, stranger)).rejects.toThrow(
      'the wallet has earned nothing in the stream by its last root',
    )
    await expect(run('prove', id, 'nobody')).rejects.toThrow('name the wallet by its address')
  })

  it('counts every root again from a rebuilt database, and from its file and a node alone', async () => {
    const { db } = chain.earn
    const said = await run('recompute', id)
    expect(said.match(/as kept$/gm)).toHaveLength(2)
    const events = () => db`select * from stream_events order by block_number, log_index`
    const before = await events()
    await rebuildChain({ db, clock: systemClock }, { chainId: chain.chainId })
    expect(await events()).toEqual(before)
    expect(await run('recompute', id)).toBe(said)
  })

  it('proves every root from the start by the files and a node alone, where the terms are known', async () => {
    const paths = await writeFiles('node')
    await withoutDatabase(async () => {
      const words = ['recompute', ...paths.flatMap((path) => ['--file', path]), '--rpc', chain.anvil.url]
      const said = await run(...words)
      expect(takeExitCode()).toBe(3)
      const [, terms = ''] = /^believed: the terms (0x[0-9a-f]{64}): 86400 units a day, by 0x/m.exec(said) ?? []
      expect(said.match(/^believed/gm)).toHaveLength(1)
      const proved = await run(...words, '--terms', terms)
      expect(proved.match(/as kept$/gm)).toHaveLength(2)
      expect(proved.trim().split('\n')).toHaveLength(2)
      expect(takeExitCode()).toBeUndefined()
      // The same of a folder, in whatever order.
      expect(await run('recompute', '--file', join(folder, 'node'), '--rpc', chain.anvil.url, '--terms', terms)).toBe(
        proved,
      )
      expect(await run(...words, '--terms', `0x${'12'.repeat(32)}`)).toMatch(/DIFFERS$/m)
      expect(takeExitCode()).toBe(1)
      await expect(run(...words, '--terms', '0x12')).rejects.toThrow('--terms must be the SHA-256')
    })
  }, 60_000)

  it('finds the forged file that takes half of what everybody had earned, though its root is committed', async () => {
    const honest = await writeFiles('forged')
    const { inputs, result, text } = await forgeAfter(honest.at(-1) ?? '')
    expect(result.leaves.find(({ wallet }) => wallet === stranger)?.cumulative).toBeGreaterThan(result.total / 3n)
    const path = join(folder, 'forged', 'forged.json')
    await writeFile(path, text)
    const { client } = chain.anvil
    const snapshot = await client.snapshot()
    const given = [result.root, inputs.to, result.total]
    await chain.world.write(contract, streamAbi as unknown as Abi, 'updateRoot', given, committer)
    await withoutDatabase(async () => {
      const words = ['--rpc', chain.anvil.url]
      const said = await run('recompute', '--file', join(folder, 'forged'), ...words)
      expect(said).toMatch(/DIFFERS\n {2}the earnings before it are not those that the file before comes to$/m)
      expect(takeExitCode()).toBe(1)
      // By itself it is consistent, and the contract holds its root: it says what it takes on trust.
      const alone = await run('recompute', '--file', path, ...words)
      expect(alone).not.toMatch(/as kept$/m)
      expect(alone).toMatch(
        /^believed: the earnings of everybody by 2026-11-21T12:00:00Z: the file 0x[0-9a-f]{64} is not/m,
      )
      expect(takeExitCode()).toBe(3)
      // The honest files alone leave a root of the contract without a file.
      const without = await run('recompute', ...honest.flatMap((each) => ['--file', each]), ...words)
      expect(without).toContain(
        'believed: the newer root of 2026-11-21T12:00:20Z in the contract: no file of it is given',
      )
      expect(takeExitCode()).toBe(3)
    })
    await client.revert({ id: snapshot })
  }, 60_000)

  it('refuses a file that says of a holder what never was, or names a block that is none', async () => {
    const paths = await writeFiles('holders')
    await withoutDatabase(async () => {
      for (const path of paths) {
        const { inputs } = decodeRewardFile(await readFile(path, 'utf8'))
        const balances = inputs.facts.balances.map((step, index) => (index === 0 ? { ...step, shares: 7n } : step))
        const elsewhere = { ...inputs.origin, block: { ...inputs.origin.block, hash: `0x${'ab'.repeat(32)}` } }
        const cases = [
          [{ ...inputs, facts: { ...inputs.facts, balances } }, 'its holders are not those that the node tells'],
          [{ ...inputs, origin: elsewhere }, 'at the node, and'],
        ] as const
        for (const [forged, problem] of cases) {
          await writeFile(path, encodeRewardFile(forged, recomputeRewards(forged)).text)
          await run('recompute', '--file', path)
          expect(takeExitCode()).toBe(3)
          const said = await run('recompute', '--file', path, '--rpc', chain.anvil.url)
          expect(said).toMatch(/DIFFERS$/m)
          expect(said).toContain(problem)
          expect(takeExitCode()).toBe(1)
        }
      }
    })
  }, 60_000)

  it('refuses files of an earlier version, of two streams and of a folder without any', async () => {
    const [path = ''] = await writeFiles('old')
    const text = await readFile(path, 'utf8')
    await writeFile(path, text.replace(/"version":\d+/, '"version":1'))
    await expect(run('recompute', '--file', path)).rejects.toThrow('a reward file of version 1 is not read any more')
    const other = text.replaceAll(id, id.replace(/^.{8}/, '00000000'))
    await writeFile(path, other)
    const [, last = ''] = await writeFiles('two')
    await expect(run('recompute', '--file', path, '--file', last)).rejects.toThrow('are of two streams')
    await mkdir(join(folder, 'empty'))
    await expect(run('recompute', '--file', join(folder, 'empty'))).rejects.toThrow('there is no reward file')
    await expect(run('recompute', id, '--terms', `0x${'12'.repeat(32)}`)).rejects.toThrow('--terms goes with --file')
  })

  it('pauses a step and lets it go on, on the record, and keeps what it was paused for', async () => {
    await chain.earn.db`update streams set alarm = 'a root that is none of ours' where id = ${id}`
    expect(await run('pause', id, 'commits')).toBe(`commits of ${id} are paused\n`)
    expect(await run('list')).toMatch(new RegExp(`^${id} .* commits +a root that is none of ours$`, 'm'))
    await passTo(startsAt + 3 * halfDay + 1)
    await work()
    expect([(await snapshots()).length, await countRoots()]).toEqual([3, 2])
    const [made] = await changes()
    expect(made).toMatchObject({ osUser: userInfo().username, command: `streams pause ${id} commits` })
    expect([made?.before, made?.after]).toMatchObject([{ hashCommitmentPaused: false }, { hashCommitmentPaused: true }])
    await expect(run('pause', id, 'everything')).rejects.toThrow('say which step')
    for (const name of ['someone', `${id}0`, `0${id}`])
      await expect(run('pause', name, 'commits')).rejects.toThrow('by its id')
    await expect(run('pause', id.replace(/^.{8}/, '00000000'), 'commits')).rejects.toThrow('there is no stream')
    expect(await changes()).toHaveLength(1)
  })

  it('vetoes the snapshot that is not committed yet, and no other', async () => {
    expect(await run('veto', id)).toBe('the snapshot of 2026-11-22T00:00:00Z is vetoed: it is never committed\n')
    await expect(run('veto', id)).rejects.toThrow('no snapshot that can still be vetoed')
    expect(await run('resume', id, 'commits')).toBe(`commits of ${id} go on\n`)
    await work()
    expect(await countRoots()).toBe(2)
    expect((await snapshots()).map(({ vetoed }) => vetoed)).toEqual([false, false, true])
    expect(await run('list')).toMatch(/Z {2,}a root that is none of ours$/m)
    expect((await changes()).map(({ command }) => command).sort()).toEqual([
      ...[`streams pause ${id} commits`, `streams resume ${id} commits`, `streams veto ${id}`],
    ])
  })

  it('ends a stream at the next instant, and takes the snapshot of the end again that was vetoed', async () => {
    expect(await run('end', id)).toBe('the stream ends at 2026-11-22T12:00:00Z\n')
    await expect(run('end', id)).rejects.toThrow('ends by')
    await expect(run('retake', id)).rejects.toThrow('is not vetoed')
    await run('pause', id, 'commits')
    await passTo(startsAt + 4 * halfDay + 1)
    await work()
    expect((await snapshots()).at(-1)).toMatchObject({ last: true, committed: false, vetoed: false })
    await run('veto', id)
    await run('resume', id, 'commits')
    await work()
    expect(await countRoots()).toBe(2)
    expect(await run('retake', id)).toBe(`the snapshot of the end of ${id} was taken again\n`)
    await work()
    expect((await snapshots()).slice(-2)).toMatchObject([
      { last: true, vetoed: true, committed: false },
      { last: true, vetoed: false, committed: true },
    ])
    expect(await countRoots()).toBe(3)
    const allocated = Number(await chain.read(contract, 'getTotalAllocated'))
    // A unit a second for two days, from when somebody held anything.
    expect([allocated > 4 * halfDay - 600, allocated <= 4 * halfDay]).toEqual([true, true])
    const made = await changes()
    const [retaken, ended] = ['retake', 'end'].map((verb) =>
      made.find(({ command }) => command === `streams ${verb} ${id}`),
    )
    const end = '2026-11-22T12:00:00.000Z'
    expect([ended?.before, ended?.after]).toMatchObject([{ endsAt: expect.not.stringContaining(end) }, { endsAt: end }])
    expect([retaken?.before, retaken?.after]).toMatchObject([
      { snapshot: { isLast: false } },
      { snapshot: { isLast: true } },
    ])
  })
})
