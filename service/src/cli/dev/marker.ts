import T from 'typebox'
import { Check } from 'typebox/value'
import type { Cursor } from '../../chain/storeCursor.js'
import type { Context } from '../../kernel/context.js'
import { readSetting, recordSetting } from '../../kernel/database.js'
import type { DevChain } from './anvil.js'
import type { Deployment } from './deploy.js'

const settingName = 'devnet'

const Marker = T.Object({ genesisHash: T.String(), tokens: T.Array(T.Unknown()), vaults: T.Array(T.Unknown()) })

/** What the database remembers of the devnet it belongs to. */
export async function readMarker({ db }: Pick<Context, 'db'>): Promise<Deployment | undefined> {
  const value = await readSetting(db, settingName)
  // Written by recordMarker alone, in this very shape.
  return Check(Marker, value) ? (value as unknown as Deployment) : undefined
}

export async function recordMarker({ db }: Pick<Context, 'db'>, deployment: Deployment): Promise<void> {
  await recordSetting(db, settingName, deployment)
}

/** True when the chain is the one the database was filled from, and reaches at least as far. */
export async function isOurChain(
  chain: DevChain,
  deployment: Deployment,
  cursor: Pick<Cursor, 'blockNumber' | 'blockHash'> | undefined,
): Promise<boolean> {
  const genesis = await chain.client.getBlock({ blockNumber: 0n })
  if (genesis.hash !== deployment.genesisHash) return false
  if (!cursor || cursor.blockHash === '') return true
  if ((await chain.client.getBlockNumber()) < BigInt(cursor.blockNumber)) return false
  return (await chain.client.getBlock({ blockNumber: BigInt(cursor.blockNumber) })).hash === cursor.blockHash
}
