import type { Address } from 'viem'
import { type Complain, getMember, isRecord, parseAddress, parseAmount, quote } from './shape.js'

/** Facts about the swaps of a chain, parsed. */
export type KnownSwap = {
  routers: ReadonlyMap<Address, RouterKind>
  /** Wrappers with the tokens of their own deposits and withdrawals. */
  wrappers: readonly KnownWrapper[]
  hubTokens: readonly Address[] | undefined
  fees: readonly number[] | undefined
  minimumOut: bigint
  amountIn: bigint | undefined
  amountInMax: bigint | undefined
  deadline: bigint | undefined
  deadlineMax: bigint | undefined
  allowance: bigint | undefined
  approvalReset: boolean | undefined
}

const routerKinds = ['uniswap-v2', 'uniswap-v3', 'swap-router-02', 'deposit-router'] as const
export type RouterKind = (typeof routerKinds)[number]

const wrapperKinds = ['erc4626', 'wsteth', 'static-a-token'] as const
export type WrapperKind = (typeof wrapperKinds)[number]
export type KnownWrapper = { address: Address; asset: Address; kind: WrapperKind }

const listMax = 64

/** Parses the swaps of a context; malformed parts are complaints. */
export function parseSwapContext(swap: unknown, complain: Complain): KnownSwap {
  const amount = (name: string) => readAmount(swap, name, complain)
  const approvalReset = getMember(swap, 'approvalReset')
  if (approvalReset !== undefined && typeof approvalReset !== 'boolean')
    complain('swap.approvalReset is neither true nor false')
  const least = amount('minimumOut') ?? 1n
  return {
    routers: readRouters(swap, complain),
    wrappers: readWrappers(swap, complain),
    hubTokens: readAll(swap, 'hubTokens', parseAddress, complain),
    fees: readAll(swap, 'fees', parseFee, complain),
    // No swap is expected to give nothing.
    minimumOut: least > 0n ? least : 1n,
    amountIn: amount('amountIn'),
    amountInMax: amount('amountInMax'),
    deadline: amount('deadline'),
    deadlineMax: amount('deadlineMax'),
    allowance: amount('allowance'),
    approvalReset: approvalReset === true || approvalReset === false ? approvalReset : undefined,
  }
}

function readRouters(swap: unknown, complain: Complain): Map<Address, RouterKind> {
  const found = readAll(swap, 'routers', parseRouter, complain)
  if (!found) complain('swap.routers is no list of routers')
  const routers = new Map(found)
  if (found && routers.size !== found.length) complain('swap.routers names a router twice')
  return routers
}

function parseRouter(router: unknown): readonly [Address, RouterKind] | undefined {
  const address = parseAddress(getMember(router, 'address'))
  const named = getMember(router, 'kind')
  const kind = routerKinds.find((each) => each === named)
  return address && kind ? [address, kind] : undefined
}

function readWrappers(swap: unknown, complain: Complain): KnownWrapper[] {
  const found = readAll(swap, 'wrappers', parseWrapper, complain) ?? []
  if (new Set(found.map(({ address, asset }) => `${address} ${asset}`)).size !== found.length)
    complain('swap.wrappers names a wrapper of a token twice')
  return found
}

function parseWrapper(wrapper: unknown): KnownWrapper | undefined {
  const address = parseAddress(getMember(wrapper, 'address'))
  const asset = parseAddress(getMember(wrapper, 'asset'))
  const named = getMember(wrapper, 'kind') ?? 'erc4626'
  const kind = wrapperKinds.find((each) => each === named)
  return address && asset && kind ? { address, asset, kind } : undefined
}

function parseFee(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 1_000_000 ? value : undefined
}

/** Parses a list whose items have one form; undefined if absent; a malformed item is a complaint. */
function readAll<T>(
  swap: unknown,
  name: string,
  parse: (value: unknown) => T | undefined,
  complain: Complain,
): T[] | undefined {
  const given = isRecord(swap) ? getMember(swap, name) : undefined
  if (given === undefined) return undefined
  if (!Array.isArray(given) || given.length > listMax) {
    complain(`swap.${name} is no list`)
    return undefined
  }
  return Array.from({ length: given.length }, (_, at) => given[at]).flatMap((value: unknown) => {
    const parsed = parse(value)
    if (parsed === undefined) complain(`swap.${name}: ${quote(value)} is not what it lists`)
    return parsed === undefined ? [] : [parsed]
  })
}

function readAmount(swap: unknown, name: string, complain: Complain): bigint | undefined {
  const given = getMember(swap, name)
  if (given === undefined) return undefined
  const amount = parseAmount(given)
  if (amount === undefined) complain(`swap.${name} is no amount`)
  return amount
}
