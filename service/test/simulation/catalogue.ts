import { signerAddress } from '@openearn/attribution'
import { recordSigner } from '../../src/features/catalogue/storeSigners.js'
import { fillLatePrices } from '../../src/features/ledger/index.js'
import { newId } from '../../src/kernel/ids.js'
import type { Database } from '../../src/postgres/pool.js'
import { signerKey } from './calldata.js'
import { allVaults, asyncVault, codes, floorsOf, lateVault, start, token, tokenDecimals } from './model.js'
import type { ModelChain } from './modelChain.js'
import type { Random } from './random.js'
import type { Rules } from './recountCredits.js'

const epoch = new Date(0)

/** What chains of one installation share. */
export type Shared = Pick<Rules, 'distributors' | 'signedOnly'> & { organizationId: string; productId: string }

/** Begins with two distributors of three, and one signing key; a product holds the vaults of all chains. */
export async function prepareShared(db: Database, organizationId: string): Promise<Shared> {
  await db`delete from distributor_settings`
  await db`delete from distributors`
  const known = codes.slice(0, 2)
  await db`
    insert into distributors (id, organization_id, active_from)
    select id, ${organizationId}, ${epoch} from unnest(${known}::text[]) id`
  await recordSigner(db, signerAddress(Buffer.from(signerKey.slice(2), 'hex')), epoch)
  const productId = newId()
  await db`insert into products (id, name) values (${productId}, 'P')`
  return { distributors: known.map((id) => ({ id, from: 0 })), signedOnly: [], organizationId, productId }
}

/** The vaults of a chain but the one that comes later, each with an opportunity. */
export async function prepareChain(
  db: Database,
  shared: Shared,
  { chainId, base, confirmations }: { chainId: number; base: number; confirmations: number },
): Promise<Rules> {
  await db`
    insert into chains (chain_id, name, slug, confirmations)
    values (${chainId}, ${`c${chainId}`}, ${`c${chainId}`}, ${confirmations})`
  const vaults = allVaults.filter((vault) => vault !== lateVault)
  await addVaults(db, shared, chainId, vaults, { activeFrom: epoch, startBlock: base + 1 })
  await bump(db)
  const { distributors, signedOnly } = shared
  return { chainId, distributors, signedOnly, vaults: vaults.map((address) => ({ address, from: 0 })), prices: [] }
}

async function addVaults(
  db: Database,
  { productId }: Shared,
  chainId: number,
  vaults: readonly string[],
  { activeFrom, startBlock }: { activeFrom: Date; startBlock: number },
): Promise<void> {
  const kinds = vaults.map((vault) => (vault === asyncVault ? 'erc7540' : 'erc4626'))
  const ids = vaults.map(() => newId())
  const floors = vaults.map((vault) =>
    JSON.stringify(
      floorsOf(vault).map(({ from, shares }) => ({
        shares: String(shares),
        ...(from > 0 ? { activeFrom: new Date(from * 1000).toISOString() } : {}),
      })),
    ),
  )
  await db`
    with vault as (select * from unnest(${[...vaults]}::text[], ${kinds}::text[], ${floors}::text[]) as t (address, kind, floors)),
    added as (
      insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals, active_from, start_block, lp_floor)
      select ${chainId}, address, kind, ${token}, ${tokenDecimals}, address, 6, ${activeFrom}, ${startBlock}, floors::jsonb from vault
      returning address)
    insert into opportunities (id, slug, name, type, chain_id, vault_address)
    select t.id, ${`c${chainId}-`} || address, address, 'vault', ${chainId}, address
    from unnest(${[...vaults]}::text[], ${ids}::uuid[]) as t (address, id) where (select count(*) from added) > 0`
  await db`
    insert into opportunity_products (opportunity_id, product_id)
    select id, ${productId} from unnest(${ids}::uuid[]) id`
}

const bump = (db: Database) => db`update catalogue_versions set version = version + 1`

/**
 * A distributor registered now or earlier, a switch to signed only, a vault that comes later. The answer says whose rows
 * it may change: of every chain, or of this one.
 */
export async function changeCatalogue(
  db: Database,
  random: Random,
  shared: Shared,
  { rules, world }: { rules: Rules; world: ModelChain },
): Promise<'every' | 'own' | 'none'> {
  const top = world.blocks.at(-1)?.timestamp ?? start
  const from = random.chance(0.4) ? top + random.int(1, 60) : random.int(start, top)
  const at = new Date(from * 1000)
  const kind = random.int(0, 2)
  const newcomer = codes.find((id) => !rules.distributors.some((known) => known.id === id))
  let concerned: 'every' | 'own' | 'none' = 'none'
  if (kind === 0 && newcomer) {
    await db`
      insert into distributors (id, organization_id, active_from) values (${newcomer}, ${shared.organizationId}, ${at})`
    rules.distributors.push({ id: newcomer, from })
    concerned = 'every'
  } else if (kind === 1 && !rules.vaults.some(({ address }) => address === lateVault)) {
    const startBlock = (world.blocks[0]?.number ?? 0) + 3
    await addVaults(db, shared, rules.chainId, [lateVault], { activeFrom: at, startBlock })
    rules.vaults.push({ address: lateVault, from })
    concerned = 'own'
  } else if (kind === 2) {
    const id = random.pick(rules.distributors).id
    if (rules.signedOnly.some((setting) => setting.id === id && setting.from === from)) return 'none'
    const value = random.chance(0.7)
    await db`insert into distributor_settings (distributor_id, signed_only, active_from) values (${id}, ${value}, ${at})`
    rules.signedOnly.push({ id, from, value })
    concerned = 'every'
  }
  await bump(db)
  return concerned
}

/**
 * Observes a price: the first one at any time, so that entries may already wait for it, later ones after every block
 * there was, so that none that is chosen could have been another.
 */
export async function observePrice(
  db: Database,
  random: Random,
  { rules, world }: { rules: Rules; world: ModelChain },
): Promise<void> {
  const latest = Math.max(world.latest(), rules.prices.at(-1)?.from ?? 0)
  const isFirst = rules.prices.length === 0
  const from = isFirst ? random.int(start - 10, latest) : latest + random.int(1, 60)
  const micros = BigInt(random.int(1, 3_000_000))
  await db`
    insert into price_observations (chain_id, address, price_usd, source, observed_at)
    values (${rules.chainId}, ${token}, ${micros.toString()}::numeric / 1000000, 'simulated', ${new Date(from * 1000)})`
  rules.prices.push({ from, micros })
  await fillLatePrices(db, rules.chainId)
}
