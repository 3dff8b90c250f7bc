import { notFound, permissionDenied } from '../../kernel/errors.js'
import type { Caller } from '../../kernel/operation.js'
import { type CatalogueSnapshot, type DistributorRecord, findDistributor } from '../catalogue/index.js'

/** The distributor, if the caller's key may act for it. */
export function getOwnDistributor(snapshot: CatalogueSnapshot, id: string, caller: Caller): DistributorRecord {
  const distributor = findDistributor(snapshot, id)
  if (!distributor) throw notFound('no such distributor')
  if (distributor.organizationId !== caller.organizationId)
    throw permissionDenied('this distributor belongs to another organization')
  if (caller.distributorId !== null && caller.distributorId !== distributor.id)
    throw permissionDenied('this API key acts for another distributor')
  return distributor
}
