import { rm } from 'node:fs/promises'
import { concat, encodeAbiParameters, type Hex, pad, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Json, openClient } from '../e2e/client.js'
import { makeFolder, type Started, startDevnet } from '../e2e/process.js'
import { seededKey } from '../seed.js'

let folder: string
let devnet: Started & { dev: Awaited<ReturnType<typeof startDevnet>>['dev'] }
let client: ReturnType<typeof openClient>
let nextWallet = 1

beforeAll(async () => {
  folder = await makeFolder('openearn-attack-bulkheads-')
  devnet = await startDevnet(folder)
  client = openClient(devnet.dev)
}, 120_000)
afterAll(async () => {
  await devnet?.stop()
  await rm(folder, { recursive: true, force: true })
})

/** A contract wallet of its own, put on the chain as it stands. */
async function place(code: Hex): Promise<Hex> {
  const address = pad(toHex(0xbad0000 + nextWallet++), { size: 20 })
  await client.request('anvil_setCode', [address, code])
  return address
}

/** What a wallet sends to join: everything but the signature. */
async function agree(address: Hex): Promise<Json> {
  const body = { address, walletEcosystem: 'evm', url: 'https://app.example.com/earn', chainId: '31337' }
  const { nonce } = await client.call('POST', '/v2/membership/agreement', body)
  return { address, walletEcosystem: 'evm', nonce }
}

const join = async (address: Hex, signature: Hex) =>
  client.fetchAnswer('POST', '/v2/membership/', { ...(await agree(address)), signature })

/** Says yes to every signature. */
const saysYes: Hex = '0x631626ba7e60e01b5f5260205ff3'

describe('contract wallets as attackers have them', () => {
  it('[short-signature] wallets whose proofs have 0, 2 or 31 bytes join, and an account without code does not', async () => {
    const answers = []
    for (const length of [0, 2, 31, 32]) answers.push(await join(await place(saysYes), `0x${'0b'.repeat(length)}`))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const { address } = privateKeyToAccount(seededKey())
    const refused = await join(address, '0x')
    expect([refused.status, refused.body.status]).toEqual([400, 'INVALID_ARGUMENT'])
  })

  it('[factory-on-existing] a wrapped signature does not initialise a wallet that exists, and so does not speak for it', async () => {
    // Says yes once its slot 0 is set, which any other call does: nobody has initialised it yet.
    const code: Hex = '0x5f3560e01c631626ba7e1460135760015f55005b5f5415602857631626ba7e60e01b5f5260205ff35b5f5ffd'
    const wallet = await place(code)
    const signature = wrap(wallet, '0x01020304', '0x0b0b')
    const refused = await join(wallet, signature)
    expect([refused.status, refused.body.status]).toEqual([400, 'INVALID_ARGUMENT'])
    // Its owner did: the wallet is asked with what is wrapped.
    await client.request('anvil_setStorageAt', [wallet, pad('0x00'), pad('0x01')])
    expect((await join(wallet, signature)).status).toBe(200)
  })

  it('[gas-burner] contracts that burn all gas in isValidSignature cut nobody off from the chain, the watcher neither', async () => {
    const { dev } = devnet
    const vault = dev.opportunities.find(({ kind, asset }) => kind === 'erc4626' && asset.decimals === 6)
    const distributorId = dev.distributorIds[0] ?? ''
    if (!vault) throw new Error('the devnet lists no vault over a token of 6 decimals')
    const user = dev.accounts[2]
    if (!user) throw new Error('the devnet has no third account')
    await client.join(user.privateKey, distributorId)
    // Hashes 64 KiB over and over, each in a wallet of its own.
    const burner = await place('0x5b620100005f2050600056')
    const storms = await Promise.all(
      Array.from({ length: 2 }, () => Promise.all(Array.from({ length: 24 }, () => agree(burner)))),
    )
    const deposit = () =>
      client.fetchAnswer('POST', `/v2/actions/deposit/${vault.id}`, {
        userAddress: user.address,
        tokenIn: vault.asset.address,
        amount: '1000000',
        distributorId,
      })
    const statuses: number[] = []
    for (const storm of storms) {
      const burning = storm.map((body) =>
        client.fetchAnswer('POST', '/v2/membership/', { ...body, signature: pad('0x0b', { size: 65 }) }),
      )
      statuses.push((await deposit()).status)
      await Promise.all(burning)
      const after = await deposit()
      statuses.push(after.status)
      if (after.status !== 200) continue
      const receipt = await client.sendAll(privateKeyToAccount(user.privateKey), after.body.transactions)
      expect(receipt.status).toBe('success')
      expect((await client.waitForEntry(distributorId, receipt.transactionHash)).distributorId).toBe(distributorId)
    }
    expect(statuses).toEqual([200, 200, 200, 200])
    expect(devnet.output()).not.toMatch(/not asked again yet|watching failed/)
  }, 180_000)
})

/** A signature with a call that is said to create its wallet (ERC-6492). */
function wrap(factory: Hex, data: Hex, signature: Hex): Hex {
  const parameters = [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }] as const
  const magic: Hex = `0x${'6492'.repeat(16)}`
  return concat([encodeAbiParameters(parameters, [factory, data, signature]), magic])
}
