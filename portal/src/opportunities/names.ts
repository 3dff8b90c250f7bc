import { useOpportunities } from '@openearn/react'
import type { types } from '@openearn/sdk'

const keyOf = (chainId: number | string, address: string): string => `${chainId} ${address.toLowerCase()}`

/** Names of the vaults that the first page of the list has: elsewhere the API tells an id or a share token alone. */
export function useVaultNames(): {
  byId: ReadonlyMap<string, string>
  byShare(chainId: number | string, address: string): Pick<types.Opportunity, 'id' | 'name'> | undefined
} {
  const { data } = useOpportunities({ limit: 100 })
  const items = data?.items ?? []
  const shares = new Map(items.map((vault) => [keyOf(vault.chainId, vault.receiptToken.address), vault]))
  return {
    byId: new Map(items.map(({ id, name }) => [id, name])),
    byShare: (chainId, address) => shares.get(keyOf(chainId, address)),
  }
}
