import type { Address, Hex } from 'viem'
import { listApprovals } from './approvals.js'
import { readAddress, readAmount, readChainId, readDecimals, readFlag, readNames } from './context.js'
import { checkLimits, gasCapDefault } from './limits.js'
import { findSame } from './preparations.js'
import { nameOf, tellAmount } from './sentences.js'
import { type Complain, getMember, parseAddress, parseRaw, quote } from './shape.js'
import { computeRoot, parseStreamId, readStreamCall, recoverVerifier, type StreamCall } from './streamCalls.js'
import { type ParsedTransaction, parseTransactions } from './transactions.js'
import type { PlannedTransaction, PlanVerdict } from './types.js'

/** A request to a reward stream. Amounts are raw integers as text. */
export type StreamRequest =
  /** A new stream of the admin `userAddress`; `amount` is its net budget. */
  | { type: 'createStream'; userAddress: string; rewardToken: string; amount: string }
  /** More budget; `amount` is net. */
  | { type: 'addFunds'; userAddress: string; rewardToken: string; amount: string }
  /** `to`: the admin itself where it is absent. `amount`: any above 0 where it is absent, which is signed. */
  | { type: 'withdrawFunds'; userAddress: string; to?: string | null; amount?: string | null }
  /** `amount`: all that was ever earned; any above 0 where it is absent. */
  | { type: 'claim'; userAddress: string; amount?: string | null }

/** Facts about a stream that do not come from the response. */
export type StreamContext = {
  chainId: number
  /** The factory of streams you trust; not looked at for a claim. */
  factory?: string
  /** The contract of the stream; needed for all but its creation. */
  stream?: string
  /** The id the answer gives a new stream; absent: any. */
  streamId?: string
  /** The most that may be paid on top of `amount`; absent: 1.5 % of it, rounded up. */
  feeMax?: string | bigint
  /** Who may have signed: the create verifier, or the withdraw verifier, that the factory names; absent: the factory judges. */
  verifiers?: readonly string[]
  /** The last second (unix) the signature may be good for; absent: any. */
  deadlineMax?: number
  /** `getRoots()` of the stream: a claim has to be by one of them; absent: the contract judges. */
  roots?: readonly { root: string; timestamp: number }[]
  /** The present allowance of the factory; absent: the number of approvals cannot be judged. */
  allowance?: string | bigint
  /** The token wants its allowance set to 0 before another one; absent: either way is taken. */
  approvalReset?: boolean
  /** The most gas a transaction may be given; absent: 30,000,000. */
  gasCap?: string | bigint
  /** Names of addresses in the sentences, next to the address itself. */
  names?: Readonly<Record<string, string>>
  /** Decimals of the token by its address, as you read them yourself; the sentences tell whole amounts too. */
  decimals?: Readonly<Record<string, number>>
}

const names = ['createStream', 'addFunds', 'withdrawFunds', 'claim'] as const
type Name = (typeof names)[number]

type Asked = { type: Name; user: Address; token: Address | undefined; to: Address; amount: bigint | undefined }

type Known = {
  chainId: number
  factory: Address | undefined
  stream: Address | undefined
  streamId: Hex | undefined
  feeMax: bigint | undefined
  verifiers: readonly Address[] | undefined
  deadlineMax: number | undefined
  roots: readonly { root: string; timestamp: number }[] | undefined
  allowance: bigint | undefined
  approvalReset: boolean | undefined
  gasCap: bigint
  names: ReadonlyMap<Address, string>
  decimals: ReadonlyMap<Address, number>
}

/**
 * Decides, without any network, whether transactions do exactly what was requested of a reward stream: the approvals for the
 * factory, if tokens move to it, and its call, or a claim at the stream itself. Returns a verdict for every input; with a yes,
 * a sentence for each transaction.
 */
export async function verifyStream(
  request: StreamRequest,
  transactions: readonly PlannedTransaction[],
  context: StreamContext,
): Promise<PlanVerdict> {
  const problems: string[] = []
  const complain: Complain = (problem) => {
    if (!problems.includes(problem)) problems.push(problem)
  }
  try {
    const asked = parseAsked(request, complain)
    const known = parseKnown(context, asked?.type, complain)
    const steps = parseTransactions(transactions, complain, ['approve', ...names])
    const sentences = asked && known && steps ? await tellSteps(asked, steps, known, complain) : []
    return problems.length === 0 ? { ok: true, problems, sentences } : { ok: false, problems, sentences: [] }
  } catch {
    // A getter or a proxy threw: nothing that came as JSON has one.
    return { ok: false, problems: [...problems, 'something of what was given cannot be read'], sentences: [] }
  }
}

