import {
  type Address,
  concat,
  encodeFunctionData,
  type Hex,
  hashTypedData,
  keccak256,
  numberToHex,
  parseAbi,
  toHex,
} from 'viem'
import { isSame as areSteps } from './approvals.js'
import { readDecimals, readNames } from './context.js'
import { approve } from './expected.js'
import { checkLimits, gasCapDefault } from './limits.js'
import { nameOf, tellAmount, tellApproval } from './sentences.js'
import { type Complain, getMember, parseAddress, parseAmount, readList } from './shape.js'
import { parseTransactions } from './transactions.js'
import type { PlanVerdict } from './types.js'

/** The request for an order, and facts that its signer knows without the service: the contracts, and the minimum output. */
export type SwapOrderRequest = {
  userAddress: string
  chainId: number
  tokenIn: string
  tokenOut: string
  /** Raw. */
  amountIn: string
  /** Raw; an order that may give less is refused. */
  minAmountOut: string
  distributorId: string
  opportunityId?: string
  partiallyFillable?: boolean
  /** Unix seconds; an order that may be filled later is refused. */
  validToMax: number
  /** The settlement contract of the chain, and its vault relayer. */
  settlement: string
  relayer: string
  /** The most gas an approval may be given; absent: 30,000,000. */
  gasCap?: string | bigint
  /** Names of addresses in the sentences, next to the address itself. */
  names?: Readonly<Record<string, string>>
  /** Decimals of the tokens by address, as you read them yourself; the sentences tell whole amounts too. */
  decimals?: Readonly<Record<string, number>>
}

const abi = parseAbi(['function invalidateOrder(bytes orderUid)'])

const field = (text: string) => {
  const [type = '', name = ''] = text.split(' ')
  return { name, type }
}
const domainFields = ['string name', 'string version', 'uint256 chainId', 'address verifyingContract'].map(field)
const orderFields = [
  ...['address sellToken', 'address buyToken', 'address receiver', 'uint256 sellAmount', 'uint256 buyAmount'],
  ...['uint32 validTo', 'bytes32 appData', 'uint256 feeAmount', 'string kind', 'bool partiallyFillable'],
  ...['string sellTokenBalance', 'string buyTokenBalance'],
].map(field)

/**
 * Decides whether a response of BuildSwapOrder is the requested order: the typed data to sign, its uid, the approvals with
 * their gas and the transaction that ends it. Returns a verdict for every input; with a yes, a sentence for each approval and
 * for the order, which a wallet shows in place of the descriptions in the response.
 */
export function verifySwapOrder(request: SwapOrderRequest, built: unknown): PlanVerdict {
  const problems: string[] = []
  const complain: Complain = (problem) => {
    if (!problems.includes(problem)) problems.push(problem)
  }
  try {
    const terms = parseTerms(request, complain)
    const sentences = terms ? tellOrder(request, terms, built, complain) : []
    return problems.length === 0 ? { ok: true, problems, sentences } : { ok: false, problems, sentences: [] }
  } catch {
    return { ok: false, problems: [...problems, 'something of what was given cannot be read'], sentences: [] }
  }
}

type Terms = Record<'user' | 'tokenIn' | 'tokenOut' | 'settlement' | 'relayer', Address> &
  Record<'amountIn' | 'minAmountOut' | 'gasCap', bigint> & {
    names: ReadonlyMap<Address, string>
    decimals: ReadonlyMap<Address, number>
  }

function parseTerms(request: SwapOrderRequest, complain: Complain): Terms | undefined {
  const addresses = {
    ...{ user: parseAddress(request.userAddress), tokenIn: parseToken(request.tokenIn) },
    ...{ tokenOut: parseToken(request.tokenOut), settlement: parseAddress(request.settlement) },
    relayer: parseAddress(request.relayer),
  }
  const amounts = { amountIn: parseAmount(request.amountIn), minAmountOut: parseAmount(request.minAmountOut) }
  const gasCap = request.gasCap === undefined ? gasCapDefault : parseAmount(request.gasCap)
  const terms = {
    ...addresses,
    ...amounts,
    gasCap,
    names: readNames(request, complain),
    decimals: readDecimals(request, complain),
  }
  for (const [name, value] of Object.entries(terms)) if (value === undefined) complain(`the request has no ${name}`)
  if (!Number.isSafeInteger(request.validToMax)) complain('the request has no validToMax')
  return Object.values(terms).includes(undefined) ? undefined : (terms as Terms)
}

/** The native token has the address the settlement contract knows it by. */
const parseToken = (text: unknown) => parseAddress(text === 'native' ? `0x${'e'.repeat(40)}` : text)

