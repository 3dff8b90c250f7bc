import { rm } from 'node:fs/promises'
import { createWalletClient, encodeFunctionData, erc20Abi, type Hex, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { presentSeconds } from '../../../contracts/test/present.js'
import { waitForReceipt } from '../../src/cli/dev/receipt.js'
import { deploySafeWorld, type SafeWorld } from '../safe.js'
import { createSolanaWallet, createTonWallet } from '../wallets.js'
import { type Json, openClient, type Prepared } from './client.js'
import { type Dev, makeFolder, type Started, startDevnet } from './process.js'

const host = 'app.example.com'
let dataDir: string
let devnet: Started & { dev: Dev }
let dev: Dev
let client: ReturnType<typeof openClient>
let safes: SafeWorld

beforeAll(async () => {
  dataDir = await makeFolder('openearn-wallets-')
  devnet = await startDevnet(dataDir)
  dev = devnet.dev
  client = openClient(dev)
  const account = privateKeyToAccount(dev.accounts[1]!.privateKey)
  const deployer = createWalletClient({ chain: foundry, transport: http(dev.rpcUrl), account })
  safes = await deploySafeWorld(async (input) => {
    const hash = await deployer.deployContract(input)
    const { contractAddress } = await waitForReceipt(client.chain, hash)
    return contractAddress!
  })
}, 120_000)

afterAll(async () => {
  await devnet?.stop()
  await rm(dataDir, { recursive: true, force: true })
}, 60_000)

const owner = () => privateKeyToAccount(dev.accounts[2]!.privateKey)
const opportunityOf = () => dev.opportunities.find(({ kind }) => kind === 'erc4626')!
const call = (to: Hex, data: Hex) => ({ to, data, value: '0', gasLimit: '3000000', chainId: dev.chainId })
type Safe = ReturnType<SafeWorld['plan']>

function ask(address: string, walletEcosystem: string): Promise<{ message: string; nonce: string }> {
  const body = { address, walletEcosystem, url: `https://${host}/earn`, chainId: dev.chainId }
  return client.call('POST', '/v2/membership/agreement', body)
}

function join(address: string, walletEcosystem: string, nonce: string, signature: string): Promise<Json> {
  return client.call('POST', '/v2/membership/', { address, walletEcosystem, nonce, signature })
}

/** Gives the Safe 1,000 of the vault's asset and deposits half of it as a Safe does: every call by its own transaction. */
async function deposit(safe: Safe): Promise<{ entry: Json; debugged: Json }> {
  const { id, asset } = opportunityOf()
  const amount = 1_000n * 10n ** BigInt(asset.decimals)
  const transfer = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [safe.address, amount] })
  await client.send(owner(), call(asset.address, transfer))
  const plan = await client.call('POST', `/v2/actions/deposit/${id}`, {
    userAddress: safe.address,
    tokenIn: asset.address,
    amount: String(amount / 2n),
    distributorId: dev.distributorIds[0],
  })
  let last: Hex = '0x'
  for (const [index, { transaction }] of (plan.transactions as Prepared[]).entries()) {
    const { to, data } = await safe.execute({ to: transaction.to, data: transaction.data }, BigInt(index))
    last = (await client.send(owner(), call(to, data))).transactionHash
  }
  const entry = await client.waitForEntry(dev.distributorIds[0]!, last)
  const debugged = await client.call('GET', `/v2/attribution/${last}?chainId=${dev.chainId}`, undefined, null)
  return { entry, debugged }
}

const credited = (safe: Safe) => ({
  interaction: 'deposit',
  attribution: 'signed',
  distributorId: dev.distributorIds[0],
  walletAddress: safe.address,
})

describe('a Safe', () => {
  it('that is deployed becomes a member, deposits, and the deposit is signed and attributed', async () => {
    const safe = safes.plan(owner(), 1n)
    await client.send(owner(), call(safe.creation.to, safe.creation.data))
    const { message, nonce } = await ask(safe.address, 'evm')
    expect(await join(safe.address, 'evm', nonce, await safe.signText(message))).toEqual({ isMember: true, error: '' })
    const { entry, debugged } = await deposit(safe)
    expect(entry).toMatchObject(credited(safe))
    expect(debugged).toMatchObject({ attributed: true, distributorId: dev.distributorIds[0] })
    expect(debugged.calldata.signature).toMatchObject({ present: true, valid: true })
  })

  it('that is not deployed yet becomes a member, is deployed, and deposits the same way', async () => {
    const safe = safes.plan(owner(), 2n)
    const { message, nonce } = await ask(safe.address, 'evm')
    const signature = safe.wrap(await safe.signText(message))
    expect(await join(safe.address, 'evm', nonce, signature)).toEqual({ isMember: true, error: '' })
    expect(await client.chain.getCode({ address: safe.address })).toBeUndefined()
    await client.send(owner(), call(safe.creation.to, safe.creation.data))
    const { entry } = await deposit(safe)
    expect(entry).toMatchObject(credited(safe))
  })
})

describe('other wallets', () => {
  it('of Solana and TON become members, ton_proof being let in on the devnet', async () => {
    const solana = createSolanaWallet()
    const first = await ask(solana.address, 'solana')
    const signature = solana.signVersionOne(first.message).toString('base64')
    expect(await join(solana.address, 'solana', first.nonce, signature)).toEqual({ isMember: true, error: '' })

    for (const way of ['signData', 'signProof'] as const) {
      const ton = createTonWallet('v5r1')
      const { message, nonce } = await ask(ton.friendly.toString({ testOnly: true }), 'ton')
      const answer = ton[way](way === 'signData' ? message : nonce, host, presentSeconds())
      expect(await join(ton.address, 'ton', nonce, JSON.stringify(answer))).toEqual({ isMember: true, error: '' })
    }
  })
})
