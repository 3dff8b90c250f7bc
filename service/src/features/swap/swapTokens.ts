import { type Address, erc20Abi } from 'viem'
import { invalidArgument } from '../../kernel/errors.js'
import { findPrices } from '../../prices/index.js'
import { combine, combineAll, mapRead, type Read, readAccount, readContract } from '../../rpc/multicall.js'
import { nativeToken } from '../../rpc/native.js'
import { formatAddress } from '../../wallets/format.js'
import {
  type CatalogueSnapshot,
  type ChainRecord,
  findToken,
  getNativeToken,
  readToken,
  type TokenRecord,
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

/** A wallet's balance of a token, and its allowance for each of the spenders. */
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
