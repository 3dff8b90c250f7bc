import type { Queryable } from '../../../postgres/pool.js'
import { listTokenDecimals } from '../../../prices/index.js'
import type { Entry } from './compareEntries.js'

/** All entries of the catalogue, as they are stored: those of this room, and the decimals of tokens. */
export async function readEntries(db: Queryable): Promise<Entry[]> {
  const opportunities = await db<Entry[]>`
    select 'opportunity' as kind, o.id::text as id, o.name, to_jsonb(o) - 'id' - 'created_at' || jsonb_build_object(
      'tokens', (select coalesce(jsonb_agg(t.chain_id || ':' || t.address order by t.position), '[]')
        from opportunity_tokens t where t.opportunity_id = o.id),
      'organizations', (select coalesce(jsonb_agg(p.role || ' ' || p.organization_id order by p.role, p.organization_id), '[]')
        from opportunity_organizations p where p.opportunity_id = o.id),
      'tags', (select coalesce(jsonb_agg(g.tag_id order by g.tag_id), '[]')
        from opportunity_tags g where g.opportunity_id = o.id),
      'products', (select coalesce(jsonb_agg(p.product_id order by p.product_id), '[]')
        from opportunity_products p where p.opportunity_id = o.id),
      'incentives', (select coalesce(jsonb_agg(to_jsonb(i) - 'id' - 'opportunity_id' order by i.position, i.id), '[]')
        from incentives i where i.opportunity_id = o.id)) as members
    from opportunities o order by o.id`
  const others = await db<Entry[]>`
    select 'organization' as kind, id::text as id, name, to_jsonb(o) - 'id' - 'created_at' as members from organizations o
    union all select 'product', id::text, name, to_jsonb(p) - 'id' - 'created_at' from products p
    union all select 'tag', id::text, name, to_jsonb(t) - 'id' from tags t
    union all select 'distributor', d.id, d.name, to_jsonb(d) - 'id' - 'created_at' || jsonb_build_object(
      'opportunities', (select coalesce(jsonb_agg(o.opportunity_id order by o.opportunity_id), '[]')
        from distributor_opportunities o where o.distributor_id = d.id),
      'products', (select coalesce(jsonb_agg(p.product_id order by p.product_id), '[]')
        from distributor_products p where p.distributor_id = d.id))
    from distributors d order by 1, 2`
  const tokens = await listTokenDecimals(db)
  const told = tokens.map(({ chainId, address, decimals }): Entry => {
    const id = `${chainId}:${address}`
    return { kind: 'token', id, name: id, members: { decimals } }
  })
  return [...opportunities, ...others, ...told]
}
