import { recordSigner } from '../../src/features/catalogue/storeSigners.js'
import { systemClock } from '../../src/kernel/clock.js'
import { newId } from '../../src/kernel/ids.js'
import { silentLog } from '../../src/kernel/log.js'
import type { Database } from '../../src/postgres/pool.js'
import { recordObservation } from '../../src/prices/index.js'
import type { RawBlock } from '../../src/rpc/raw.js'
import { createPipeline } from '../pipeline.js'
import type { Sink } from '../sink.js'
import type { Line, RecordedBlock, RecordedVault } from './recording.js'

const instant = (seconds: number) => new Date(seconds * 1000)

/** Plays a recorded run into an empty database, the way a watcher would. Answers the chains in it. */
export async function loadRecording(db: Database, lines: readonly Line[]): Promise<number[]> {
  const organizationId = newId()
  await db`insert into organizations (id, name, organization_type) values (${organizationId}, 'O', 'distributor')`
  const sinks = new Map<number, Sink>()
  for (const line of lines) {
    if ('chain' in line) {
      const { chainId, name } = line.chain
      await db`insert into chains (chain_id, name, slug, watched) values (${chainId}, ${name}, ${`c${chainId}`}, true)`
      const ctx = { db, clock: systemClock, log: silentLog }
      sinks.set(chainId, createPipeline(ctx, { chainId }))
    } else if ('signer' in line) await recordSigner(db, line.signer.address, instant(0))
    else if ('distributor' in line) {
      const { id, activeFrom } = line.distributor
      await db`
        insert into distributors (id, organization_id, active_from)
        values (${id}, ${organizationId}, ${instant(activeFrom)})`
    } else if ('setting' in line) {
      const { distributorId, signedOnly, activeFrom } = line.setting
      await db`
        insert into distributor_settings (distributor_id, signed_only, active_from)
        values (${distributorId}, ${signedOnly}, ${instant(activeFrom)})`
    } else if ('vault' in line) await listVault(db, line.vault)
    else if ('price' in line) {
      const { chainId, address, usd, at } = line.price
      const observation = { priceUsd: usd, source: 'recorded', observedAt: instant(at) }
      await recordObservation(db, { chainId, address, ...observation })
    } else if ('append' in line) await append(sinkOf(sinks, line.append.chainId), line.append.blocks)
    else {
      const { chainId, number, hash } = line.rewind
      const sink = sinkOf(sinks, chainId)
      await sink.rewind(await sink.refresh(headAt(number, hash)), { number, hash })
    }
  }
  return [...sinks.keys()]
}

function sinkOf(sinks: ReadonlyMap<number, Sink>, chainId: number): Sink {
  const sink = sinks.get(chainId)
  if (!sink) throw new Error(`the recording names chain ${chainId} before it lists it`)
  return sink
}

const headAt = (number: number, hash: string) => ({ number, hash, parentHash: '', timestamp: 0 })

async function append(sink: Sink, recorded: readonly RecordedBlock[]): Promise<void> {
  const blocks = recorded.map(toBlock)
  const tip = blocks.at(-1)
  if (tip) await sink.append(await sink.refresh(tip), blocks, tip)
}

function toBlock({ number, hash, parentHash, timestamp, logs, transactions }: RecordedBlock): RawBlock {
  return {
    number,
    hash,
    parentHash,
    timestamp,
    logs: logs.map(({ index, ...log }) => ({ blockNumber: number, logIndex: index, ...log })),
    transactions: transactions.map(({ index, input, ...each }) => ({
      ...{ blockNumber: number, transactionIndex: index, ...each },
      // Some calldata of the recording is not hex, which no node gives. It is read as empty, so it is kept as empty.
      input: /^0x([0-9a-f]{2})*$/i.test(input) ? input : '0x',
    })),
  }
}

async function listVault(db: Database, vault: RecordedVault): Promise<void> {
  await db`
    insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals, escrow,
      start_block, active_from)
    values (${vault.chainId}, ${vault.address}, ${vault.kind}, ${vault.asset}, ${vault.assetDecimals},
      ${vault.receiptToken}, ${vault.receiptDecimals}, ${vault.escrow}, ${vault.startBlock},
      ${instant(vault.activeFrom)})`
}
