import { type Address, concat, getAddress, type Hex, isAddress, isAddressEqual, isHex, slice } from 'viem'
import { recoverSigner } from '../attribution/signer.js'
import { decode, encode, type OwnSuffix, readOwnMetadata } from '../attribution/suffix.js'
import { approve, type ExpectedCalls, expectedCalls, findContract, wrap } from './expected.js'
import { isAmount, isPlanned, isRecord, listOf } from './shape.js'
import type { ParsedTransaction, PlanContext, PlannedTransaction, PlanRequest, Verdict } from './types.js'

const native = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'

/**
 * Decides, from what is public and without any network, whether the transactions of a plan do exactly what was asked:
 * the right chain, targets, functions, receiver, spender and amounts, in order, nothing beside them, and a suffix that
 * carries the distributor asked for and is signed by a published signer for this very call. Answers a verdict; does not
 * throw for "no".
 */
export async function verifyPlan(
  request: PlanRequest,
  transactions: readonly PlannedTransaction[],
  context: PlanContext,
): Promise<Verdict> {
  const problems: string[] = []
  const parsed = listOf(transactions).map((transaction, at) => parse(transaction, at, context, problems))
  const steps = parsed.filter((step) => step !== undefined)
  const kind = Object.hasOwn(expectedCalls, context.vault.kind) ? expectedCalls[context.vault.kind] : undefined
  if (!kind) problems.push(`vaults of the kind ${context.vault.kind} cannot be verified`)
  for (const text of listAddresses(request, context))
    if (typeof text !== 'string' || !isAddress(text.toLowerCase())) problems.push(`${String(text)} is no address`)
  for (const [name, value] of listAmounts(request, context)) if (!isAmount(value)) problems.push(`${name} is no amount`)
  const last = steps.at(-1)
  if (!last) problems.push('the plan has no transaction')
  if (problems.length > 0 || !kind || !last) return { ok: false, problems }

  checkSteps(request, steps.slice(0, -1), { ...context, kind }, problems)
  await checkMain(request, last, { ...context, kind }, problems)
  return { ok: problems.length === 0, problems }
}

/** Every amount that is compared, by its name; what was left out is none. */
function listAmounts(request: PlanRequest, context: PlanContext): [string, unknown][] {
  const { allowance, minimumOut, requestAmount } = context
  const own: [string, unknown][] =
    request.type === 'deposit' || request.type === 'withdraw'
      ? [['amount', request.amount]]
      : [['requestId', request.requestId ?? undefined]]
  const optional: [string, unknown][] = Object.entries({ allowance, minimumOut, requestAmount })
  return [...own, ...optional].filter(([name, value]) => name === 'amount' || value !== undefined)
}

/** The addresses of the signers, whether they are given as the service publishes them or by their address alone. */
function listSigners({ signers }: PlanContext): unknown[] {
  return listOf(signers).map((signer) => (isRecord(signer) ? signer['address'] : signer))
}

/** Every address that is compared; the native token by its word is none. */
function listAddresses(request: PlanRequest, context: PlanContext): unknown[] {
  const token =
    request.type === 'deposit' ? request.tokenIn : request.type === 'withdraw' ? request.tokenOut : undefined
  const { vault, wrappedNative } = context
  const others = [token === 'native' ? undefined : token, wrappedNative].filter((text) => text !== undefined)
  const beside = isRecord(vault.contracts) ? Object.values(vault.contracts) : []
  return [request.userAddress, vault.address, vault.asset, ...beside, ...listSigners(context), ...others]
}

function parse(planned: unknown, at: number, context: PlanContext, problems: string[]): ParsedTransaction | undefined {
  const complain = (what: string) => {
    problems.push(`transaction ${at + 1}: ${what}`)
  }
  if (!isPlanned(planned)) {
    complain('has not the shape of one')
    return undefined
  }
  const { to, data, value, chainId, gasLimit, ...others } = planned.transaction
  // Whatever else stands there (a fee, a nonce, an authorization) a wallet might pass on.
  for (const name of Object.keys(others)) complain(`says more than a plan does: ${name}`)
  if (gasLimit !== undefined && !isRaw(gasLimit)) complain('has a gas limit that is no amount')
  if (chainId !== context.chainId) complain(`is for chain ${chainId}, not ${context.chainId}`)
  if (!isAddress(to, { strict: false })) complain('calls no address')
  else if (!isHex(data) || data.length % 2 === 1) complain('has data that is no hex')
  else if (!isRaw(value)) complain('has a value that is no amount')
  else return { type: planned.type, to: toAddress(to), data: data.toLowerCase() as Hex, value: BigInt(value), chainId }
  return undefined
}

function isRaw(text: string): boolean {
  return /^[0-9]{1,78}$/.test(text)
}

function isNativeToken(text: string): boolean {
  return text === 'native' || text.toLowerCase() === native
}

/** An address in any case of letters, its prefix included. */
function toAddress(text: string): Address {
  return getAddress(text.toLowerCase())
}

type KnownContext = PlanContext & { kind: ExpectedCalls }

type Step = { type: string; to: Address; data: Hex; value: bigint }

/** What comes before the main call: wrapping the native token, and approvals of exactly the amount. */
function checkSteps(
  request: PlanRequest,
  steps: readonly ParsedTransaction[],
  context: KnownContext,
  problems: string[],
): void {
  const allowed = request.type === 'deposit' ? listPreparations(request, context, problems) : [[]]
  if (!allowed.some((expected) => isSame(steps, expected)))
    problems.push('what comes before the last transaction is not what this needs, and nothing else')
}

