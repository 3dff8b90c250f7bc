import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { yieldVaultAbi, yieldVaultBytecode } from '@openearn/contracts'
import { type Abi, type Address, getAddress, type Hex, keccak256, toHex } from 'viem'
import { patience } from '../../../contracts/test/patience.js'
import { until } from '../../../contracts/test/until.js'
import { startBadNode } from '../chain/badNode.js'
import { type Json, openClient } from '../e2e/client.js'
import { demoCatalogueText } from '../e2e/demoCatalogue.js'
import { runOpenEarn, startOpenEarn, waitUntilReady } from '../e2e/process.js'
import type { openCreditWorld } from './creditWorld.js'

export type World = Awaited<ReturnType<typeof openCreditWorld>>
type Client = World['client']

/** Code that hands every call on by delegatecall with bytes behind it; a permit does nothing there and succeeds. */
function appendingCode(implementation: Address, bytes: string): Hex {
  const push = (value: number, size: number) => (0x5f + size).toString(16) + value.toString(16).padStart(size * 2, '0')
  const size = bytes.length / 2
  const write = ({ done, permit, data }: { done: number; permit: number; data: number }) => {
    const branch = `60003560e01c63d505accf14${push(permit, 2)}57`
    const copy = `366000600037${push(size, 1)}${push(data, 2)}3639`
    const call = `60006000${push(size, 1)}3601600073${implementation.slice(2)}5af4`
    const before = `${branch}${copy}${call}3d600060003e${push(done, 2)}573d6000fd`
    return { before, doneAt: before.length / 2 }
  }
  const { doneAt } = write({ done: 0, permit: 0, data: 0 })
  const { before } = write({ done: doneAt, permit: doneAt + 5, data: doneAt + 7 })
  return `0x${before}5b3d6000f35b00${bytes}`
}

/** A vault like the devnet's, but whose helper runs every call by delegatecall with a distributor's code behind it. */
export async function deployAppendingVault(world: World, asset: Address, code: string): Promise<Address> {
  const args = [asset, 'Appending', 'apUSDC', 12, 0n, false]
  const vault = await world.deploy(yieldVaultBytecode, yieldVaultAbi as Abi, args)
  const helper = getAddress(`0x${keccak256(toHex('a helper that appends')).slice(-40)}`)
  await world.client.request('anvil_setCode', [helper, await world.client.chain.getCode({ address: vault })])
  await world.client.request('anvil_setCode', [vault, appendingCode(helper, world.tag(code))])
  return vault
}

/** Tells the running devnet of one more vault, and that it may believe its one node. */
export async function trustTraces(world: World, folder: string, vault: Address): Promise<void> {
  const { dev } = world
  const path = join(folder, 'trusted.json')
  const { chains, tokens, opportunities } = await fullCatalogue(world, vault)
  const isNew = ({ vault: own }: Json) => own.address === vault
  const file = {
    chains: [{ ...chains[0], rpcUrls: [dev.rpcUrl], trustTraces: true }],
    tokens: tokens.filter(({ address }: Json) => address === vault),
    opportunities: opportunities.filter(isNew),
  }
  await writeFile(path, JSON.stringify(file))
  await runOpenEarn(['catalogue', 'import', path], { OPENEARN_DATA_DIR: folder })
}

/** All vaults, and the devnet's organizations and distributors, as another operator of the same chain would have them. */
async function fullCatalogue({ client, dev }: World, vault: Address): Promise<Json> {
  const { data } = await client.call('GET', '/v2/opportunities/?chainIds=31337&limit=100')
  const receiptTokens = data.map(({ receiptToken }: Json) => receiptToken)
  const waiting = dev.opportunities.filter(({ kind }) => kind === 'erc7540')
  const file = JSON.parse(demoCatalogueText(dev, receiptTokens))
  const [{ asset }] = dev.opportunities as [Dev1]
  const since = { chainId: dev.chainId, activeFrom: '1970-01-01T00:00:00Z' }
  const share = { chainId: dev.chainId, address: vault, symbol: 'apUSDC', name: 'Appending', decimals: 18 }
  const more = [
    ...waiting.map((each) => ({
      ...{ slug: 'waiting', name: each.name, type: 'vault', depositTokens: [each.asset.address] },
      vault: { ...since, address: each.vaultAddress, kind: 'erc7540', asset: each.asset.address },
    })),
    {
      ...{ slug: 'appending', name: 'Appending', type: 'vault', depositTokens: [asset.address] },
      vault: { ...since, address: vault, kind: 'erc4626', asset: asset.address },
    },
  ]
  // Once the devnet lists the vault its share token is among the receipt tokens.
  const others = file.tokens.filter(({ address }: Json) => address.toLowerCase() !== vault.toLowerCase())
  return { ...file, tokens: [...others, share], opportunities: [...file.opportunities, ...more] }
}
type Dev1 = World['dev']['opportunities'][number]

