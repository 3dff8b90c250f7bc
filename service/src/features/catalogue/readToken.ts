import { type Address, erc20Abi, type Hex, hexToString, isHex } from 'viem'
import { bytesTextAbi } from '../../rpc/abis.js'
import { combine, mapRead, type Read, readAccount, readContract } from '../../rpc/multicall.js'
import { cleanTokenText, textLengths } from './import/cleanText.js'
import type { TokenRecord } from './records.js'

/** Most decimals a token may have: more are nobody's, and no amount of them can be shown. */
const decimalsMax = 36

/** Reads the metadata of a token; undefined if the address is no ERC-20. The texts come from a stranger and are cleaned. */
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