function isSame(steps: readonly ParsedTransaction[], expected: readonly Step[]): boolean {
  return (
    steps.length === expected.length &&
    expected.every((wanted, i) => {
      const step = steps[i]
      if (!step || step.type !== wanted.type || step.value !== wanted.value) return false
      return isAddressEqual(step.to, wanted.to) && step.data === wanted.data
    })
  )
}

/** Every sequence of preparations that fits: which of them depends on the allowance, where that is not known. */
function listPreparations(
  request: Extract<PlanRequest, { type: 'deposit' }>,
  context: KnownContext,
  problems: string[],
): Step[][] {
  const amount = BigInt(request.amount)
  const { asset } = context.vault
  const spender = findContract(context.kind, 'spender', context.vault)
  if (spender === undefined) {
    problems.push('the contract that takes the tokens is not known')
    return []
  }
  const isNative = isNativeToken(request.tokenIn)
  const token = isNative ? context.wrappedNative : request.tokenIn
  if (token === undefined || (!context.kind.severalTokens && !isAddressEqual(toAddress(token), toAddress(asset)))) {
    problems.push('the token given is not the one the vault takes')
    return []
  }
  const wraps: Step[] = isNative ? [{ type: 'swap', to: toAddress(token), data: wrap(), value: amount }] : []
  const step = (value: bigint): Step => ({
    type: 'approve',
    to: toAddress(token),
    data: approve(toAddress(spender), value),
    value: 0n,
  })
  const once = [...wraps, step(amount)]
  const reset = [...wraps, step(0n), step(amount)]
  const { approvalReset } = context
  const resets = approvalReset === undefined ? [once, reset] : [approvalReset ? reset : once]
  if (context.allowance === undefined) return [wraps, once, ...(approvalReset === false ? [] : [reset])]
  const allowance = BigInt(context.allowance)
  if (allowance >= amount) return [wraps]
  return allowance === 0n ? [once] : resets
}

/** The call that moves the money, with its suffix. */
async function checkMain(
  request: PlanRequest,
  step: ParsedTransaction,
  context: KnownContext,
  problems: string[],
): Promise<void> {
  if (step.type !== request.type) problems.push(`the last transaction is called ${step.type}, not ${request.type}`)
  const target = findContract(context.kind, request.type, context.vault)
  if (target === undefined || !isAddressEqual(step.to, toAddress(target)))
    problems.push('the last transaction calls another contract')
  if (step.value !== 0n) problems.push('the last transaction sends native value')
  const { call, own } = splitSuffix(step.data, problems)
  if (!isExpectedCall(request, call, context))
    problems.push('the last transaction calls something else than was asked for')
  if (problems.length > 0) return
  const wanted = request.distributorId ?? context.distributorId
  if (own && wanted === null) problems.push('the last transaction carries a suffix nobody asked for')
  else if (own) await checkSuffix(request, step, call, own, context, problems)
  else if (typeof wanted === 'string') problems.push('the last transaction carries no suffix')
}

/** The call and the one suffix after it, byte for byte as the service writes it. */
function splitSuffix(data: Hex, problems: string[]): { call: Hex; own: OwnSuffix | undefined } {
  const suffixes = decode(data)
  const [suffix] = suffixes
  if (!suffix) return { call: data, own: undefined }
  const own = readOwnMetadata(suffix)
  const call = slice(data, 0, suffix.start)
  if (suffixes.length === 1 && own && concat([call, encode(own)]) === data) return { call, own }
  problems.push('the suffix is not of the form the service writes')
  return { call, own: undefined }
}

function isExpectedCall(request: PlanRequest, call: Hex, context: KnownContext): boolean {
  const user = toAddress(request.userAddress)
  const { kind } = context
  const least = BigInt(context.minimumOut ?? 1n)
  const minimumOut = least > 0n ? least : 1n
  if (request.type === 'deposit') {
    const { tokenIn } = request
    const token = toAddress(isNativeToken(tokenIn) ? (context.wrappedNative ?? context.vault.asset) : tokenIn)
    return kind.isDeposit(call, { amount: BigInt(request.amount), user, token, minimumOut })
  }
  if (request.type === 'withdraw') {
    const token = toAddress(request.tokenOut ?? context.vault.asset)
    if (!kind.severalTokens && !isAddressEqual(token, toAddress(context.vault.asset))) return false
    return kind.isWithdraw(call, { shares: BigInt(request.amount), user, token, minimumOut })
  }
  const requestId = request.requestId === undefined ? undefined : BigInt(request.requestId)
  const amount = context.requestAmount === undefined ? undefined : BigInt(context.requestAmount)
  const is = request.type === 'claimDeposit' ? kind.isClaim : kind.isCancel
  return is?.(call, { user, requestId, amount }) ?? false
}

async function checkSuffix(
  request: PlanRequest,
  step: ParsedTransaction,
  call: Hex,
  own: OwnSuffix,
  context: PlanContext,
  problems: string[],
): Promise<void> {
  const wanted = request.distributorId ?? context.distributorId
  if (typeof wanted === 'string' && own.code !== wanted) problems.push('the suffix carries another distributor')
  const referralCode = request.type === 'deposit' ? (request.referralCode ?? '') : ''
  if ((own.referralCode ?? '') !== referralCode) problems.push('the suffix carries another referral code')
  if (context.actionId !== undefined && own.actionId !== `0x${context.actionId.replaceAll('-', '').toLowerCase()}`)
    problems.push('the suffix carries another action')
  if (problems.length > 0) return
  const wallet = toAddress(request.userAddress)
  const signer = await recoverSigner(own, { chainId: context.chainId, wallet, target: step.to, call })
  const published = listSigners(context).some(
    (address) => signer !== undefined && isAddressEqual(toAddress(String(address)), signer),
  )
  if (!published) problems.push('the suffix is not signed by a published signer for this call')
}
