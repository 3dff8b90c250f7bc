import type { DeriveConfig } from '../../derive/index.js'

/**
 * The vaults whose rows a projection that follows positions takes back where only some sources are; undefined: of all.
 * Those are positions' sources, so its configuration names them.
 */
export function listTakenBack({
  only,
  beside,
}: {
  only?: unknown
  beside?: ReadonlyMap<string, unknown>
}): number[] | undefined {
  if (only === undefined) return undefined
  const positions = beside?.get('positions') as { config: Pick<DeriveConfig, 'vaults'> } | undefined
  return (positions?.config.vaults ?? []).map(({ id }) => id)
}
