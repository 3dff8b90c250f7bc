import { encodeFunctionData } from 'viem'
import { wrappedAbi } from '../../rpc/abis.js'
import { nativeToken } from '../../rpc/native.js'
import { type CatalogueSnapshot, getNativeToken, type OpportunityRecord, type TokenRecord } from '../catalogue/index.js'
import type { Step } from '../plans/index.js'
import { describeWrapping, refuse } from '../plans/index.js'

/** The token a wallet gives, and the one that enters the vault: another one where the native token is wrapped first. */
export type DepositToken = { given: TokenRecord; entering: TokenRecord; wraps: boolean }

/** Gas limit of wrapping when no estimate can be had. */
const wrapGas = 100_000n

/** The token if a direct deposit takes it; the native token where the vault takes the chain's wrapped one. */
export function getDepositToken(
  snapshot: CatalogueSnapshot,
  opportunity: OpportunityRecord,
  text: string,
  severalTokens: boolean,
): DepositToken {
  const native = nativeToken.toLowerCase()
  const address = text === 'native' ? native : text.toLowerCase()
  const { chainId, vault, depositTokens } = opportunity
  const wrapped = snapshot.chains.get(chainId)?.wrappedNative
  const direct = depositTokens.filter(
    (token) => token.chainId === chainId && (severalTokens || token.address === vault.asset),
  )
  const wraps = address === native && wrapped !== null
  const asset = direct.find((token) => token.address === (wraps ? wrapped : address))
  if (!asset) {
    const accepted = depositTokens.map(({ symbol }) => symbol).join(', ')
    throw refuse('TOKEN_NOT_ACCEPTED', `this opportunity does not take that token; it takes ${accepted || 'none'}`)
  }
  if (asset.unsupportedReason !== '')
    throw refuse('TOKEN_UNSUPPORTED', `${asset.symbol} cannot be deposited: ${asset.unsupportedReason}`)
  return { given: wraps ? getNativeToken(snapshot, chainId) : asset, entering: asset, wraps }
}

/** The step that wraps the native token into what enters the vault. */
export function buildWrap({ given, entering }: DepositToken, amount: bigint): Step {
  return {
    type: 'swap',
    description: describeWrapping('Wrap', amount, { token: given, out: entering }),
    call: {
      to: toHexAddress(entering.address),
      data: encodeFunctionData({ abi: wrappedAbi, functionName: 'deposit' }),
      value: amount,
    },
    gasConstant: wrapGas,
  }
}

function toHexAddress(address: string): `0x${string}` {
  return `0x${address.slice(2)}`
}
