import { erc20Abi, getAddress } from 'viem'
import type { Chain } from '../../rpc/chains.js'
import { readContract } from '../../rpc/multicall.js'
import type { Header } from '../../rpc/raw.js'
import type { Offer, PlannedKind } from '../../vaults/index.js'
import type { DistributorRecord, TokenRecord } from '../catalogue/index.js'
import { buildApprovals, type Draft, type Step, type Target } from '../plans/index.js'
import { draftOf, spenderOf } from './draft.js'
import type { DepositInput } from './schema.js'

/** A deposit as it was asked for. `amount` is of the token the wallet gives. */
export type Deposit = {
  target: Target & { distributor: DistributorRecord }
  input: DepositInput
  kind: PlannedKind
  amount: bigint
}

/** What enters the vault, and how the wallet comes by it: it has it, wraps it, or swaps another token for it. */
export type Entering = {
  token: TokenRecord
  amount: bigint
  amountUsd: string | undefined
  /** What leaves the wallet, where it is wrapped first. */
  given?: TokenRecord
  /** The transactions before the vault may take it. */
  before: readonly Step[]
  /** The plan swaps before the vault's call. */
  swaps?: boolean
  createdAt?: Date
  probe: Draft['probe']
}

/** What a vault says of a deposit of an amount, and how much of the token it may take already. */
export function readDeposit(
  { target: { vault, wallet }, input, kind }: Deposit,
  { token, amount }: Pick<Entering, 'token' | 'amount'>,
) {
  const tokenIn = getAddress(token.address)
  return {
    offer: kind.plans.deposit({ vault, wallet, tokenIn, amount, slippageBps: input.slippageBps ?? 50 }),
    allowance: readContract(tokenIn, erc20Abi, 'allowance', [wallet, kind.plans.spender(vault)]),
  }
}

/** The draft of a deposit: what comes before, the approval of exactly what enters, and the vault's call. */
export function draftDeposit(
  { target, input, kind }: Deposit,
  { before, ...entering }: Entering,
  at: { chain: Chain; block: Header | undefined; offer: Offer; allowance: bigint | undefined },
): Draft {
  const { chain, block, offer, allowance = 0n } = at
  const { token, amount } = entering
  const { opportunity, vault } = target
  const spender = kind.plans.spender(vault)
  const spenderParty = spenderOf(target, spender, offer.call)
  const tokenAddress = getAddress(token.address)
  const approvals = buildApprovals({ token, tokenAddress, spender, spenderParty, amount, allowance })
  return draftOf(offer.call, {
    ...entering,
    type: 'deposit',
    target,
    chain,
    kind,
    block,
    out: opportunity.receiptToken,
    before: [...before, ...approvals],
    referralCode: input.referralCode,
    validSeconds: input.deadlineSeconds,
    offered: { offer, capability: opportunity.capabilities.deposit, closed: 'DEPOSIT_DISABLED' },
  })
}
