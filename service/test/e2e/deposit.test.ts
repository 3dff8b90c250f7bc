import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { concat, encodeFunctionData, erc20Abi, erc4626Abi, type Hex, slice } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../contracts/test/until.js'
import { allThere } from '../../src/cli/dev/reading.js'
import { seeded } from '../catalogueWorld.js'
import { seededKey } from '../seed.js'
import { type Json, openClient } from './client.js'
import { type Dev, makeFolder, type Started, startNewDevnet } from './process.js'
import { compareWithChain, listServed, printRecomputed, sayWithheld, waitForWeek } from './servedHistory.js'

/** At how many points of the served history a command recomputes what the service says. */
const points = Number(process.env['POINTS'] ?? 200)

let dataDir: string
let devnet: Started & { dev: Dev }
let dev: Dev
let client: ReturnType<typeof openClient>
let depositHash: Hex
let suffix: Hex

beforeAll(async () => {
  dataDir = await makeFolder('openearn-e2e-')
  devnet = await startNewDevnet(dataDir)
  dev = devnet.dev
  client = openClient(dev)
}, 120_000)

afterAll(async () => {
  await devnet?.stop()
  await rm(dataDir, { recursive: true, force: true })
}, 60_000)

/** A wallet nobody knows, with gas and 1,000 of a vault's asset. */
async function fund(privateKey: Hex, opportunity: Dev['opportunities'][number]): Promise<bigint> {
  const account = privateKeyToAccount(privateKey)
  const giver = privateKeyToAccount(dev.accounts[0]!.privateKey)
  const amount = 1_000n * 10n ** BigInt(opportunity.asset.decimals)
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [account.address, amount] })
  await client.request('anvil_setBalance', [account.address, '0xde0b6b3a7640000'])
  await client.send(giver, { to: opportunity.asset.address, data, value: '0', gasLimit: '200000', chainId: 31337 })
  return amount
}