function parseAsked(request: unknown, complain: Complain): Asked | undefined {
  const type = names.find((name) => name === getMember(request, 'type'))
  if (!type) {
    complain(`a request of the type ${quote(getMember(request, 'type'))} cannot be verified`)
    return undefined
  }
  let good = true
  const refuse: Complain = (problem) => {
    good = false
    complain(problem)
  }
  const pulls = type === 'createStream' || type === 'addFunds'
  const user = readAddress(request, 'userAddress', refuse)
  const token = pulls ? readAddress(request, 'rewardToken', refuse) : undefined
  const isSentOn = type === 'withdrawFunds' && (getMember(request, 'to') ?? undefined) !== undefined
  const to = isSentOn ? readAddress(request, 'to', refuse) : user
  const given = getMember(request, 'amount') ?? undefined
  const amount = given === undefined ? undefined : parseRaw(given)
  if (amount === 0n || (amount === undefined && (pulls || given !== undefined))) refuse('amount is no amount above 0')
  return good && user && to ? { type, user, token, to, amount } : undefined
}

const listMax = 1_000

function parseKnown(context: unknown, type: Name | undefined, complain: Complain): Known | undefined {
  let good = true
  const refuse: Complain = (problem) => {
    good = false
    complain(problem)
  }
  const isGiven = (name: string) => getMember(context, name) !== undefined
  const address = (name: string, isNeeded: boolean) =>
    isNeeded || isGiven(name) ? readAddress(context, name, refuse) : undefined
  const streamId = parseStreamId(getMember(context, 'streamId'))
  if (isGiven('streamId') && !streamId) refuse('streamId is no id')
  const deadlineMax = getMember(context, 'deadlineMax')
  if (deadlineMax !== undefined && !Number.isSafeInteger(deadlineMax))
    refuse('deadlineMax is no whole number of seconds')
  const chainId = readChainId(context, refuse)
  const known = {
    factory: address('factory', type !== 'claim'),
    stream: address('stream', type !== 'createStream'),
    ...{ streamId, feeMax: readAmount(context, 'feeMax', refuse), deadlineMax: deadlineMax as number | undefined },
    verifiers: readList(context, 'verifiers', parseAddress, refuse),
    roots: readList(context, 'roots', parseRoot, refuse),
    allowance: readAmount(context, 'allowance', refuse),
    approvalReset: readFlag(context, 'approvalReset', refuse),
    gasCap: readAmount(context, 'gasCap', refuse) ?? gasCapDefault,
    names: readNames(context, refuse),
    decimals: readDecimals(context, refuse),
  }
  return good && chainId !== undefined ? { ...known, chainId } : undefined
}

function readList<T>(
  context: unknown,
  name: string,
  parse: (value: unknown) => T | undefined,
  complain: Complain,
): T[] | undefined {
  const given = getMember(context, name)
  if (given === undefined) return undefined
  const parsed = Array.isArray(given) && given.length <= listMax ? Array.from(given, parse) : [undefined]
  const found = parsed.filter((each) => each !== undefined)
  if (found.length < parsed.length) complain(`${name} is no list of such`)
  return found
}

function parseRoot(value: unknown): { root: string; timestamp: number } | undefined {
  const [root, timestamp] = [getMember(value, 'root'), getMember(value, 'timestamp')]
  const isRoot = typeof root === 'string' && /^0x[0-9a-f]{64}$/i.test(root)
  return isRoot && typeof timestamp === 'number' ? { root: root.toLowerCase(), timestamp } : undefined
}

/** Sentences about the transactions; of no use after a complaint. */
async function tellSteps(
  asked: Asked,
  steps: readonly ParsedTransaction[],
  known: Known,
  complain: Complain,
): Promise<string[]> {
  checkLimits(steps, known, complain)
  const main = steps.at(-1)
  const call = main && readStreamCall(main.data)
  if (main?.type !== asked.type || call?.functionName !== asked.type) {
    complain(`the last transaction is not the call of ${asked.type} that was asked for`)
    return []
  }
  const target = asked.type === 'claim' ? known.stream : known.factory
  if (main.to !== target) complain('the last transaction calls another contract')
  if (main.value !== 0n) complain('the last transaction sends native tokens')
  const told =
    call.functionName === 'claim' ? tellClaim(asked, call, known, complain) : tellSigned(asked, call, known, complain)
  if (call.functionName !== 'claim') await checkSignature(call, asked, known, complain)
  const allowed =
    asked.token && known.factory
      ? listApprovals({ token: asked.token, spender: known.factory, amount: told.pulled }, known)
      : [[]]
  const before = findSame(steps.slice(0, -1), allowed, complain)
  return before ? [...before, told.sentence] : []
}

