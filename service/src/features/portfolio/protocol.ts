import type { CatalogueSnapshot, VaultRecord } from '../catalogue/index.js'
import type { Item } from './adapter.js'

/** Stands for the protocol of vaults that belong to none. */
const plainVaults: Item['protocol'] = { id: 'vaults', name: 'Vaults', siteUrl: '', logoUrl: '' }

/** A name as part of a url: `Aave V3` is `aave-v3`. */
export function toSlug(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
}

/** The protocol of a vault. */
export function toProtocol({ protocols }: CatalogueSnapshot, { protocolId }: VaultRecord): Item['protocol'] {
  const protocol = protocolId === null ? undefined : protocols.get(protocolId)
  if (!protocol) return plainVaults
  const { id, name, siteUrl, logoUrl } = protocol
  return { id: toSlug(name) || id, name, siteUrl, logoUrl }
}
