import { signerAddress } from '@openearn/attribution'
import { signerKey } from '../simulation/calldata.js'
import { allVaults, asyncVault, lateVault, type ModelBlock, start } from '../simulation/model.js'
import { createModelChain } from '../simulation/modelChain.js'
import { createRandom } from '../simulation/random.js'
import { topics } from '../topics.js'
import type { Line, RecordedBlock } from './recording.js'

/** Chains of the simulation, each grown and forked as often; the first begins long. */
const seeds = [7, 19, 23, 42]
const turns = 24
const asset = `0x${'dd'.repeat(20)}`

export const simulatedSigner = signerAddress(Buffer.from(signerKey.slice(2), 'hex'))

const chainIdOf = (seed: number) => 1_000_000 + seed

/** What the operator of the simulated chains configured. */
export function listSimulatedConfiguration(): Line[] {
  return seeds.flatMap((seed): Line[] => {
    const chainId = chainIdOf(seed)
    return [
      { chain: { chainId, name: `Simulated ${seed}` } },
      ...allVaults.map((address): Line => {
        const kind = address === asyncVault ? 'erc7540' : 'erc4626'
        const [startBlock, activeFrom] = address === lateVault ? [3, start + 12 * 30] : [1, 0]
        const decimals = { assetDecimals: 6, receiptDecimals: 6 }
        const place = { receiptToken: address, escrow: null, startBlock, activeFrom }
        return { vault: { chainId, address, kind, asset, ...decimals, ...place } }
      }),
      { price: { chainId, address: asset, usd: '1.0001', at: start + 12 * 10 } },
      { price: { chainId, address: asset, usd: '0.98765', at: start + 12 * 50 } },
    ]
  })
}

/** What happens on the simulated chains, one turn of each after the other. */
export function listSimulatedHistory(): Line[] {
  const chains = seeds.map((seed, index) => {
    const chainId = chainIdOf(seed)
    return { chainId, world: createModelChain(createRandom(seed), chainId, index === 0), told: [] as ModelBlock[] }
  })
  const lines: Line[] = []
  for (let turn = 0; turn < turns; turn++)
    for (const { chainId, world, told } of chains) {
      world.change()
      const common = told.findIndex(({ hash }, index) => world.blocks[index]?.hash !== hash)
      const ancestor = common === -1 ? undefined : told[common - 1]
      if (ancestor) {
        lines.push({ rewind: { chainId, number: ancestor.number, hash: ancestor.hash } })
        told.splice(common)
      }
      const fresh = world.blocks.slice(told.length)
      told.push(...fresh)
      // No vault is read at the first block of all.
      const blocks = fresh.filter(({ number }) => number > 0).map(toRecorded)
      if (blocks.length > 0) lines.push({ append: { chainId, blocks } })
    }
  return lines
}

function toRecorded({ number, hash, parentHash, timestamp, transactions }: ModelBlock): RecordedBlock {
  const logs = transactions.flatMap((transaction) => transaction.logs)
  return {
    number,
    hash,
    parentHash,
    timestamp,
    logs: logs.map(({ logIndex, transactionIndex, transactionHash, address, topics, data }) => ({
      index: logIndex,
      transactionIndex,
      transactionHash,
      address,
      topics,
      data,
    })),
    transactions: transactions.flatMap(({ hash, from, to, input, logs }, index) =>
      logs.some((log) => log.topics[0] !== topics.transfer) ? [{ index, hash, from, to, input }] : [],
    ),
  }
}
