import { type NewRow, replaceRows, upsertRows } from '../../../postgres/importedRows.js'
import type { Queryable, Transaction } from '../../../postgres/pool.js'
import { listTokenDecimals, type TokenDecimals, writeTokens } from '../../../prices/index.js'
import { listChainSlugs, writeChains } from '../../../rpc/storeChains.js'
import {
  correctDecimals,
  listProtocolIds,
  listShares,
  writeProtocols,
  writeVaults,
} from '../../../vaults/configured/index.js'
import { chainKey } from '../records.js'
import { tables } from '../tables.js'
import type { ImportRows, Known } from './resolveFile.js'

/** One number for the whole service: two imports at once would wait for each other's rows in different orders. */
const importLock = 6_736_002

/** Reads the rows that entries of a file may refer to. Other imports wait until this transaction ends. */
export async function readKnown(tx: Queryable): Promise<Known> {
  await tx`select pg_advisory_xact_lock(${importLock})`
  const ids = async (rows: Promise<{ id: string }[]>) => new Set((await rows).map(({ id }) => id))
  const [organizationIds, protocolIds, productIds, chains, tags, tokens, opportunities, distributors, shares] =
    await Promise.all([
      ids(tx<{ id: string }[]>`select id from organizations`),
      ids(listProtocolIds(tx)),
      ids(tx<{ id: string }[]>`select id from products`),
      listChainSlugs(tx),
      tx<{ id: string; code: string }[]>`select id, code from tags`,
      listTokenDecimals(tx),
      tx<{ id: string; slug: string; chainId: number; vaultAddress: string }[]>`
        select id, slug, chain_id as "chainId", vault_address as "vaultAddress" from opportunities`,
      tx<{ id: string; organizationId: string }[]>`
        select id, organization_id as "organizationId" from distributors`,
      listShares(tx),
    ])
  return {
    organizationIds,
    protocolIds,
    productIds,
    chainIds: new Set(chains.map(({ chainId }) => chainId)),
    chainSlugs: new Map(chains.map(({ chainId, slug }) => [slug, chainId])),
    tagIds: new Map(tags.map(({ id, code }) => [code, id])),
    tokenDecimals: new Map(tokens.map((token) => [chainKey(token.chainId, token.address), token.decimals])),
    opportunityIds: new Set(opportunities.map(({ id }) => id)),
    opportunitySlugs: new Map(opportunities.map(({ id, slug }) => [slug, id])),
    opportunityVaults: new Map(opportunities.map((row) => [chainKey(row.chainId, row.vaultAddress), row.id])),
    shares,
    vaultsOfShare: new Map(shares.map((row) => [chainKey(row.chainId, row.receiptToken), row.address])),
    distributors: new Map(distributors.map(({ id, organizationId }) => [id, organizationId])),
  }
}

/**
 * Writes the rows of a file. Descriptive members are replaced; absent switches, chain settings and dates keep
 * their present value. Lists belonging to an entry are replaced as a whole; entries the file does not name stay.
 */
export async function writeCatalogue(tx: Transaction, rows: ImportRows, now: Date): Promise<void> {
  await upsertRows(tx, tables.organizations, rows.organizations)
  await writeChains(tx, rows.chains)
  await writeTokens(tx, rows.tokens)
  await writeProtocols(tx, rows.protocols)
  for (const table of ['tags', 'products'] as const) await upsertRows(tx, tables[table], rows[table])
  await writeVaults(tx, rows.vaults, now)
  await upsertRows(tx, tables.opportunities, rows.opportunities)
  await replaceLists(tx, rows, 'opportunityId', rows.opportunities, [
    'opportunityTokens',
    'opportunityOrganizations',
    'opportunityTags',
    'opportunityProducts',
    'incentives',
  ])
  await upsertRows(tx, tables.distributors, rows.distributors, { activeFrom: now })
  await recordSignedOnly(tx, rows.distributors, now)
  await replaceLists(tx, rows, 'distributorId', rows.distributors, ['distributorOpportunities', 'distributorProducts'])
  // A token's decimals may be corrected after the vaults that use it were written.
  await correctDecimals(tx, rows.tokens as TokenDecimals[])
}

async function replaceLists(
  tx: Transaction,
  rows: ImportRows,
  owner: string,
  owners: readonly NewRow[],
  lists: readonly (keyof typeof tables)[],
): Promise<void> {
  const ids = owners.map((row) => row['id'])
  for (const list of lists) await replaceRows(tx, tables[list], owner, ids, rows[list])
}

/** A setting is dated: the first one from the distributor's start, a change from now. */
async function recordSignedOnly(tx: Transaction, distributors: readonly NewRow[], now: Date): Promise<void> {
  const said = distributors.filter((row) => typeof row['signedOnly'] === 'boolean')
  if (said.length === 0) return
  await tx`
    insert into distributor_settings (distributor_id, signed_only, active_from)
    select r.id, r.signed_only, case when s.signed_only is null then d.active_from else ${now} end
    from unnest(${said.map((row) => String(row['id']))}::text[], ${said.map((row) => String(row['signedOnly']))}::text[]::boolean[])
        as r (id, signed_only)
      join distributors d on d.id = r.id
      left join lateral (select signed_only from distributor_settings where distributor_id = r.id
        order by active_from desc limit 1) s on true
    where r.signed_only is distinct from s.signed_only
    on conflict (distributor_id, active_from) do update set signed_only = excluded.signed_only`
}