describe('a deposit, from browsing to credit, through HTTP only', () => {
  const privateKey = seededKey()
  const account = privateKeyToAccount(privateKey)
  const opportunityOf = () => dev.opportunities.find(({ kind }) => kind === 'erc4626')!
  const distributorId = () => dev.distributorIds[0]!

  it('describes the devnet as promised', () => {
    expect(dev.chainId).toBe(31337)
    expect(dev.accounts.length).toBeGreaterThanOrEqual(10)
    expect(dev.distributorIds).toHaveLength(3)
    expect(dev.organizations).toHaveLength(2)
    expect(dev.opportunities.filter(({ kind }) => kind.includes('erc4626')).length).toBeGreaterThanOrEqual(4)
  })

  it('says when it is ready what of the demo is still being read, or that all is there', async () => {
    const line =
      /^still being read: .*(the past of|the rewards of|the deposits of).*\. A line will say when all is there\.$/m
    await until('a line on what is read', () => line.test(devnet.output()) || devnet.output().includes(allThere))
  })

  it('shows vaults with true dollar values', async () => {
    const page = await until('every live vault to have a TVL', async () => {
      const answer = await client.call('GET', '/v2/opportunities/?limit=100')
      const live = answer.data.filter((one: Json) => dev.opportunities.some(({ id }) => id === one.id))
      return live.every((one: Json) => one.tvl > 0) ? answer : undefined
    })
    const shown = page.data.find((one: Json) => one.id === opportunityOf().id)
    const assets = await client.chain.readContract({
      address: opportunityOf().vaultAddress,
      abi: erc4626Abi,
      functionName: 'totalAssets',
    })
    const dollars = Number(assets) / 10 ** opportunityOf().asset.decimals
    expect(Math.abs(shown.tvl / dollars - 1)).toBeLessThan(0.001)
  })

  it('refuses to build for a wallet that is no member', async () => {
    const body = {
      userAddress: account.address,
      tokenIn: opportunityOf().asset.address,
      amount: '1000',
      distributorId: distributorId(),
    }
    const answer = await client.fetchAnswer('POST', `/v2/actions/deposit/${opportunityOf().id}`, body)
    expect(answer.status).toBe(404)
    expect(answer.body).toMatchObject({ code: 404, status: 'NOT_FOUND', error: 'membership not found' })
  })

  it('makes the wallet a member by its signature', async () => {
    await client.join(privateKey, distributorId())
    expect(await client.call('GET', `/v2/membership/?address=${account.address}`)).toEqual({ isMember: true })
  })

  it('builds, and the mined deposit is verified, signed and attributed', async () => {
    const opportunity = opportunityOf()
    const funded = await fund(privateKey, opportunity)
    const amount = funded / 2n
    const plan = await client.call('POST', `/v2/actions/deposit/${opportunity.id}`, {
      userAddress: account.address,
      tokenIn: opportunity.asset.address,
      amount: String(amount),
      distributorId: distributorId(),
      referralCode: 'friend-1',
    })
    expect(plan.transactions.map(({ type }: Json) => type)).toEqual(['approve', 'deposit'])
    const receipt = await client.sendAll(account, plan.transactions)
    depositHash = receipt.transactionHash
    suffix = slice(plan.transactions[1].transaction.data as Hex, 68)
    const entry = await client.waitForEntry(distributorId(), depositHash)
    expect(entry).toMatchObject({
      ...{
        opportunityId: opportunity.id,
        interaction: 'deposit',
        distributorId: distributorId(),
        attribution: 'signed',
      },
      ...{
        walletAddress: account.address,
        amountRaw: String(amount),
        amountInUsd: '500',
        isSwap: false,
        chainId: 31337,
      },
    })
    const deposits = await client.call('GET', `/v2/deposit/${distributorId()}?opportunityId=${opportunity.id}`)
    expect(deposits.deposits.find((one: Json) => one.txHash === depositHash)).toEqual(entry)
  })

  it('deposits the native token through a swap, and the entry says so', async () => {
    const opportunity = opportunityOf()
    const plan = await client.call('POST', `/v2/actions/deposit/${opportunity.id}`, {
      ...{ userAddress: account.address, tokenIn: 'native', amount: '100000000000000000', mode: 'swap' },
      distributorId: distributorId(),
    })
    expect(plan.transactions.map(({ type }: Json) => type)).toEqual(['swap', 'approve', 'deposit'])
    const { transactionHash } = await client.sendAll(account, plan.transactions)
    const entry = await client.waitForEntry(distributorId(), transactionHash)
    expect(entry).toMatchObject({ isSwap: true, attribution: 'signed', tokenSymbol: opportunity.asset.symbol })
  })

  it('is explained by the debugger and proved by VerifyTracking', async () => {
    const answer = await client.call('GET', `/v2/attribution/${depositHash}?chainId=31337`, undefined, null)
    expect(answer).toMatchObject({ attributed: true, distributorId: distributorId(), source: 'interaction' })
    expect(answer.action).toMatchObject({ kind: 'deposit', status: 'verified' })
    expect(answer.calldata).toMatchObject({ found: true, schema: 'erc8021-2', placement: 'transaction', problems: [] })
    expect(answer.calldata.signature).toMatchObject({ present: true, valid: true })
    expect(answer.watched[0]).toMatchObject({ signatureValid: true, retracted: false })
    const { input } = await client.chain.getTransaction({ hash: depositHash })
    expect(`0x${input.slice(2 + 2 * answer.calldata.start, 2 + 2 * answer.calldata.end)}`).toBe(suffix)
    const verified = await client.call('GET', `/v2/actions/verify?chainId=31337&txHash=${depositHash}`)
    expect(verified).toMatchObject({ signatureValid: true, error: '', tag: `erc8021:2:${distributorId()}` })
    expect(verified.metadata).toMatchObject({
      referralCode: 'friend-1',
      action: 'deposit',
      opportunityId: opportunityOf().id,
    })
  })

  it('can be withdrawn, and the withdrawal is credited as well', async () => {
    const opportunity = await client.call('GET', `/v2/opportunities/${opportunityOf().id}`)
    const shares = await client.chain.readContract({
      ...{ address: opportunity.receiptToken.address, abi: erc20Abi, functionName: 'balanceOf' },
      args: [account.address],
    })
    const plan = await client.call('POST', `/v2/actions/withdraw/${opportunity.id}`, {
      ...{ userAddress: account.address, amount: String((shares as bigint) / 2n), distributorId: distributorId() },
    })
    const receipt = await client.sendAll(account, plan.transactions)
    const entry = await client.waitForEntry(distributorId(), receipt.transactionHash)
    expect(entry).toMatchObject({ interaction: 'withdraw', attribution: 'signed', walletAddress: account.address })
  })
})

