import { keccak256 } from 'viem'
import { formatTs } from '../../kernel/clock.js'
import { unavailable } from '../../kernel/errors.js'
import { newId } from '../../kernel/ids.js'
import { written } from '../../kernel/operation.js'
import type { Written } from '../../postgres/context.js'
import type { Chain } from '../../rpc/chains.js'
import type { Header } from '../../rpc/raw.js'
import type { KnownError } from '../../rpc/revert.js'
import type { Probe } from '../../rpc/simulateBlock.js'
import { findCursor } from '../../sync/storeCursors.js'
import type { DistributorRecord, TokenRecord } from '../catalogue/index.js'
import { findGasLimits } from './gasLimits.js'
import { appendSuffix, type Step, toBatch, toPrepared } from './plan.js'
import type { Interaction } from './schema.js'
import { signAttribution } from './signAttribution.js'
import { type PlanSimulation, simulatePlan, unsimulated } from './simulation.js'
import { type ActionKind, type ActionRow, recordAction } from './store.js'
import type { ActionContext, Target } from './target.js'

/** How many seconds a plan may be signed where its caller does not say. */
export const validSecondsDefault = 600

/** Until when a plan may be signed: a call that names a deadline names this one. */
export function getValidUntil(createdAt: Date, validSeconds = validSecondsDefault): Date {
  return new Date(createdAt.getTime() + validSeconds * 1_000)
}

/**
 * The deadline that a router or a permit of a plan is given, in unix seconds. The chain compares it with its own time, which
 * may be ahead of the wall clock (a devnet whose time was moved) or behind it: so it counts from the later of the two, and
 * is never before the plan's `validUntil`.
 */
export function getDeadline(
  createdAt: Date,
  head: Pick<Header, 'timestamp'>,
  validSeconds = validSecondsDefault,
): bigint {
  const now = Math.floor(createdAt.getTime() / 1_000)
  return BigInt(Math.max(now, head.timestamp) + validSeconds)
}

/** Whom a plan is for, and what it is about where that is an opportunity. */
export type PlanTarget = Pick<Target, 'wallet' | 'organizationId'> & {
  opportunity: Target['opportunity'] | undefined
  distributor: DistributorRecord | undefined
}

/** A plan that passed every check and still needs its suffix, its simulation and its record. */
export type Draft = {
  kind: ActionKind
  chain: Chain
  /** In signing order. */
  steps: readonly Step[]
  /** The one the action is about: its call is recorded. */
  main: Step
  /** The token that the wallet pays, as recorded. */
  tokenIn: TokenRecord
  amount: bigint
  amountUsd: string | undefined
  referralCode: string
  /** Tokens whose change is shown; what the wallet gets stands last. */
  tokens: readonly TokenRecord[]
  probe: Probe | undefined
  /** The block to simulate at; undefined when no simulation was asked for. */
  block: Header | undefined
  errors: readonly KnownError[]
  /** When it was made, where its calls name a deadline that follows from it. */
  createdAt?: Date
  /** How long it may be signed, in seconds; absent: `validSecondsDefault`. */
  validSeconds?: number | undefined
  /** Refuses what must not be built where nothing was simulated. */
  assertUnsimulated(): void
  /** Refuses a simulated outcome that is not what was asked for. */
  assertOutcome(changeOf: PlanSimulation['changeOf']): void
}

/** Signs the suffix, simulates the final calldata, and returns the plan, which is recorded as an action. */
export async function finishAction(
  ctx: ActionContext,
  target: PlanTarget,
  draft: Draft,
): Promise<Written<Interaction>> {
  const { wallet, distributor, opportunity } = target
  const { chainId } = draft.chain
  const actionId = newId()
  if (!ctx.attributionSigner)
    throw unavailable('this installation has no attribution key, so it cannot build transactions')
  const { main } = draft
  const steps = await Promise.all(
    draft.steps.map((step) =>
      distributor === undefined || step.suffix === undefined
        ? step
        : appendSuffix(
            step,
            { distributorId: distributor.id, actionId, chainId, wallet, referralCode: draft.referralCode },
            (digest) => signAttribution(ctx, distributor, digest),
          ),
    ),
  )
  const simulation = draft.block
    ? await simulatePlan(draft.chain, { ...draft, wallet, steps, block: draft.block })
    : unsimulated
  if (simulation.body.status === 'ok') draft.assertOutcome(simulation.changeOf)
  else draft.assertUnsimulated()
  const gasLimits = await findGasLimits(draft.chain, wallet, steps, simulation.gasUsed)

  const createdAt = draft.createdAt ?? ctx.clock.now()
  const validUntil = getValidUntil(createdAt, draft.validSeconds)
  const action: ActionRow = {
    id: actionId,
    kind: draft.kind,
    organizationId: target.organizationId,
    distributorId: distributor?.id ?? null,
    opportunityId: opportunity?.id ?? null,
    chainId,
    wallet: wallet.toLowerCase(),
    tokenIn: draft.tokenIn.address,
    tokenInDecimals: draft.tokenIn.decimals,
    amount: String(draft.amount),
    amountUsd: draft.amountUsd ?? null,
    referralCode: draft.referralCode,
    target: main.call.to.toLowerCase(),
    callHash: keccak256(main.call.data),
    createdAt,
    validUntil,
    tokenOut: draft.tokens.at(-1)?.address ?? null,
    planBlock: draft.block?.number ?? (await findCursor(ctx.db, chainId))?.headNumber ?? null,
    lookedTo: null,
    lookedAt: null,
  }
  const plan: Interaction = {
    actionId,
    transactions: toPrepared(steps, chainId, gasLimits),
    simulation: simulation.body,
    batch: toBatch(steps, chainId, wallet),
    validUntil: formatTs(validUntil),
  }
  return written(plan, (tx) => recordAction(tx, action))
}
