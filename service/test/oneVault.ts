import { newId } from '../src/kernel/ids.js'
import type { Database } from '../src/postgres/pool.js'

/** A watched chain with one vault, and a distributor: what a chain made by hand needs of the catalogue. */
export async function insertOneVault(
  db: Database,
  input: { chainId: number; vault: string; asset: string; distributorId: string; startBlock: number },
): Promise<void> {
  const { chainId, vault, asset, distributorId, startBlock } = input
  const organizationId = newId()
  await db`insert into organizations (id, name, organization_type) values (${organizationId}, 'O', 'distributor')`
  await db`insert into chains (chain_id, name, slug, watched) values (${chainId}, 'C', 'c', true)`
  await db`insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals, active_from, start_block)
    values (${chainId}, ${vault}, 'erc4626', ${asset}, 6, ${vault}, 6, '1970-01-01', ${startBlock})`
  await db`insert into distributors (id, organization_id, active_from)
    values (${distributorId}, ${organizationId}, '1970-01-01')`
}
