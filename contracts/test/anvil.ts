import { spawn } from 'node:child_process'
import { pbkdf2Sync } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  type Abi,
  type Address,
  createTestClient,
  getAddress,
  type Hex,
  type HttpTransport,
  http,
  MethodNotSupportedRpcError,
  numberToHex,
  type PrivateKeyAccount,
  publicActions,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
  walletActions,
} from 'viem'
import { HDKey, hdKeyToAccount, privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { patient } from './patience.js'
import { until } from './until.js'

const require = createRequire(import.meta.url)

/** The path of a Foundry binary: it is in the platform's npm package, and no install script needs to run for it. */
export const findFoundryBinary = (tool: 'anvil' | 'forge'): string => {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const pkg = `@foundry-rs/${tool}-${process.platform}-${arch}`
  return join(dirname(require.resolve(`${pkg}/package.json`)), 'bin', tool)
}

/** The root key of anvil's public test phrase, by Node's own PBKDF2: one in JavaScript takes ten times as long. */
const root = HDKey.fromMasterSeed(
  pbkdf2Sync('test test test test test test test test test test test junk', 'mnemonic', 2_048, 64, 'sha512'),
)
const accounts = new Map<number, PrivateKeyAccount>()

/** Anvil's public test accounts, by index, with their keys. */
export const account = (index: number): PrivateKeyAccount => {
  const known = accounts.get(index)
  if (known) return known
  const key = hdKeyToAccount(root, { addressIndex: index }).getHdKey().privateKey
  if (key === null) throw new Error('a derived key is never absent')
  const made = privateKeyToAccount(`0x${Buffer.from(key).toString('hex')}`)
  accounts.set(index, made)
  return made
}

const readPort = (stdout: NodeJS.ReadableStream): Promise<number> =>
  new Promise((resolve, reject) => {
    let text = ''
    stdout.on('data', (chunk) => {
      text += String(chunk)
      const port = /Listening on 127\.0\.0\.1:(\d+)/.exec(text)?.[1]
      if (port !== undefined) resolve(Number(port))
    })
    stdout.on('end', () => reject(new Error(`anvil ended before it listened:\n${text}`)))
  })

/** What a vault of the tests spends at most when it books the time that has passed: twenty slots that were empty. */
const gasOfAccrual = 20n * 22_100n

/**
 * Half as much gas again as the node estimates, and what an accrual takes. The node estimates for the present second,
 * and a vault that accrues with time does more work when the transaction is mined in the next one.
 */
const withSpareGas =
  (transport: HttpTransport): HttpTransport =>
  (config) => {
    const opened = transport(config)
    const request: typeof opened.request = async (asked, options) => {
      // Without it viem asks for the estimate alone.
      if (asked.method === 'eth_fillTransaction') throw new MethodNotSupportedRpcError(new Error(asked.method))
      const answer: never = await opened.request(asked, options)
      return asked.method === 'eth_estimateGas'
        ? (numberToHex((BigInt(answer) * 3n) / 2n + gasOfAccrual) as never)
        : answer
    }
    return { ...opened, request }
  }

/** A chain of its own on a free loopback port, starting at `timestamp` (unix seconds); stop it when done. */
export const startAnvil = async ({ timestamp }: { timestamp: number }) => {
  const dir = mkdtempSync(join(tmpdir(), 'openearn-anvil-'))
  const args = ['--host', '127.0.0.1', '--port', '0', '--timestamp', String(timestamp), '--cache-path', dir]
  const child = spawn(findFoundryBinary('anvil'), args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const port = await readPort(child.stdout)
  const client = createTestClient({
    mode: 'anvil',
    chain: foundry,
    account: account(0),
    // A call that is made again because its answer was late would mine, or set back, twice.
    transport: withSpareGas(http(`http://127.0.0.1:${port}`, { timeout: patient(60_000) })),
    cacheTime: 0,
    pollingInterval: 20,
  })
    .extend(publicActions)
    .extend(walletActions)

  /**
   * Asks until there is a receipt. viem's own waiting looks again only when a block comes, so that a receipt that is a
   * moment late is never seen on a chain that mines on demand.
   */
  const readReceipt = (hash: Hex): Promise<TransactionReceipt> =>
    until(`the receipt of transaction ${hash}`, () =>
      client.getTransactionReceipt({ hash }).catch((error: unknown) => {
        if (error instanceof TransactionReceiptNotFoundError) return undefined
        throw error
      }),
    )

  return {
    client,
    /** Where it answers. */
    url: `http://127.0.0.1:${port}`,
    /** Deploys a contract from account 0 and returns its address. */
    deploy: async (input: { abi: Abi; bytecode: Hex; args: readonly unknown[] }): Promise<Address> => {
      const hash = await client.deployContract(input)
      const { contractAddress } = await readReceipt(hash)
      if (!contractAddress) throw new Error('the deployment made no contract')
      return getAddress(contractAddress)
    },
    /** The receipt of a transaction, whether it succeeded or reverted. */
    mined: readReceipt,
    /** Fails unless the transaction succeeded; returns its receipt. */
    done: async (hash: Hex | Promise<Hex>) => {
      const receipt = await readReceipt(await hash)
      if (receipt.status !== 'success') throw new Error(`transaction ${receipt.transactionHash} reverted`)
      return receipt
    },
    /** Mines an empty block `seconds` after the head. */
    pass: async (seconds: number): Promise<void> => {
      await client.increaseTime({ seconds })
      await client.mine({ blocks: 1 })
    },
    stop: async (): Promise<void> => {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await ended
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** A chain as `startAnvil` gives it. */
export type Anvil = Awaited<ReturnType<typeof startAnvil>>
