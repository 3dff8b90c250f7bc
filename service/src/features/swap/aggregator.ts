import { type Address, type Hex, isHex, size } from 'viem'
import { unavailable } from '../../kernel/errors.js'
import { OutboundError } from '../../kernel/outbound.js'
import { nativeToken } from '../../rpc/native.js'
import type { Call } from '../../rpc/simulateBlock.js'
import type { SwapSettings } from '../../rpc/storeChains.js'
import type { HttpApi } from '../plans/index.js'
import type { Quote, SwapAsk, SwapProvider, Terms } from './provider.js'
import { isWrap } from './wrapping.js'

/** A service that is asked over HTTP how to swap. Nothing it says is believed. */

/** The quote of a service, after its other members were found to match the request. */
export type Told = {
  amountOut: bigint
  gas: bigint
  /** Its call, written again by us: to the wallet, with the minimum of the terms. */
  build(terms: Terms): Pick<Call, 'data'>
}

/** The parts in which services differ: the path of the request, and the parsing of the response. */
export type AggregatorKind<Answer = unknown> = {
  name: 'enso' | 'lifi'
  /** As descriptions name its router. */
  title: string
  path(ask: SwapAsk): string
  /** An answer of its shape. */
  isAnswer(value: unknown): value is Answer
  /** The parsed quote; a sentence if it does not match the request. */
  read(answer: Answer, ask: SwapAsk, contracts: { router: Address; spender: Address }): Told | string
}

const gasMax = 30_000_000n
const uintMax = 2n ** 256n

/** The provider that asks a service; it serves where the chain names its router. */
export function createAggregator<Answer>(kind: AggregatorKind<Answer>, api: HttpApi): SwapProvider {
  return {
    name: kind.name,
    serves: ({ swap }) => swap?.[kind.name] !== undefined,
    takes: (pair) => !isWrap(pair),
    spenders: ({ swap }) => {
      const contracts = findContracts(swap, kind.name)
      return contracts ? [contracts.spender] : []
    },
    quote: async (ask) => {
      const contracts = findContracts(ask.settings.swap, kind.name)
      // Whatever it says has to be seen in a simulation.
      if (!contracts || !ask.simulates) return undefined
      const text = await fetchAnswer(api, kind.path(ask))
      if (text === undefined) return undefined
      const answer = parse(text)
      if (!kind.isAnswer(answer)) throw wrong(api, 'its response is not a quote')
      const told = kind.read(answer, ask, contracts)
      if (typeof told === 'string') throw wrong(api, told)
      if (told.amountOut === 0n) return undefined
      if (told.amountOut >= uintMax || told.gas > gasMax) throw wrong(api, 'it returned amounts out of range')
      return toQuote(kind, ask, told, contracts)
    },
  }
}

function findContracts(swap: SwapSettings | null, name: 'enso' | 'lifi') {
  const found = swap?.[name]
  return found && { router: found.router as Address, spender: (found.spender ?? found.router) as Address }
}

/** Statuses by which they report that no route exists for the request. */
const noRoute = new Set([400, 404, 422])

/** The text of the response; undefined if the service has no route. Every other failure is a 503. */
async function fetchAnswer(api: HttpApi, path: string): Promise<string | undefined> {
  try {
    return await api.fetchText(path)
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    if (error.httpStatus !== undefined && noRoute.has(error.httpStatus)) return undefined
    throw unavailable(`${api.host} cannot be asked for a swap at present`, { cause: error })
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A response that does not match the request is handled like a missing one. */
function wrong({ host }: HttpApi, why: string) {
  return unavailable(`${host} cannot be used for a swap at present: ${why}`)
}

function toQuote(
  { name, title }: Pick<AggregatorKind, 'name' | 'title'>,
  { tokenIn, tokenOut, amountIn }: SwapAsk,
  told: Told,
  { router, spender }: { router: Address; spender: Address },
): Quote {
  const nativeIn = isNativeAddress(tokenIn.address)
  return {
    provider: name,
    amountOut: told.amountOut,
    netOut: told.amountOut,
    gas: told.gas,
    route: [{ action: 'swap', from: tokenIn, to: tokenOut }],
    spender: nativeIn ? undefined : spender,
    target: title,
    decoded: false,
    build: (terms) => ({ to: router, value: nativeIn ? amountIn : 0n, ...told.build(terms) }),
  }
}

export const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

export const isNativeAddress = (address: string): boolean => same(address, nativeToken)

const dataMax = 65_536

/** Calldata in a response; undefined if malformed. */
export function readData(data: string): Hex | undefined {
  return isHex(data) && data.length % 2 === 0 && size(data) >= 4 && size(data) <= dataMax ? data : undefined
}
