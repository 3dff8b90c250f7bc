import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { testTokenAbi, testTokenBytecode, yieldVaultAbi, yieldVaultBytecode } from '@openearn/contracts'
import { createTestClient, encodeFunctionData, http, publicActions, walletActions } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { systemClock } from '../../service/dist/kernel/clock.js'
import { createOutbound } from '../../service/dist/kernel/outbound.js'
import { openChain } from '../../service/dist/rpc/chains.js'

const require = createRequire(import.meta.url)

export const chainId = 31_337
export const account = (index) =>
  mnemonicToAccount('test test test test test test test test test test test junk', { addressIndex: index })

/** An anvil of one's own with a token and a vault that one account may deposit into. */
export async function startChain({ blockTime, timestamp = 1_760_000_000 } = {}) {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const binary = join(
    dirname(require.resolve(`@foundry-rs/anvil-${process.platform}-${arch}/package.json`)),
    'bin',
    'anvil',
  )
  const cache = mkdtempSync(join(tmpdir(), 'openearn-anvil-'))
  const timing = blockTime === undefined ? [] : ['--block-time', String(blockTime)]
  const args = [
    '--host',
    '127.0.0.1',
    '--port',
    '0',
    '--timestamp',
    String(timestamp),
    '--cache-path',
    cache,
    ...timing,
  ]
  const child = spawn(binary, [...args, '--gas-limit', '3000000000', '--disable-code-size-limit'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const port = await new Promise((resolve) => {
    let text = ''
    const read = (chunk) => {
      text += chunk
      const found = /Listening on 127\.0\.0\.1:(\d+)/.exec(text)?.[1]
      if (!found) return
      resolve(Number(found))
      // A line for every call follows; they are read and forgotten, or the node would wait for a reader.
      child.stdout.off('data', read)
      child.stdout.resume()
    }
    child.stdout.on('data', read)
  })
  const url = `http://127.0.0.1:${port}`
  const client = createTestClient({
    mode: 'anvil',
    chain: foundry,
    account: account(0),
    transport: http(url),
    cacheTime: 0,
    pollingInterval: 20,
  })
    .extend(publicActions)
    .extend(walletActions)
  const done = async (hash) => client.waitForTransactionReceipt({ hash: await hash })
  const deploy = async (input) => (await done(client.deployContract(input))).contractAddress
  const token = await deploy({ abi: testTokenAbi, bytecode: testTokenBytecode, args: ['Dollar', 'USD', 6] })
  const vault = await deploy({
    abi: yieldVaultAbi,
    bytecode: yieldVaultBytecode,
    args: [token, 'Vault', 'vUSD', 0, 0n, true],
  })
  const user = account(1)
  await done(
    client.writeContract({ address: token, abi: testTokenAbi, functionName: 'mint', args: [user.address, 10n ** 30n] }),
  )
  await done(
    client.writeContract({
      account: user,
      address: token,
      abi: testTokenAbi,
      functionName: 'approve',
      args: [vault, 2n ** 255n],
    }),
  )
  return {
    url,
    client,
    token: token.toLowerCase(),
    vault: vault.toLowerCase(),
    user,
    chain: (settings = {}) =>
      openChain(createOutbound(systemClock), {
        chainId,
        name: 'Bench',
        nativeSymbol: 'ETH',
        rpcUrls: [url],
        confirmations: 1,
        finalityDepth: 64,
        pollIntervalMs: 1_000,
        reorgRecheckSeconds: 0,
        entryPoints: [],
        ...settings,
      }),
    depositData: (amount) =>
      encodeFunctionData({ abi: yieldVaultAbi, functionName: 'deposit', args: [amount, user.address] }),
    stop: () => {
      child.kill('SIGKILL')
      rmSync(cache, { recursive: true, force: true })
    },
  }
}
