import type { Plan } from './plans.js'
import type { Input } from './randomInput.js'

/**
 * What must hold of an input that was accepted, said anew and naively: the plan makes the wallet sign what the plan it was
 * made of does, and was asked for by the same request; a batch says what its transactions say.
 */

// biome-ignore lint/suspicious/noExplicitAny: an accepted input has the shape of a plan
type Accepted = any

const lower = (text: unknown): string => (typeof text === 'string' ? text.toLowerCase() : '')
const onlyHas = (value: object, names: readonly string[]): boolean =>
  Object.keys(value).every((name) => names.includes(name))

/** What each transaction makes a wallet sign, but for its gas. */
const signedBy = (transactions: Accepted): string[] =>
  transactions.map(({ type, transaction }: Accepted) =>
    [type, lower(transaction.to), lower(transaction.data), BigInt(transaction.value), transaction.chainId].join(),
  )

const toWord = (hex: string): string => hex.slice(2).toLowerCase().padStart(64, '0')

/** The approvals a deposit may need: of nothing, or of exactly the amount, to the vault. */
function listApprovals({ request, context }: Plan): string[] {
  if (request.type !== 'deposit') return []
  const { vault, chainId, wrappedNative } = context
  const token = lower(request.tokenIn === 'native' ? wrappedNative : request.tokenIn)
  return [0n, BigInt(request.amount)].map((amount) =>
    ['approve', token, `0x095ea7b3${toWord(vault.address)}${toWord(`0x${amount.toString(16)}`)}`, 0, chainId].join(),
  )
}

/** Whether the same is signed; where the allowance is told otherwise, or not at all, another of the needed approvals may be. */
function isSameSigned(transactions: Accepted, context: Accepted, source: Plan): boolean {
  const [signed, wanted] = [signedBy(transactions), signedBy(source.transactions)]
  if (signed.join() === wanted.join()) return true
  const { allowance, approvalReset } = source.context
  if (context.allowance === allowance && context.approvalReset === approvalReset) return false
  const approvals = listApprovals(source)
  const isOther = (each: string) => !approvals.includes(each)
  return signed.filter(isOther).join() === wanted.filter(isOther).join() && signed.length <= wanted.length + 2
}

function hasAllowedForm(transactions: Accepted, gasCap: unknown): boolean {
  return transactions.every((item: Accepted) => {
    const { gasLimit } = item.transaction
    return (
      onlyHas(item, ['type', 'transaction', 'description', 'metadata']) &&
      onlyHas(item.transaction, ['to', 'data', 'value', 'chainId', 'gasLimit']) &&
      (gasLimit === undefined ||
        (Number(gasLimit) >= 21_000 && BigInt(gasLimit) <= BigInt(String(gasCap ?? 30_000_000))))
    )
  })
}

/** What of a request decides what has to be signed. */
function askedBy(request: Accepted, asset: string): string {
  const { type, userAddress, amount, distributorId, tokenIn, tokenOut, referralCode } = request
  const native = lower(tokenIn) === `0x${'e'.repeat(40)}`
  const of = [type, lower(userAddress)]
  if (type === 'deposit') of.push(native ? 'native' : lower(tokenIn), BigInt(amount), distributorId, referralCode || '')
  if (type === 'withdraw') of.push(lower(tokenOut ?? asset), BigInt(amount), distributorId)
  return of.join()
}

/** Why an accepted plan should have been refused; undefined: it rightly was not. */
export function findWronglyAccepted(input: Input, source: Plan): string | undefined {
  const { request, transactions, context }: Accepted = input
  if (!isSameSigned(transactions, context, source)) return 'something else is signed'
  if (!hasAllowedForm(transactions, context.gasCap)) return 'more is said, or the gas is out of bounds'
  const { asset } = source.context.vault
  if (askedBy(request, asset) !== askedBy(source.request, asset)) return 'something else was asked'
  const who = request.distributorId ?? context.distributorId
  if (who !== undefined && who !== 'acme') return 'somebody else brought it'
  if (context.chainId !== source.context.chainId) return 'it is for another chain'
  if (lower(context.vault.address) !== lower(source.context.vault.address)) return 'it is another vault'
  const [signer] = source.context.signers
  const published = context.signers.some((each: Accepted) => lower(each?.address ?? each) === lower(signer))
  return published ? undefined : 'its signer is not published'
}

/** Why an accepted batch should have been refused. */
export function findWronglyAcceptedBatch({ planned: transactions, batch, user }: Input): string | undefined {
  const { version, chainId, from, atomicRequired, calls, ...others }: Accepted = batch
  if (Object.keys(others).length > 0) return 'it says more'
  if (version !== '2.0.0' || atomicRequired !== true || lower(from) !== lower(user)) return 'it is of another form'
  const planned: Accepted = transactions
  const said = calls.map(({ to, data, value, ...more }: Accepted) => [
    lower(to),
    lower(data),
    String(BigInt(value)),
    Number(chainId),
    Object.keys(more).length,
  ])
  const wanted = planned.map(({ transaction: { to, data, value, chainId: chain } }: Accepted) => [
    lower(to),
    lower(data),
    String(BigInt(value)),
    chain,
    0,
  ])
  return said.length > 0 && JSON.stringify(said) === JSON.stringify(wanted) ? undefined : 'something else is signed'
}