describe('a suffix copied to another wallet', () => {
  it('attributes, but is unsigned, and the debugger says why', async () => {
    const opportunity = dev.opportunities.find(({ kind }) => kind === 'erc4626')!
    const privateKey = seededKey()
    const account = privateKeyToAccount(privateKey)
    const amount = await fund(privateKey, opportunity)
    const approve = encodeFunctionData({
      abi: erc20Abi,
      functionName: 'approve',
      args: [opportunity.vaultAddress, amount],
    })
    const deposit = encodeFunctionData({ abi: erc4626Abi, functionName: 'deposit', args: [amount, account.address] })
    const common = { value: '0', gasLimit: '500000', chainId: 31337 }
    await client.send(account, { to: opportunity.asset.address, data: approve, ...common })
    const receipt = await client.send(account, {
      to: opportunity.vaultAddress,
      data: concat([deposit, suffix]),
      ...common,
    })
    const entry = await client.waitForEntry(dev.distributorIds[0]!, receipt.transactionHash)
    expect(entry).toMatchObject({ attribution: 'unsigned', walletAddress: account.address, amountRaw: String(amount) })
    const verified = await client.call('GET', `/v2/actions/verify?chainId=31337&txHash=${receipt.transactionHash}`)
    expect(verified.signatureValid).toBe(false)
    expect(verified.error).not.toBe('')
  })
})

describe('the history the devnet serves', () => {
  it('is in every point what the vault answered at its block: TVL totalAssets, share price convertToAssets', async () => {
    await waitForWeek(client, dev)
    const { differences, compared } = await compareWithChain(client, dev)
    expect(differences).toEqual([])
    expect(compared).toBeGreaterThan(dev.opportunities.length * 4 * 170)
  }, 120_000)

  it('is printed to the digit by recompute --rpc, at random points', async () => {
    const served = await listServed(client, dev)
    const random = seeded(16)
    const kinds = new Set<string>()
    for (let turn = 0; turn < points; turn++) {
      const point = random.pick(served)
      const printed = await printRecomputed(dataDir, dev, point)
      expect([printed.recomputed, printed.served], printed.said).toEqual([point.value, point.value])
      kinds.add(point.what)
    }
    expect(kinds.size).toBe(3)
  }, 120_000)

  it('withholds the yield of one vault for each reason, and shows what all of them hold', async () => {
    const stalled = 'INDEXING_STALLED'
    // A vault that was not read yet has not started.
    await until('the vault with dust to be read', async () =>
      (await sayWithheld(client, dev, stalled)).includes(stalled) ? true : undefined,
    )
    const said = await Promise.all(dev.withheld.map(({ withheld }) => sayWithheld(client, dev, withheld)))
    expect(said.sort()).toEqual([
      'base 200 apy null, apr 200, apy 412, share-price 200, tvl 200',
      'base 200 apy null, apr 404 PROTOCOL_UNSUPPORTED, apy 503 INDEXING_NOT_STARTED Retry-After, share-price 404 PROTOCOL_UNSUPPORTED, tvl 200',
      ...['INDEXING_NOT_STARTED', stalled].map((reason) => {
        const refused = `503 ${reason} Retry-After`
        return `base 200 apy null, apr ${refused}, apy ${refused}, share-price ${refused}, tvl 200`
      }),
    ])
  }, 60_000)
})

