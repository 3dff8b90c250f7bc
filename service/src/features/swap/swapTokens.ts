import { type Address, erc20Abi, type Hex, hexToString, isHex, parseAbi } from 'viem'
import { invalidArgument } from '../../kernel/errors.js'
import { findPrices } from '../../prices/index.js'
import { combine, combineAll, mapRead, type Read, readAccount, readContract } from '../../rpc/multicall.js'
import { nativeToken } from '../../rpc/native.js'
import {
  type CatalogueSnapshot,
  type ChainRecord,
  cleanTokenText,
  findToken,
  formatAddress,
  getNativeToken,
  type TokenRecord,
  textLengths,
} from '../catalogue/index.js'
import { type ActionContext, refuse } from '../plans/index.js'
import type { SwapTokenBody } from './schema.js'

const native = nativeToken.toLowerCase()

export const isNative = ({ address }: Pick<TokenRecord, 'address'>): boolean => address === native

/** The address a caller means. */
export function parseToken(text: string): string {
  return text === 'native' ? native : text.toLowerCase()
}

export function assertDifferent(tokenIn: string, tokenOut: string): void {
  if (tokenIn !== tokenOut) return
  throw invalidArgument('tokenOut must be another token than tokenIn')
}

/** Most decimals a token may have: more are nobody's, and no amount of them can be shown. */
const decimalsMax = 36

const bytesTextAbi = parseAbi(['function symbol() view returns (bytes32)', 'function name() view returns (bytes32)'])

/** What a token says of itself; undefined where there is no ERC-20. Its text is a stranger's, and cleaned. */
export function readToken(chainId: number, address: string): Read<TokenRecord | undefined> {
  const to = address as Address
  const read = combine({
    account: readAccount(to),
    decimals: readContract(to, erc20Abi, 'decimals', []),
    supply: readContract(to, erc20Abi, 'totalSupply', []),
    symbol: readText(to, 'symbol', textLengths.symbol),
    name: readText(to, 'name', textLengths.name),
  })
  return mapRead(read, ({ account, decimals, supply, symbol, name }) => {
    if (account.codeLength === 0n || supply === undefined) return undefined
    if (decimals === undefined || decimals > decimalsMax) return undefined
    return {
      ...{ chainId, address, decimals, symbol: symbol || '?', name: name || symbol || '?', logoUrl: '', active: true },
      ...{
        pegUsd: null,
        priceFeed: null,
        priceVault: null,
        priceId: null,
        unsupportedReason: '',
        isAllowedRewardToken: false,
      },
      // Nobody said: a reset too many does no harm.
      approvalReset: true,
    }
  })
}

/** Text, or the 32 bytes the oldest tokens answer. */
function readText(to: Address, name: 'symbol' | 'name', lengthMax: number): Read<string> {
  const asText = readContract(to, erc20Abi, name, [])
  const asBytes = readContract(to, bytesTextAbi, name, [])
  return {
    reads: asText.reads,
    answer: (results) => {
      const text = asText.answer(results) ?? readBytes(asBytes.answer(results))
      return cleanTokenText(text, lengthMax)
    },
  }
}

const readBytes = (bytes: Hex | undefined) => (isHex(bytes) ? hexToString(bytes, { size: 32 }) : '')

/** A token of a swap: as the catalogue knows it, else as it describes itself; refused where it cannot be swapped. */
export function readSwapToken(snapshot: CatalogueSnapshot, chainId: number, address: string): Read<TokenRecord> {
  if (address === native) return { reads: [], answer: () => getNativeToken(snapshot, chainId) }
  const known = findToken(snapshot, chainId, address)
  if (!known)
    return mapRead(readToken(chainId, address), (token) => {
      if (!token) throw unsupported(address, 'there is no ERC-20 token at this address')
      return token
    })
  return mapRead(readAccount(address as Address), ({ codeLength }) => {
    if (codeLength === 0n) throw unsupported(address, 'there is no token at this address')
    if (!known.active) throw unsupported(address, 'the operator has switched this token off')
    if (known.unsupportedReason !== '') throw unsupported(address, known.unsupportedReason)
    return known
  })
}

/** What a wallet has of a token, and what each of the spenders may take of it. */
export type Funds = { balance: bigint; allowanceOf(spender: Address | undefined): bigint }

export function readFunds(wallet: Address, token: string, spenders: readonly Address[]): Read<Funds> {
  const to = token as Address
  const isErc20 = token !== native
  const read = combine({
    account: readAccount(wallet),
    held: combineAll(isErc20 ? [readContract(to, erc20Abi, 'balanceOf', [wallet])] : []),
    allowances: combineAll(
      isErc20 ? spenders.map((spender) => readContract(to, erc20Abi, 'allowance', [wallet, spender])) : [],
    ),
  })
  return mapRead(read, ({ account, held, allowances }) => ({
    balance: isErc20 ? (held[0] ?? 0n) : account.balance,
    allowanceOf: (spender) => (spender === undefined ? 0n : (allowances[spenders.indexOf(spender)] ?? 0n)),
  }))
}

function unsupported(address: string, why: string) {
  return refuse('TOKEN_UNSUPPORTED', `${formatAddress(address)} cannot be swapped: ${why}`)
}

/** Prices of tokens of one chain by address; the native token has that of the one that wraps it, if it has none. */
export async function findSwapPrices(
  { db, clock }: ActionContext,
  { chainId, wrappedNative }: ChainRecord,
  tokens: readonly TokenRecord[],
): Promise<(token: TokenRecord) => string | undefined> {
  const addresses = [...new Set([...tokens.map(({ address }) => address), ...(wrappedNative ? [wrappedNative] : [])])]
  const prices = await findPrices(db, chainId, addresses, clock.now())
  return (token) => {
    const own = prices.get(token.address) ?? (isNative(token) ? prices.get(wrappedNative ?? '') : undefined)
    return own?.priceUsd
  }
}

export function toSwapToken(token: TokenRecord, priceUsd: string | undefined): SwapTokenBody {
  const { address, chainId, symbol, name, decimals, logoUrl } = token
  return {
    address: formatAddress(address),
    chainId: String(chainId),
    ...{ symbol, name, decimals, isNative: isNative(token), logoUrl, priceUsd: Number(priceUsd ?? 0) },
  }
}
