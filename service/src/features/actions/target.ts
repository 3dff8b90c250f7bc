import { type Address, getAddress } from 'viem'
import { invalidArgument, notFound, type Reason, unavailable } from '../../kernel/errors.js'
import type { Caller } from '../../kernel/operation.js'
import type { Chain } from '../../rpc/chains.js'
import { findVaultKind, type PlannedKind, throughRouter, toVault, type VaultKind } from '../../vaults/index.js'
import {
  type CatalogueSnapshot,
  type DistributorRecord,
  findOpportunity,
  type OpportunityRecord,
} from '../catalogue/index.js'
import { isMember } from '../membership/index.js'
import { type ActionContext, getOwnDistributor, refuse, type Target } from '../plans/index.js'

/** Finds opportunity, distributor and member, in that order; whatever is missing is 404, another's distributor 403. */
export async function findTarget<D extends string | undefined>(
  ctx: ActionContext,
  input: { opportunityId: string; distributorId: D; userAddress: string },
  caller: Caller,
): Promise<Target & { distributor: D extends string ? DistributorRecord : DistributorRecord | undefined }> {
  const snapshot = ctx.catalogue.current()
  const opportunity = getOpportunity(snapshot, input.opportunityId)
  const distributor =
    input.distributorId === undefined ? undefined : getOwnDistributor(snapshot, input.distributorId, caller)
  const wallet = getAddress(input.userAddress.toLowerCase())
  await assertMember(ctx, wallet)
  const { organizationId } = caller
  const target = { snapshot, opportunity, distributor, wallet, vault: toVault(opportunity.vault), organizationId }
  return target as Target & { distributor: D extends string ? DistributorRecord : DistributorRecord | undefined }
}

export function getOpportunity(snapshot: CatalogueSnapshot, id: string): OpportunityRecord {
  const opportunity = findOpportunity(snapshot, id)
  if (!opportunity) throw notFound('no such opportunity')
  return opportunity
}

export async function assertMember(ctx: ActionContext, wallet: Address): Promise<void> {
  if (!(await isMember(ctx.db, 'evm', wallet.toLowerCase()))) throw notFound('membership not found')
}

/** The chain of an opportunity, if this installation can read it. */
export function getChain(ctx: ActionContext, opportunity: OpportunityRecord): Chain {
  const chain = ctx.chains.get(opportunity.chainId)
  if (!chain) throw unavailable('this installation has no access to the chain of the opportunity')
  return chain
}

/** The kind of an opportunity's vault; refused with a reason where vaults of the kind are only listed and watched. */
export function getKind(opportunity: OpportunityRecord, unplanned: Reason): PlannedKind {
  const kind = findVaultKind(opportunity.vault.kind)
  if (!kind) throw unavailable(`this installation does not know vaults of the kind ${opportunity.vault.kind}`)
  if (!isPlanned(kind))
    throw refuse(unplanned, 'this vault is listed and watched only: this service builds nothing for it')
  return kind
}

/** The kind as a deposit uses it: with `protect` through the chain's router, where the kind has a use for it. */
export function getDepositKind({ opportunity, snapshot }: Target, protect: boolean): PlannedKind {
  const kind = getKind(opportunity, 'DEPOSIT_DISABLED')
  if (!protect) return kind
  if (!kind.routed)
    throw invalidArgument('protect: only deposits into vaults of the kind erc4626 go through the deposit router', {
      context: { kind: kind.name },
    })
  const router = snapshot.chains.get(opportunity.chainId)?.depositRouter
  if (!router) throw invalidArgument('protect: no deposit router is configured for this chain')
  return throughRouter(kind, getAddress(router))
}

function isPlanned(kind: VaultKind): kind is PlannedKind {
  return kind.plans !== undefined
}