/** Sentences about the order and its transactions; of no use after a complaint. */
function tellOrder(request: SwapOrderRequest, terms: Terms, built: unknown, complain: Complain): string[] {
  const { chainId } = request
  const message = getMember(getMember(built, 'typedData'), 'message')
  const [orderId, buyAmount, validTo] = [
    getMember(built, 'orderId'),
    getMember(message, 'buyAmount'),
    getMember(message, 'validTo'),
  ]
  const least = parseAmount(buyAmount)
  if (typeof orderId !== 'string' || !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(orderId)) {
    complain('the order has no id')
    return []
  }
  if (least === undefined || least < terms.minAmountOut) {
    complain('the order may give less than minAmountOut')
    return []
  }
  if (typeof validTo !== 'number' || !Number.isInteger(validTo) || validTo < 1 || validTo > request.validToMax) {
    complain('the order may be filled after validToMax')
    return []
  }
  const opportunityId = request.opportunityId?.toLowerCase()
  const openearn = { orderId, ...(opportunityId === undefined ? {} : { opportunityId }) }
  const appData = JSON.stringify({ appCode: request.distributorId, metadata: { openearn }, version: '1.1.0' })
  const typedData = {
    domain: { name: 'Gnosis Protocol', version: 'v2', chainId, verifyingContract: terms.settlement },
    types: { EIP712Domain: domainFields, Order: orderFields },
    primaryType: 'Order',
    message: {
      ...{ sellToken: terms.tokenIn, buyToken: terms.tokenOut, receiver: terms.user },
      ...{ sellAmount: String(terms.amountIn), buyAmount: String(least), validTo, appData: keccak256(toHex(appData)) },
      ...{ feeAmount: '0', kind: 'sell', partiallyFillable: request.partiallyFillable === true },
      ...{ sellTokenBalance: 'erc20', buyTokenBalance: 'erc20' },
    },
  }
  const digest = hashTypedData(typedData as never)
  const orderUid = concat([digest, terms.user.toLowerCase() as Hex, numberToHex(validTo, { size: 4 })])
  const data = encodeFunctionData({ abi, functionName: 'invalidateOrder', args: [orderUid] })
  const expected = {
    ...{ typedData, orderUid, settlement: terms.settlement },
    cancellation: { to: terms.settlement, data, value: '0', chainId },
    expiresAt: new Date(validTo * 1_000).toISOString().replace('.000Z', 'Z'),
  }
  for (const [name, value] of Object.entries(expected))
    if (!isSame(getMember(built, name), value)) complain(`${name} is not that of the order that was asked for`)
  if (!isSame(getMember(getMember(built, 'quote'), 'minAmountOut'), String(least)))
    complain('the quote names another least amount than the order')
  const approvals = tellApprovals(request, terms, getMember(built, 'approvals'), complain)
  return [
    ...approvals,
    tellSigned(terms, { least, until: expected.expiresAt, isWhole: request.partiallyFillable !== true }),
  ]
}

/** Checks the approvals: no approval, the exact one, or that after a reset to 0, each with at most the gas of a plan's. */
function tellApprovals({ chainId }: SwapOrderRequest, terms: Terms, approvals: unknown, complain: Complain): string[] {
  const list = readList(approvals, 2)
  if (!list) complain('the approvals are not a list of at most two')
  const steps = list && list.length > 0 ? parseTransactions(approvals, complain, ['approve']) : []
  if (!steps) return []
  checkLimits(steps, { chainId, gasCap: terms.gasCap }, complain)
  const amounts = [0n, terms.amountIn].slice(2 - steps.length)
  return steps.map((step, at) => {
    const amount = amounts[at] ?? 0n
    const sentence = tellApproval(amount, terms.tokenIn, terms.relayer, terms)
    const data = approve(terms.relayer, amount)
    if (!areSteps([step], [{ type: 'approve', to: terms.tokenIn, data, value: 0n, sentence }]))
      complain(`approval ${at + 1} is not the exact one of amountIn for the vault relayer`)
    return sentence
  })
}

function tellSigned(
  terms: Terms,
  { least, until, isWhole }: { least: bigint; until: string; isWhole: boolean },
): string {
  const way = isWhole ? 'at once' : 'at once or in parts'
  return `Sign an order: ${tellAmount(terms.amountIn, terms.tokenIn, terms)} for at least ${tellAmount(least, terms.tokenOut, terms)}, filled ${way} by ${until}; it goes to ${nameOf(terms.user, terms)}.`
}

/** Whether a value says the same: addresses and hex in any case, nothing more and nothing less in an object. */
function isSame(found: unknown, expected: unknown): boolean {
  if (typeof expected === 'string' && /^0x[0-9a-f]*$/i.test(expected))
    return typeof found === 'string' && found.toLowerCase() === expected.toLowerCase()
  if (typeof expected !== 'object' || expected === null) return found === expected
  if (typeof found !== 'object' || found === null || Array.isArray(found) !== Array.isArray(expected)) return false
  const names = Object.keys(expected)
  if (Object.keys(found).length !== names.length) return false
  const memberOf = (name: string) => (Array.isArray(found) ? found[Number(name)] : getMember(found, name))
  return names.every((name) => isSame(memberOf(name), (expected as Record<string, unknown>)[name]))
}
