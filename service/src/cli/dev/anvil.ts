import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { pbkdf2Sync } from 'node:crypto'
import { mkdir, open, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { createPublicClient, createWalletClient, http, type PublicClient, type WalletClient } from 'viem'
import { HDKey, hdKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { memo } from '../../kernel/async/memo.js'
import { type Clock, daySeconds, systemClock, toUnixSeconds } from '../../kernel/clock.js'
import type { Log } from '../../kernel/log.js'
import { devnetChainId } from '../../rpc/devnet.js'
import type { Shutdown } from '../../server/shutdown.js'
import { UsageError } from '../terminal.js'
import { keepStateCopy, restoreState, statePath } from './anvilState.js'
import { assertPortsFree, findFreePort, waitUntilFree } from './ports.js'

const accountCount = 20

/** Where the devnet's accounts come from: the public test phrase every development node knows. */
const phrase = 'test test test test test test test test test test test junk'

export type DevAccount = { address: `0x${string}`; privateKey: `0x${string}` }

/** The devnet's accounts: public knowledge, worth nothing anywhere else. */
export const devAccount = memo((index: number): DevAccount => {
  const account = hdKeyToAccount(rootOf(phrase), { addressIndex: index })
  const key = account.getHdKey().privateKey
  if (!key) throw new Error('the test phrase gives a private key for every index')
  return { address: account.address, privateKey: `0x${Buffer.from(key).toString('hex')}` }
})

/** The root key of a phrase (BIP-39), by Node's own PBKDF2: one in JavaScript takes ten times as long. */
const rootOf = memo((words: string) => HDKey.fromMasterSeed(pbkdf2Sync(words, 'mnemonic', 2_048, 64, 'sha512')))

export type DevChain = {
  rpcUrl: string
  client: PublicClient
  wallet: WalletClient
  /** A call of the development node itself. */
  request(method: string, params?: unknown[]): Promise<unknown>
}

/** Clients of a running devnet. */
export function openDevChain(rpcUrl: string): DevChain {
  const transport = http(rpcUrl)
  const client = createPublicClient({ chain: foundry, transport, cacheTime: 0, pollingInterval: 50 })
  const wallet = createWalletClient({ chain: foundry, transport })
  const request = (method: string, params: unknown[] = []) =>
    client.request({ method: method as never, params: params as never })
  return { rpcUrl, client: client as PublicClient, wallet, request }
}

type Options = {
  folder: string
  port: number
  clock: Clock
  log: Log
  shutdown: Shutdown
  /** Runs when the chain is back after it died; it may have lost its newest blocks. */
  onRestart(chain: DevChain): Promise<void>
}

/**
 * Starts anvil on the state kept in `folder`, or on a new chain that begins 61 days ago, and keeps it running: when it
 * dies by itself it is started again on its state. Blocks are mined with their transactions and at least once a minute;
 * chain time follows the wall clock.
 */
export async function startDevChain(options: Options): Promise<DevChain & { stop(): Promise<void> }> {
  const { folder, port, clock, log, shutdown } = options
  await mkdir(folder, { recursive: true })
  if (await stopOrphan(folder, log)) await waitUntilFree('127.0.0.1', port)
  await assertPortsFree([{ setting: 'ANVIL_PORT', host: '127.0.0.1', port }])
  const genesis = await keepGenesis(folder, toUnixSeconds(clock.now()) - 61 * daySeconds)
  const ownPort = port === 0 ? await findFreePort() : port
  const chain = openDevChain(`http://127.0.0.1:${ownPort}`)
  const args = [
    ...['--quiet', '--host', '127.0.0.1', '--port', String(ownPort), '--chain-id', String(devnetChainId)],
    ...['--accounts', String(accountCount), '--balance', '10000', '--timestamp', String(genesis)],
    ...['--state', statePath(folder), '--state-interval', '10'],
    ...['--cache-path', join(folder, 'cache')],
  ]
  const stopping = new AbortController()
  const signal = AbortSignal.any([stopping.signal, shutdown.signal])
  let child = await launch(folder, args, chain, log)
  const keepRunning = async () => {
    for (let failures = 0; !signal.aborted; ) {
      const reason = await endOf(child)
      // A signal to the process group ends anvil just before our own handler runs.
      await systemClock.sleep(Math.min(500 * 2 ** failures, 10_000), signal)
      if (signal.aborted) return
      log.error(`the local chain ended by itself (${reason}); starting it again from its state`)
      try {
        await waitUntilFree('127.0.0.1', ownPort)
        child = await launch(folder, args, chain, log)
        await syncChainTime(chain, clock)
        await options.onRestart(chain)
        failures = 0
        log.info('the local chain is back')
      } catch (error) {
        if (signal.aborted) return
        failures += 1
        log.error({ err: error }, 'the local chain did not come back; trying again')
      }
    }
  }
  const running = keepRunning()
  const beating = setInterval(() => {
    if (hasEnded(child)) return
    beat(chain, clock).catch((error) => log.warn({ err: error }, 'no heartbeat block'))
    keepStateCopy(folder, clock).catch((error) => log.warn({ err: error }, "the local chain's state was not copied"))
  }, 5_000)
  const stop = async () => {
    stopping.abort()
    clearInterval(beating)
    await stopAnvil(child)
    await running
    // One that was being started meanwhile.
    await stopAnvil(child)
    await rm(pidPath(folder), { force: true })
  }
  shutdown.add('anvil', stop)
  return { ...chain, stop }
}

/** Starts anvil on the newest state that is whole, and waits until it responds. */
async function launch(folder: string, args: string[], chain: DevChain, log: Log): Promise<ChildProcess> {
  await rm(join(folder, 'cache'), { recursive: true, force: true })
  if (await restoreState(folder)) log.warn("the local chain's state was half-written; going on from the copy before it")
  // Its output goes to a file, not to us: it must not die of a closed pipe when we are killed.
  const output = await open(logPath(folder), 'w')
  const child = spawn(findAnvil(), args, { stdio: ['ignore', output.fd, output.fd] })
  await output.close()
  await writeFile(pidPath(folder), JSON.stringify({ anvil: child.pid, owner: process.pid }))
  await waitUntilAnswering(chain, child, folder)
  return child
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null

/** Waits for the end of a process; tells its exit code or signal. */
async function endOf(child: ChildProcess): Promise<string> {
  if (!hasEnded(child)) await new Promise((resolve) => child.once('exit', resolve))
  return child.signalCode ?? `exit code ${child.exitCode}`
}

/** The chain's first instant. A later start must name the same, or anvil adds a second first block to the state. */
async function keepGenesis(folder: string, proposed: number): Promise<number> {
  const file = join(folder, 'genesis')
  const kept = Number(await readFile(file, 'utf8').catch(() => Number.NaN))
  if (Number.isSafeInteger(kept) && kept > 0) return kept
  await writeFile(file, String(proposed))
  return proposed
}

/** Forgets the chain: the next start begins a new one. */
export async function removeDevChain(folder: string, log: Log): Promise<void> {
  await stopOrphan(folder, log)
  await rm(folder, { recursive: true, force: true })
}

const logPath = (folder: string) => join(folder, 'anvil.log')
const pidPath = (folder: string) => join(folder, 'anvil.pid')

/** Lets chain time follow the wall clock from now on. A node that starts again begins its time anew. */
export async function syncChainTime(chain: DevChain, clock: Clock): Promise<void> {
  const { timestamp } = await chain.client.getBlock()
  const now = Math.max(toUnixSeconds(clock.now()), Number(timestamp) + 1)
  await chain.request('evm_setTime', [now * 1000])
  await chain.request('evm_mine')
}

/** The binary of anvil's platform package; no install script needs to have run. */
export function findAnvil(): string {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const { resolve } = createRequire(import.meta.url)
  try {
    return join(dirname(resolve(`@foundry-rs/anvil-${process.platform}-${arch}/package.json`)), 'bin', 'anvil')
  } catch (error) {
    throw new UsageError(
      `the devnet needs anvil for ${process.platform} ${process.arch}: install @foundry-rs/anvil next to the service, in a checkout with \`npm ci\``,
      { cause: error },
    )
  }
}

async function waitUntilAnswering(chain: DevChain, child: ChildProcess, folder: string): Promise<void> {
  let failed: Error | undefined
  child.once('error', (error) => {
    failed = error
  })
  for (let tries = 0; tries < 600; tries++) {
    if (failed) throw failed
    if (hasEnded(child)) {
      const said = await readFile(logPath(folder), 'utf8')
      throw new Error(`anvil ended before it answered: ${said.trim().split('\n').at(-1) ?? ''}`)
    }
    const chainId = await chain.client.getChainId().catch(() => undefined)
    if (chainId === devnetChainId) return
    await systemClock.sleep(50)
  }
  child.kill('SIGKILL')
  throw new Error('anvil did not answer within 30 seconds')
}

async function stopAnvil(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  const ended = endOf(child)
  child.kill('SIGINT')
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000)
  await ended
  clearTimeout(timer)
}

/**
 * Ends the anvil of a service that was killed, so that its state is written. True when there was one, even if it ended
 * by itself: a process that is going gives up its port last.
 */
async function stopOrphan(folder: string, log: Log): Promise<boolean> {
  const left = parsePids(await readFile(pidPath(folder), 'utf8').catch(() => ''))
  if (!left) return false
  if (!(await runs(left.anvil, statePath(folder)))) return true
  if (left.owner !== process.pid && devnetCommand.test(await readCommandLine(left.owner)))
    throw new UsageError(`another devnet (process ${left.owner}) runs on ${folder}; stop it first`)
  log.info('stopping the anvil a killed service left behind')
  process.kill(left.anvil, 'SIGINT')
  for (let waited = 0; waited < 100 && (await runs(left.anvil, statePath(folder))); waited++)
    await systemClock.sleep(100)
  if (await runs(left.anvil, statePath(folder))) process.kill(left.anvil, 'SIGKILL')
  return true
}

function parsePids(text: string): { anvil: number; owner: number } | undefined {
  const match = /^\{"anvil":([0-9]+),"owner":([0-9]+)\}$/.exec(text)
  return match ? { anvil: Number(match[1]), owner: Number(match[2]) } : undefined
}

/** The command line of a devnet, started as `openearn dev` or as the program behind it. */
const devnetCommand = /(?:main\.js|openearn(?:\.js)?)[\0 ]dev\b/

/** True when the process exists and its command line names `word`: pids are used again. */
async function runs(pid: number, word: string): Promise<boolean> {
  return (await readCommandLine(pid)).includes(word)
}

async function readCommandLine(pid: number): Promise<string> {
  try {
    if (process.platform === 'linux') return await readFile(`/proc/${pid}/cmdline`, 'utf8')
    return (await promisify(execFile)('ps', ['-o', 'command=', '-p', String(pid)])).stdout
  } catch {
    // No such process.
    return ''
  }
}

const heartbeatSeconds = 60

/**
 * A block at least once a minute, so that chain time does not stand still. Chain time that was moved ahead waits for the
 * clock: it goes on from the newest block at every beat.
 */
async function beat(chain: DevChain, clock: Clock): Promise<void> {
  const timestamp = Number((await chain.client.getBlock()).timestamp)
  const now = toUnixSeconds(clock.now())
  if (timestamp + heartbeatSeconds <= now) await chain.request('evm_mine')
  else if (timestamp > now) await chain.request('evm_setTime', [(timestamp + 1) * 1_000])
}
