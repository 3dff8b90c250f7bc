import { createPublicClient, erc20Abi, erc4626Abi, formatUnits, type Hex, http } from 'viem'
import { foundry } from 'viem/chains'
import { vi } from 'vitest'
import { present } from '../../../contracts/test/present.js'
import { until } from '../../../contracts/test/until.js'
import { recomputeHistory } from '../../src/cli/recomputeHistory.js'
import type { Json, openClient } from './client.js'
import type { Dev } from './process.js'

type Client = ReturnType<typeof openClient>
/** A point as it is served: of what, when, in which block, and its number. */
export type ServedPoint = { what: 'apr' | 'apy' | 'tvl'; vault: Hex; at: string; value: Json }

/** The window of the rates that are asked for. */
const apyInterval = 86_400

const day = 86_400_000
const daysAgo = (days: number) => new Date(present().getTime() - days * day).toISOString()

/** Points of a vault, every snapshot one; of the last sixty days where no range is given. */
async function askSeries(client: Client, dev: Dev, vault: Hex, part: string, query = ''): Promise<Json[]> {
  const range = query.includes('startDate=') ? '' : `&startDate=${daysAgo(61)}`
  return (
    await client.call('GET', `/v2/opportunities/${dev.chainId}/${vault}/historical${part}?step=900${range}${query}`)
  ).data
}

/** Waits until the last week and the day before it are read: the past is read behind the first start, newest first. */
export async function waitForWeek(client: Client, dev: Dev): Promise<void> {
  const query = `&startDate=${daysAgo(10)}&endDate=${daysAgo(8)}`
  for (const { vaultAddress, name } of dev.opportunities)
    await until(`the past of ${name}`, async () => (await askSeries(client, dev, vaultAddress, '', query)).length > 0)
}

/** Every TVL and share price that is served and is not what the vault answers at its block; and how many were looked at. */
export async function compareWithChain(client: Client, dev: Dev): Promise<{ differences: string[]; compared: number }> {
  const transport = http(dev.rpcUrl, { batch: { batchSize: 100 } })
  const chain = createPublicClient({ chain: foundry, transport, cacheTime: 0 })
  const differences: string[] = []
  let compared = 0
  for (const { vaultAddress: address, asset } of dev.opportunities) {
    const decimals = await chain.readContract({ address, abi: erc20Abi, functionName: 'decimals' })
    const args = [10n ** BigInt(decimals + 12)] as const
    const read = async (blockNumber: bigint) => {
      const at = { address, abi: erc4626Abi, blockNumber } as const
      const [assets, perShare] = await Promise.all([
        chain.readContract({ ...at, functionName: 'totalAssets' }),
        chain.readContract({ ...at, functionName: 'convertToAssets', args }),
      ])
      return {
        tvl: Number(formatUnits(assets, asset.decimals)),
        sharePrice: Number(formatUnits(perShare, asset.decimals + 12)),
      }
    }
    const parts = ['', '/tvl', '/share-price'].map((part) => askSeries(client, dev, address, part))
    const points = (await Promise.all(parts)).flat()
    const blocks = [...new Set<number>(points.map(({ blockNumber }) => blockNumber))]
    const answers = new Map(await Promise.all(blocks.map(async (block) => [block, await read(BigInt(block))] as const)))
    for (const point of points)
      for (const name of ['tvl', 'sharePrice'] as const) {
        if (point[name] === undefined) continue
        compared += 1
        const [served, wanted] = [point[name].native, answers.get(point.blockNumber)?.[name]]
        if (served !== wanted)
          differences.push(`${address} ${name} of block ${point.blockNumber}: ${served}, not ${wanted}`)
      }
  }
  return { differences, compared }
}

/** Every rate and TVL that is served of the last six days. */
export async function listServed(client: Client, dev: Dev): Promise<ServedPoint[]> {
  const served: ServedPoint[] = []
  const since = `&startDate=${daysAgo(6)}`
  for (const { vaultAddress: vault } of dev.opportunities)
    for (const what of ['apr', 'apy', 'tvl'] as const) {
      const query = what === 'tvl' ? since : `${since}&apyInterval=${apyInterval}`
      for (const { timestamp: at, ...point } of await askSeries(client, dev, vault, `/${what}`, query))
        served.push({ what, vault, at, value: what === 'tvl' ? point.tvl : point[what].base })
    }
  return served
}

/** What base, apr, apy, share-price and tvl of the vault that shows a reason answer, in a line. */
export async function sayWithheld(client: Client, dev: Dev, reason: string): Promise<string> {
  const vault = dev.withheld.find(({ withheld }) => withheld === reason)
  const query = `startDate=${daysAgo(6)}&step=3600&apyInterval=${apyInterval}`
  const parts = ['', '/apr', '/apy', '/share-price', '/tvl'].map(async (part) => {
    const path = `/v2/opportunities/${dev.chainId}/${vault?.vaultAddress}/historical${part}?${query}`
    const { status, headers, body } = await client.fetchAnswer('GET', path, undefined)
    const words = [part === '' ? 'base' : part.slice(1), status, body.reason]
    if (headers.get('retry-after') !== null) words.push('Retry-After')
    if (part === '' && body.data.every(({ apy }: Json) => apy === null)) words.push('apy null')
    return words.filter((word) => word !== undefined).join(' ')
  })
  return (await Promise.all(parts)).join(', ')
}

/** What `openearn recompute --rpc` prints of a point, run on the data folder of the devnet. */
export async function printRecomputed(dataDir: string, dev: Dev, { what, vault, at }: ServedPoint) {
  vi.stubEnv('OPENEARN_DATA_DIR', dataDir)
  vi.stubEnv('DATABASE_URL', '')
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    const window = what === 'tvl' ? [] : ['--apy-interval', String(apyInterval)]
    await recomputeHistory(what).run([String(dev.chainId), vault, '--at', at, ...window, '--rpc', dev.rpcUrl])
    const said = write.mock.calls.map(([text]) => String(text)).join('')
    const printed = (name: string) => JSON.parse(new RegExp(`^${name}: +(.*)$`, 'm').exec(said)?.[1] ?? 'null')
    return { said, recomputed: printed('recomputed'), served: printed('served') }
  } finally {
    write.mockRestore()
    vi.unstubAllEnvs()
  }
}