describe('a reorganisation', () => {
  it('takes the removed deposit out of the ledger and leaves a retraction in the debugger', async () => {
    const opportunity = dev.opportunities.find(({ kind }) => kind === 'erc4626')!
    const distributorId = dev.distributorIds[1]!
    const privateKey = seededKey()
    const account = privateKeyToAccount(privateKey)
    const amount = await fund(privateKey, opportunity)
    await client.join(privateKey)
    const plan = await client.call('POST', `/v2/actions/deposit/${opportunity.id}`, {
      ...{ userAddress: account.address, tokenIn: opportunity.asset.address, amount: String(amount), distributorId },
    })
    const receipt = await client.sendAll(account, plan.transactions)
    const entry = await client.waitForEntry(distributorId, receipt.transactionHash)
    expect(entry.attribution).toBe('signed')

    const head = await client.chain.getBlockNumber()
    await client.request('anvil_reorg', [Number(head - receipt.blockNumber) + 1, []])
    await until('the entry to go', async () =>
      (await client.listEntries(distributorId)).length === 0 ? true : undefined,
    )
    const answer = await client.call('GET', `/v2/attribution/${receipt.transactionHash}`, undefined, null)
    expect(answer).toMatchObject({ attributed: false, distributorId: null, interactions: [] })
    expect(answer.watched).toEqual([expect.objectContaining({ retracted: true, distributorId })])
    expect(await client.listEntries(dev.distributorIds[0]!)).not.toEqual([])
  })
})

describe('stopping and starting again', () => {
  it('keeps chain, ledger and keys; a second start on the same folder is refused in one sentence', async () => {
    const before = await client.listEntries(dev.distributorIds[0]!)
    await expect(startNewDevnet(dataDir)).rejects.toThrow(/another|already/i)
    await devnet.stop()
    devnet = await startNewDevnet(dataDir)
    expect(devnet.dev.keys).toEqual(dev.keys)
    expect(devnet.dev.opportunities).toEqual(dev.opportunities)
    client = openClient(devnet.dev)
    expect(await client.listEntries(dev.distributorIds[0]!)).toEqual(before)
  }, 120_000)

  it('survives SIGKILL: what it left behind is stopped, and chain and ledger go on', async () => {
    const before = await client.listEntries(dev.distributorIds[0]!)
    await devnet.kill()
    devnet = await startNewDevnet(dataDir)
    client = openClient(devnet.dev)
    expect(await client.listEntries(dev.distributorIds[0]!)).toEqual(before)
    const account = privateKeyToAccount(dev.accounts[2]!.privateKey)
    await client.join(dev.accounts[2]!.privateKey)
    const opportunity = devnet.dev.opportunities[0]!
    const plan = await client.call('POST', `/v2/actions/deposit/${opportunity.id}`, {
      ...{ userAddress: account.address, tokenIn: opportunity.asset.address, amount: '1000000' },
      distributorId: dev.distributorIds[0],
    })
    const receipt = await client.sendAll(account, plan.transactions)
    expect(await client.waitForEntry(dev.distributorIds[0]!, receipt.transactionHash)).toMatchObject({
      attribution: 'signed',
    })
  }, 120_000)

  it('goes on while the chain says nothing: actions answer 503 with Retry-After, the debugger what it knows', async () => {
    const { anvil } = JSON.parse(await readFile(join(dataDir, 'anvil', 'anvil.pid'), 'utf8'))
    const [entry] = await client.listEntries(dev.distributorIds[0]!)
    // A chain that ends is started again; one that hangs is not.
    process.kill(anvil, 'SIGSTOP')
    try {
      const opportunity = devnet.dev.opportunities[0]!
      const { status, headers, body } = await client.fetchAnswer('POST', `/v2/actions/deposit/${opportunity.id}`, {
        ...{ userAddress: dev.accounts[2]!.address, tokenIn: opportunity.asset.address, amount: '1000000' },
        distributorId: dev.distributorIds[0],
      })
      expect({ status, body }).toMatchObject({
        status: 503,
        body: { status: 'UNAVAILABLE', context: { retryable: true } },
      })
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
      const debugged = await client.call('GET', `/v2/attribution/${entry.txHash}?chainId=31337`, undefined, null)
      expect(debugged).toMatchObject({ attributed: true, source: 'interaction' })
      expect(await client.listEntries(dev.distributorIds[0]!)).not.toEqual([])
    } finally {
      // A stopped chain could not be ended.
      process.kill(anvil, 'SIGCONT')
    }
    await devnet.stop()
    expect((await devnet.ended).code).toBe(0)
  }, 60_000)
})