type Of<N extends Name> = Extract<StreamCall, { functionName: N }>

/** A sentence about a call, and the amount of the token that it takes from the wallet. */
type Told = { sentence: string; pulled: bigint }

function tellSigned(
  asked: Asked,
  call: Of<'createStream'> | Of<'addFunds'> | Of<'withdrawFunds'>,
  known: Known,
  complain: Complain,
): Told {
  if (call.functionName === 'withdrawFunds') return tellWithdrawal(asked, call, known, complain)
  const [params] = call.args
  const isNew = call.functionName === 'createStream'
  const net = isNew ? call.args[0].netTotalAmount : call.args[0].netAmount
  const { feeAmount } = params
  const amount = asked.amount ?? 0n
  if (net !== amount) complain(`the budget is ${net}, not ${amount}`)
  const feeMax = known.feeMax ?? (amount * 15n + 999n) / 1_000n
  if (feeAmount > feeMax) complain(`the fee is ${feeAmount}, above ${feeMax}`)
  if (isNew) {
    const { streamId, rewardToken } = call.args[0]
    if (rewardToken !== asked.token) complain('the stream pays another token')
    if (known.streamId !== undefined && streamId !== known.streamId) complain('the stream has another id')
  } else if (call.args[0].stream !== known.stream) complain('the budget is of another stream')
  const paid = `${asked.token ? tellAmount(net, asked.token, known) : `${net} units`}, and ${feeAmount} as a fee`
  const sentence = isNew
    ? `Create the reward stream ${call.args[0].streamId} with a budget of ${paid}.`
    : `Add ${paid}, to the budget of the reward stream ${nameOf(call.args[0].stream, known)}.`
  return { sentence, pulled: net + feeAmount }
}

function tellWithdrawal(
  { to, amount: asked }: Asked,
  call: Of<'withdrawFunds'>,
  known: Known,
  complain: Complain,
): Told {
  const [params] = call.args
  if (params.stream !== known.stream) complain('the withdrawal is from another stream')
  if (params.to !== to) complain('the withdrawal goes to somebody else')
  if (params.amount === 0n || (asked !== undefined && params.amount !== asked))
    complain(`the withdrawal is of ${params.amount}${asked === undefined ? '' : `, not ${asked}`}`)
  const [from, receiver] = [params.stream, params.to].map((each) => nameOf(each, known))
  return {
    sentence: `Withdraw ${params.amount} units from the reward stream ${from}; they go to ${receiver}.`,
    pulled: 0n,
  }
}

function tellClaim({ user, amount: asked }: Asked, call: Of<'claim'>, known: Known, complain: Complain): Told {
  const [amount, timestamp, proof] = call.args
  if (amount === 0n || (asked !== undefined && amount !== asked))
    complain(`the claim is of ${amount}${asked === undefined ? '' : `, not ${asked}`}`)
  const root = computeRoot(user, amount, proof)
  if (known.roots && !known.roots.some((each) => each.root === root && each.timestamp === timestamp))
    complain('the proof leads to no root that the stream holds')
  const from = known.stream ? nameOf(known.stream, known) : ''
  const sentence = `Claim ${amount} units, less those already claimed, from the reward stream ${from}; they go to ${nameOf(user, known)}.`
  return { sentence, pulled: 0n }
}

async function checkSignature(
  call: Exclude<StreamCall, { functionName: 'claim' }>,
  { user }: Asked,
  { chainId, factory, verifiers, deadlineMax }: Known,
  complain: Complain,
): Promise<void> {
  const deadline = call.functionName === 'createStream' ? call.args[1] : call.args[2]
  if (deadlineMax !== undefined && deadline > deadlineMax)
    complain('the signature is good for longer than was asked for')
  if (!verifiers || !factory) return
  const signer = await recoverVerifier(call, { chainId, factory, user })
  if (!signer || !verifiers.includes(signer)) complain('no verifier that is known signed this call for this wallet')
}
