import T from 'typebox'
import { Check } from 'typebox/value'
import type { Context } from '../../postgres/context.js'
import { readSetting, recordSetting } from '../../postgres/pool.js'
import { devnetChainId } from '../../rpc/devnet.js'
import { listProjections } from '../../server/projections.js'
import { rewindChain } from '../../sync/rewind.js'
import { findCursor } from '../../sync/storeCursors.js'
import { listHeadersDown } from '../../sync/storeRaw.js'
import type { DevChain } from './anvil.js'
import type { Deployment } from './deploy.js'

const settingName = 'devnet'

const Marker = T.Object({ genesisHash: T.String(), tokens: T.Array(T.Unknown()), vaults: T.Array(T.Unknown()) })

/** Reads the record of the devnet that the database belongs to. */
export async function readMarker({ db }: Pick<Context, 'db'>): Promise<Deployment | undefined> {
  const value = await readSetting(db, settingName)
  // Written by recordMarker alone, in this very shape.
  return Check(Marker, value) ? (value as unknown as Deployment) : undefined
}

export async function recordMarker({ db }: Pick<Context, 'db'>, deployment: Deployment): Promise<void> {
  await recordSetting(db, settingName, deployment)
}

/** True when the chain is the one the database was filled from, and still has what was deployed. */
export async function isOurChain({ client }: DevChain, deployment: Deployment): Promise<boolean> {
  const genesis = await client.getBlock({ blockNumber: 0n })
  if (genesis.hash !== deployment.genesisHash) return false
  const contracts = [...deployment.tokens, ...deployment.vaults].map(({ address }) => address)
  if (deployment.exchange) contracts.push(deployment.exchange.v2.router, deployment.exchange.v3.router)
  if (deployment.lending) contracts.push(deployment.lending.pool)
  if (deployment.orders) contracts.push(deployment.orders.settlement)
  const codes = await Promise.all(contracts.map((address) => client.getCode({ address })))
  return codes.every((code) => code !== undefined && code !== '0x')
}

/** Headers compared at once in the search for a block both have. */
const headersAtOnce = 64

/**
 * Takes the database back to the newest block it shares with the chain, below final too: a chain that was killed continues from
 * its last written state, without the blocks after it. Returns how many blocks were removed.
 */
export async function dropLostBlocks(
  ctx: Pick<Context, 'db' | 'clock' | 'log'>,
  { client }: DevChain,
): Promise<number> {
  const cursor = await findCursor(ctx.db, devnetChainId)
  if (!cursor || cursor.blockHash === '') return 0
  const hashAt = async (number: number) => {
    if (BigInt(number) > (await client.getBlockNumber())) return undefined
    return (await client.getBlock({ blockNumber: BigInt(number) })).hash
  }
  const findShared = async (): Promise<number> => {
    for (let from = cursor.blockNumber; ; ) {
      const held = await listHeadersDown(ctx.db, devnetChainId, from, headersAtOnce)
      const last = held.at(-1)
      if (!last) return cursor.startBlock - 1
      for (const { number, hash } of held) if ((await hashAt(number)) === hash) return number
      from = last.number - 1
    }
  }
  if ((await hashAt(cursor.blockNumber)) === cursor.blockHash) return 0
  const { removedBlocks } = await rewindChain(ctx, {
    chainId: devnetChainId,
    projections: listProjections(),
    to: await findShared(),
  })
  return removedBlocks
}
