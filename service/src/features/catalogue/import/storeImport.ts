import type { Queryable, Transaction } from '../../../postgres/pool.js'
import { chainKey } from '../records.js'
import type { ImportRows, Known } from './resolveFile.js'

/** One number for the whole service: two imports at once would wait for each other's rows in different orders. */
const importLock = 6_736_002

/** What entries of a file may refer to. Other imports wait until this transaction ends. */
export async function readKnown(tx: Queryable): Promise<Known> {
  await tx`select pg_advisory_xact_lock(${importLock})`
  const ids = async (rows: Promise<{ id: string }[]>) => new Set((await rows).map(({ id }) => id))
  const [organizationIds, protocolIds, productIds, chains, tags, tokens, opportunities, distributors] =
    await Promise.all([
      ids(tx<{ id: string }[]>`select id from organizations`),
      ids(tx<{ id: string }[]>`select id from protocols`),
      ids(tx<{ id: string }[]>`select id from products`),
      tx<{ chainId: number; slug: string }[]>`select chain_id as "chainId", slug from chains`,
      tx<{ id: string; code: string }[]>`select id, code from tags`,
      tx<{ chainId: number; address: string; decimals: number }[]>`
        select chain_id as "chainId", address, decimals from tokens`,
      tx<{ id: string; slug: string; chainId: number; vaultAddress: string }[]>`
        select id, slug, chain_id as "chainId", vault_address as "vaultAddress" from opportunities`,
      tx<{ id: string; organizationId: string }[]>`
        select id, organization_id as "organizationId" from distributors`,
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
    distributors: new Map(distributors.map(({ id, organizationId }) => [id, organizationId])),
  }
}

/**
 * Writes the rows of a file. What describes an entry is replaced; switches, chain settings and dates left out keep
 * their present value. Lists belonging to an entry are replaced as a whole; entries the file does not name stay.
 */
export async function writeCatalogue(tx: Transaction, rows: ImportRows, now: Date): Promise<void> {
  const json = (table: keyof ImportRows) => tx.json(rows[table])
  await tx`
    insert into organizations (id, name, description, icon_url, landing_url, organization_type, premium)
    select id, name, coalesce(description, ''), coalesce("iconUrl", ''), coalesce("landingUrl", ''),
      "organizationType", coalesce(premium, false)
    from jsonb_to_recordset(${json('organizations')}) as r (id uuid, name text, description text, "iconUrl" text,
      "landingUrl" text, "organizationType" text, premium boolean)
    on conflict (id) do update set name = excluded.name, description = excluded.description,
      icon_url = excluded.icon_url, landing_url = excluded.landing_url,
      organization_type = excluded.organization_type, premium = excluded.premium`
  await tx`
    insert into chains (chain_id, name, slug, logo_url, explorer_url, native_symbol, active, watched, rpc_urls,
      confirmations, finality_depth, poll_interval_ms, reorg_recheck_seconds, entry_points, wrapped_native,
      transaction_gas_cap, l1_gas_in_limit)
    select r."chainId", r.name, r.slug, coalesce(r."logoUrl", ''), coalesce(r."explorerUrl", ''), r."nativeSymbol",
      coalesce(r.active, c.active, true), coalesce(r.watched, c.watched, false),
      coalesce(r."rpcUrls", c.rpc_urls, '{}'), coalesce(r.confirmations, c.confirmations, 1),
      coalesce(r."finalityDepth", c.finality_depth, 64), coalesce(r."pollIntervalMs", c.poll_interval_ms, 1000),
      coalesce(r."reorgRecheckSeconds", c.reorg_recheck_seconds, 2), coalesce(r."entryPoints", c.entry_points, '{}'),
      coalesce(r."wrappedNative", c.wrapped_native), coalesce(r."transactionGasCap", c.transaction_gas_cap),
      coalesce(r."l1GasInLimit", c.l1_gas_in_limit, false)
    from jsonb_to_recordset(${json('chains')}) as r ("chainId" bigint, name text, slug text, "logoUrl" text,
      "explorerUrl" text, "nativeSymbol" text, active boolean, watched boolean, "rpcUrls" text[],
      confirmations integer, "finalityDepth" integer, "pollIntervalMs" integer, "reorgRecheckSeconds" integer,
      "entryPoints" text[], "wrappedNative" text, "transactionGasCap" bigint, "l1GasInLimit" boolean)
      left join chains c on c.chain_id = r."chainId"
    on conflict (chain_id) do update set name = excluded.name, slug = excluded.slug, logo_url = excluded.logo_url,
      explorer_url = excluded.explorer_url, native_symbol = excluded.native_symbol, active = excluded.active,
      watched = excluded.watched, rpc_urls = excluded.rpc_urls, confirmations = excluded.confirmations,
      finality_depth = excluded.finality_depth, poll_interval_ms = excluded.poll_interval_ms,
      reorg_recheck_seconds = excluded.reorg_recheck_seconds, entry_points = excluded.entry_points,
      wrapped_native = excluded.wrapped_native, transaction_gas_cap = excluded.transaction_gas_cap,
      l1_gas_in_limit = excluded.l1_gas_in_limit`
  await tx`
    insert into tokens (chain_id, address, decimals, symbol, name, logo_url, active, peg_usd, approval_reset,
      unsupported_reason)
    select r."chainId", r.address, r.decimals, r.symbol, r.name, coalesce(r."logoUrl", ''),
      coalesce(r.active, t.active, true), r."pegUsd", coalesce(r."approvalReset", false),
      coalesce(r."unsupportedReason", '')
    from jsonb_to_recordset(${json('tokens')}) as r ("chainId" bigint, address text, decimals integer, symbol text,
      name text, "logoUrl" text, active boolean, "pegUsd" numeric, "approvalReset" boolean,
      "unsupportedReason" text)
      left join tokens t on t.chain_id = r."chainId" and t.address = r.address
    on conflict (chain_id, address) do update set decimals = excluded.decimals, symbol = excluded.symbol,
      name = excluded.name, logo_url = excluded.logo_url, active = excluded.active, peg_usd = excluded.peg_usd,
      approval_reset = excluded.approval_reset, unsupported_reason = excluded.unsupported_reason`
  await tx`
    insert into protocols (id, name, logo_url, site_url)
    select id, name, coalesce("logoUrl", ''), coalesce("siteUrl", '')
    from jsonb_to_recordset(${json('protocols')}) as r (id uuid, name text, "logoUrl" text, "siteUrl" text)
    on conflict (id) do update set name = excluded.name, logo_url = excluded.logo_url, site_url = excluded.site_url`
  await tx`
    insert into tags (id, code, name, description, color)
    select id, code, name, description, coalesce(color, '')
    from jsonb_to_recordset(${json('tags')}) as r (id uuid, code text, name text, description text, color text)
    on conflict (code) do update set name = excluded.name, description = excluded.description,
      color = excluded.color`
  await tx`
    insert into products (id, name, organization_id)
    select id, name, "organizationId"
    from jsonb_to_recordset(${json('products')}) as r (id uuid, name text, "organizationId" uuid)
    on conflict (id) do update set name = excluded.name, organization_id = excluded.organization_id`
  await writeOpportunities(tx, json, now)
  await writeDistributors(tx, json, now)
  // A token's decimals may be corrected after the vaults that use it were written.
  await tx`
    update vaults set asset_decimals = a.decimals, receipt_decimals = r.decimals from tokens a, tokens r
    where a.chain_id = vaults.chain_id and a.address = vaults.asset and r.chain_id = vaults.chain_id
      and r.address = vaults.receipt_token
      and (asset_decimals, receipt_decimals) is distinct from (a.decimals, r.decimals)`
}

type Json = (table: keyof ImportRows) => ReturnType<Transaction['json']>

async function writeOpportunities(tx: Transaction, json: Json, now: Date): Promise<void> {
  await tx`
    insert into vaults (chain_id, address, kind, protocol_id, asset, asset_decimals, receipt_token, receipt_decimals,
      escrow, start_block, active_from, snapshot_interval_seconds)
    select r."chainId", r.address, r.kind, r."protocolId", r.asset, r."assetDecimals", r."receiptToken",
      r."receiptDecimals", r.escrow, coalesce(r."startBlock", v.start_block, 0), coalesce(r."activeFrom", v.active_from, ${now}),
      coalesce(r."snapshotIntervalSeconds", v.snapshot_interval_seconds, 900)
    from jsonb_to_recordset(${json('vaults')}) as r ("chainId" bigint, address text, kind text, "protocolId" uuid,
      asset text, "assetDecimals" integer, "receiptToken" text, "receiptDecimals" integer, escrow text,
      "startBlock" bigint, "activeFrom" timestamptz, "snapshotIntervalSeconds" integer)
      left join vaults v on v.chain_id = r."chainId" and v.address = r.address
    on conflict (chain_id, address) do update set kind = excluded.kind, protocol_id = excluded.protocol_id,
      asset = excluded.asset, asset_decimals = excluded.asset_decimals, receipt_token = excluded.receipt_token,
      receipt_decimals = excluded.receipt_decimals, escrow = excluded.escrow, start_block = excluded.start_block,
      active_from = excluded.active_from, snapshot_interval_seconds = excluded.snapshot_interval_seconds`
  await tx`
    insert into opportunities (id, slug, name, description, type, chain_id, vault_address, curator_id,
      min_deposit_amount_usd, min_withdraw_amount, featured, active, deposit_enabled, withdraw_enabled,
      deposit_disabled_reason, withdraw_disabled_reason, direct_interaction_enabled, routed_swap_enabled,
      is_secondary_market, async_deposit, async_withdraw)
    select r.id, r.slug, r.name, r.description, r.type, r."chainId", r."vaultAddress", r."curatorId",
      coalesce(r."minDepositAmountUsd", 0), coalesce(r."minWithdrawAmount", 0), coalesce(r.featured, false),
      coalesce(r.active, o.active, true), coalesce(r."depositEnabled", o.deposit_enabled, true),
      coalesce(r."withdrawEnabled", o.withdraw_enabled, true),
      coalesce(r."depositDisabledReason", o.deposit_disabled_reason, ''),
      coalesce(r."withdrawDisabledReason", o.withdraw_disabled_reason, ''),
      coalesce(r."directInteractionEnabled", true), coalesce(r."routedSwapEnabled", false),
      coalesce(r."isSecondaryMarket", false), coalesce(r."asyncDeposit", false), coalesce(r."asyncWithdraw", false)
    from jsonb_to_recordset(${json('opportunities')}) as r (id uuid, slug text, name text, description text, type text,
      "chainId" bigint, "vaultAddress" text, "curatorId" uuid, "minDepositAmountUsd" numeric,
      "minWithdrawAmount" numeric, featured boolean, active boolean, "depositEnabled" boolean,
      "withdrawEnabled" boolean, "depositDisabledReason" text, "withdrawDisabledReason" text,
      "directInteractionEnabled" boolean, "routedSwapEnabled" boolean, "isSecondaryMarket" boolean,
      "asyncDeposit" boolean, "asyncWithdraw" boolean) left join opportunities o on o.id = r.id
    on conflict (id) do update set slug = excluded.slug, name = excluded.name, description = excluded.description,
      type = excluded.type, chain_id = excluded.chain_id, vault_address = excluded.vault_address,
      curator_id = excluded.curator_id, min_deposit_amount_usd = excluded.min_deposit_amount_usd,
      min_withdraw_amount = excluded.min_withdraw_amount, featured = excluded.featured, active = excluded.active,
      deposit_enabled = excluded.deposit_enabled, withdraw_enabled = excluded.withdraw_enabled,
      deposit_disabled_reason = excluded.deposit_disabled_reason,
      withdraw_disabled_reason = excluded.withdraw_disabled_reason,
      direct_interaction_enabled = excluded.direct_interaction_enabled,
      routed_swap_enabled = excluded.routed_swap_enabled, is_secondary_market = excluded.is_secondary_market,
      async_deposit = excluded.async_deposit, async_withdraw = excluded.async_withdraw`
  const named = tx`(select id from jsonb_to_recordset(${json('opportunities')}) as r (id uuid))`
  await tx`delete from opportunity_tokens where opportunity_id in ${named}`
  await tx`
    insert into opportunity_tokens (opportunity_id, chain_id, address, position)
    select * from jsonb_to_recordset(${json('opportunityTokens')})
      as r ("opportunityId" uuid, "chainId" bigint, address text, position integer)`
  await tx`delete from opportunity_organizations where opportunity_id in ${named}`
  await tx`
    insert into opportunity_organizations (opportunity_id, organization_id, role)
    select * from jsonb_to_recordset(${json('opportunityOrganizations')})
      as r ("opportunityId" uuid, "organizationId" uuid, role text)`
  await tx`delete from opportunity_tags where opportunity_id in ${named}`
  await tx`
    insert into opportunity_tags (opportunity_id, tag_id)
    select * from jsonb_to_recordset(${json('opportunityTags')}) as r ("opportunityId" uuid, "tagId" uuid)`
  await tx`delete from opportunity_products where opportunity_id in ${named}`
  await tx`
    insert into opportunity_products (opportunity_id, product_id)
    select * from jsonb_to_recordset(${json('opportunityProducts')}) as r ("opportunityId" uuid, "productId" uuid)`
  await tx`delete from incentives where opportunity_id in ${named}`
  await tx`
    insert into incentives (id, opportunity_id, name, description, icon_url, reward_type, reward_type_name, apr,
      min_apr, max_apr, est_price_usd, fdv_estimate, token_supply_allocation, indexed, active, position)
    select id, "opportunityId", name, description, coalesce("iconUrl", ''), "rewardType", "rewardTypeName", apr,
      "minApr", "maxApr", "estPriceUsd", "fdvEstimate", "tokenSupplyAllocation", coalesce(indexed, false),
      coalesce(active, true), position
    from jsonb_to_recordset(${json('incentives')}) as r (id uuid, "opportunityId" uuid, name text, description text,
      "iconUrl" text, "rewardType" text, "rewardTypeName" text, apr numeric, "minApr" numeric, "maxApr" numeric,
      "estPriceUsd" numeric, "fdvEstimate" numeric, "tokenSupplyAllocation" numeric, indexed boolean, active boolean,
      position integer)`
}

async function writeDistributors(tx: Transaction, json: Json, now: Date): Promise<void> {
  await tx`
    insert into distributors (id, organization_id, name, active_from)
    select r.id, r."organizationId", r.name, coalesce(r."activeFrom", d.active_from, ${now})
    from jsonb_to_recordset(${json('distributors')}) as r (id text, "organizationId" uuid, name text,
      "activeFrom" timestamptz) left join distributors d on d.id = r.id
    on conflict (id) do update set name = excluded.name, active_from = excluded.active_from`
  // A setting is dated: the first one from the distributor's start, a change from now.
  await tx`
    insert into distributor_settings (distributor_id, signed_only, active_from)
    select r.id, r."signedOnly", case when s.signed_only is null then d.active_from else ${now} end
    from jsonb_to_recordset(${json('distributors')}) as r (id text, "signedOnly" boolean)
      join distributors d on d.id = r.id
      left join lateral (select signed_only from distributor_settings where distributor_id = r.id
        order by active_from desc limit 1) s on true
    where r."signedOnly" is not null and r."signedOnly" is distinct from s.signed_only
    on conflict (distributor_id, active_from) do update set signed_only = excluded.signed_only`
  const named = tx`(select id from jsonb_to_recordset(${json('distributors')}) as r (id text))`
  await tx`delete from distributor_opportunities where distributor_id in ${named}`
  await tx`
    insert into distributor_opportunities (distributor_id, opportunity_id)
    select * from jsonb_to_recordset(${json('distributorOpportunities')})
      as r ("distributorId" text, "opportunityId" uuid)`
  await tx`delete from distributor_products where distributor_id in ${named}`
  await tx`
    insert into distributor_products (distributor_id, product_id)
    select * from jsonb_to_recordset(${json('distributorProducts')}) as r ("distributorId" text, "productId" uuid)`
}