/** A second service of the same chain, whose node says nothing of how transactions ran. */
export async function startUntraced(world: World, folder: string, vault: Address) {
  const { dev } = world
  const node = await startBadNode(dev.rpcUrl)
  node.state.fault = ({ id, method }) =>
    /^(debug|trace)_/.test(method) ? { id, error: { code: -32601, message: 'the method does not exist' } } : undefined
  const env = {
    OPENEARN_DATA_DIR: join(folder, 'untraced'),
    // The devnet signs with its own: what it signs is to be known here too.
    ATTRIBUTION_KEY: '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
    [`RPC_URL_${dev.chainId}`]: node.url,
  }
  const [organization] = dev.organizations as [World['dev']['organizations'][number]]
  const catalogue = {
    ...(await fullCatalogue(world, vault)),
    organizations: [{ ...organization, slug: 'aurora', organizationType: 'distributor' }],
    distributors: [world.aurora, world.borealis].map((id) => ({
      ...{ id, name: id, organization: organization.id, activeFrom: '1970-01-01T00:00:00Z' },
    })),
  }
  const path = join(folder, 'untraced.json')
  await writeFile(path, JSON.stringify(catalogue))
  await runOpenEarn(['migrate'], env)
  await runOpenEarn(['catalogue', 'import', path], env)
  const words = ['--org', organization.id, '--kind', 'publishable', '--hourly', '1000000']
  const said = await runOpenEarn(['keys', 'create', ...words], env)
  const started = startOpenEarn(['start'], env)
  const [baseUrl] = (await waitUntilReady(started)).match(/http\S+/g)!
  const keys = { publishable: /pk_live_\S+/.exec(said)![0], secret: '' }
  return {
    client: openClient({ baseUrl: baseUrl!, rpcUrl: dev.rpcUrl, keys }),
    stop: async () => {
      await started.stop()
      await node.stop()
    },
  }
}

/** What a chain can tell, as the service says it. */
export const evidenceOf = async (client: Client, chainId: number): Promise<string> => {
  const { chains } = await client.call('GET', '/v2/indexing-status/')
  return chains.find((chain: Json) => chain.chainId === chainId).evidence
}

/** The rows that transactions made, as lines; `names` by address. */
async function readLines(world: World, client: Client, hashes: readonly Hex[], names: Names): Promise<string[]> {
  const ids = { own: world.aurora, rival: world.borealis }
  const lists = await Promise.all([ids.own, ids.rival].map(client.listEntries))
  const entries = lists.flat().filter(({ txHash }) => hashes.includes(txHash))
  const placeOf = ({ blockNumber, logIndex }: Json) => blockNumber * 100_000 + logIndex
  const nameOf = (id: string) => (id === ids.own ? 'own' : 'rival')
  const lines = entries
    .sort((a, b) => placeOf(a) - placeOf(b))
    .map(({ interaction, distributorId, attribution, walletAddress, amountRaw }) => {
      const who = names.get(walletAddress.toLowerCase()) ?? 'safe'
      const amount = interaction === 'deposit' ? ` ${amountRaw}` : ''
      return `${interaction} ${nameOf(distributorId)} ${attribution} ${who}${amount}`
    })
  const requests = []
  for (const [address, name] of names)
    if (name === 'owner') {
      const answer = await client.call('GET', `/v2/wallets/${address}/requests`)
      for (const { txHash, distributorId, kind } of answer.requests)
        if (hashes.includes(txHash)) requests.push(`request ${kind} ${distributorId && nameOf(distributorId)}`)
    }
  return [...lines, ...requests]
}
export type Names = ReadonlyMap<string, string>

/** Reads what transactions made once their blocks are read, and waits for what has to come; answers what is there. */
export async function readSettled(
  world: World,
  client: Client,
  { hashes, names, expected }: { hashes: readonly Hex[]; names: Names; expected: readonly string[] },
): Promise<string[]> {
  const receipts = await Promise.all(hashes.map((hash) => world.client.chain.getTransactionReceipt({ hash })))
  const last = Math.max(...receipts.map(({ blockNumber }) => Number(blockNumber)))
  let lines: string[] = []
  // A trace may come later than its block.
  for (let turn = 0; turn < 100 * patience; turn++) {
    await until(`block ${last} to be read`, async () => {
      const { chains } = await client.call('GET', '/v2/indexing-status/')
      return chains.find(({ chainId }: Json) => chainId === world.dev.chainId).indexedBlock >= last
    })
    lines = await readLines(world, client, hashes, names)
    if (lines.join() === expected.join()) break
  }
  return lines
}
