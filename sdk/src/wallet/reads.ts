import { ask, type Provider } from './provider.js'

/** Reads of the chain by the wallet's own provider. */

const selectors = {
  'allowance(address,address)': '0xdd62ed3e',
  'balanceOf(address)': '0x70a08231',
  'asset()': '0x38d52e0f',
  'decimals()': '0x313ce567',
  'stETH()': '0xc1fe3e48',
  'aToken()': '0xa0c1f15e',
  'previewDeposit(uint256)': '0xef8b30f7',
  'previewRedeem(uint256)': '0x4cdad506',
  'previewDeposit(address,uint256)': '0xb8f82b26',
  'previewRedeem(address,uint256)': '0xcbe52ae3',
  'previewSyncRedeem(uint256)': '0x7a13aa35',
  'maxWithdraw(address)': '0xce96cb77',
  'quoteExactInput(bytes,uint256)': '0xcdca1753',
  'getAmountsOut(uint256,address[])': '0xd06ca61f',
  'getRoots()': '0x35a5e06d',
  'getClaimedRewards(address)': '0xb9e35db0',
  'getStreamAddress(bytes16)': '0x88da729c',
} as const
export type Read = keyof typeof selectors
export const readSelectors: Readonly<Record<string, string>> = selectors

/** An own quote and that of the service differ by this at most, beyond the slippage. */
export const toleranceBps = 100
/** An exchange that is known to the service alone may give less than a quote, after a word of the user: not less than half. */
export const halfBps = 5_000

/** Why the user has to say yes to a least amount: there is no own quote, or it is below the quote. */
export type Confirm = 'no-quote' | 'below-quote'

/** Whether a number is a slippage, in hundredths of a percent. */
export const isSlippage = (bps: unknown): boolean => Number.isInteger(bps) && Number(bps) >= 0 && Number(bps) <= 10_000
export const tellSlippage = (bps: unknown): string => `${bps} is no slippage in hundredths of a percent`

/** A share of an amount, in hundredths of a percent; none of a negative one. */
export const shareOf = (amount: bigint, bps: number): bigint => (amount * BigInt(Math.max(0, bps))) / 10_000n

/** Whether a token is the native one of its chain, by name or by the address that exchanges know it by. */
export const isNative = (token: string): boolean => /^(native|0xe{40})$/i.test(token)

/** A word of 32 bytes, of a number or an address. */
export const word = (value: bigint | number | string): string => BigInt(value).toString(16).padStart(64, '0')

/** Bytes of any length behind the words, padded. */
const tail = (hex: string) => word(hex.length / 2) + hex.padEnd(Math.ceil(hex.length / 64) * 64, '0')

/** The words that a view returns; undefined where it reverts, returns nothing, or cannot be asked. */
export async function read(
  provider: Provider,
  to: string,
  name: Read,
  ...words: readonly (bigint | number | string)[]
): Promise<bigint[] | undefined> {
  return call(provider, to, `${selectors[name]}${words.map(word).join('')}`)
}

async function call(provider: Provider, to: string, data: string): Promise<bigint[] | undefined> {
  let answer: unknown
  try {
    answer = await ask(provider, 'eth_call', [{ to, data }, 'latest'])
  } catch {
    return undefined
  }
  if (typeof answer !== 'string' || !/^0x([0-9a-f]{64})+$/i.test(answer)) return undefined
  return (answer.slice(2).match(/.{64}/g) ?? []).map((each) => BigInt(`0x${each}`))
}

/** The balance of an account in a token; undefined where the node or the token does not say. */
export async function readBalance(provider: Provider, token: string, account: string): Promise<bigint | undefined> {
  if (!isNative(token)) return (await read(provider, token, 'balanceOf(address)', account))?.[0]
  try {
    return BigInt(String(await ask(provider, 'eth_getBalance', [account, 'latest'])))
  } catch {
    return undefined
  }
}

/** The address in a word; undefined for one that is too large, and for zero. */
export const addressOf = (value: bigint | undefined): string | undefined =>
  value !== undefined && value > 0n && value < 2n ** 160n ? `0x${value.toString(16).padStart(40, '0')}` : undefined

export const readAddress = async (provider: Provider, to: string, name: Read, ...words: (bigint | string)[]) =>
  addressOf((await read(provider, to, name, ...words))?.[0])

/** The decimals of tokens as each says them itself, by address; one that does not say them is left out. */
export async function readDecimals(
  provider: Provider,
  tokens: readonly (string | null | undefined)[],
): Promise<Record<string, number>> {
  const asked = tokens.filter((token) => token && !isNative(token)).map((token) => String(token).toLowerCase())
  const decimalsOf = async (token: string) =>
    [token, Number((await read(provider, token, 'decimals()'))?.[0] ?? -1)] as const
  const found = await Promise.all([...new Set(asked)].map(decimalsOf))
  return Object.fromEntries(found.filter(([, decimals]) => decimals >= 0 && decimals <= 77))
}

type Exchange = { quoter: string | null; v2: string | undefined; hub: string | null }

const fees = [100, 500, 3_000, 10_000]

/**
 * The most that the known exchanges give for an amount, straight or over one hub; undefined where there is no pool. The
 * route of a plan may be better, and is not asked: it is the word of the service.
 */
export async function quoteBest(
  provider: Provider,
  { quoter, v2, hub }: Exchange,
  { from, to, amount }: { from: string; to: string; amount: bigint },
): Promise<bigint | undefined> {
  const bare = (address: string) => address.slice(2).toLowerCase()
  const isHub = hub !== null && ![from, to].some((each) => bare(each) === bare(hub))
  const v3 = (...hops: (string | number)[]) => {
    const path = hops.map((hop) => (typeof hop === 'number' ? hop.toString(16).padStart(6, '0') : bare(hop))).join('')
    const data = `${selectors['quoteExactInput(bytes,uint256)']}${word(64)}${word(amount)}${tail(path)}`
    return quoter ? call(provider, quoter, data).then((words) => words?.[0]) : undefined
  }
  const pairs = (...path: string[]) => {
    const data = `${selectors['getAmountsOut(uint256,address[])']}${word(amount)}${word(64)}${word(path.length)}${path.map(word).join('')}`
    return v2 ? call(provider, v2, data).then((words) => words?.at(-1)) : undefined
  }
  const found = await Promise.all([
    ...fees.map((fee) => v3(from, fee, to)),
    pairs(from, to),
    ...(isHub
      ? [
          pairs(from, hub, to),
          ...fees.slice(1, 3).flatMap((one) => [500, 3_000].map((two) => v3(from, one, hub, two, to))),
        ]
      : []),
  ])
  const best = found.reduce<bigint>((most, each) => (each !== undefined && each > most ? each : most), 0n)
  return best > 0n ? best : undefined
}
