import { type Address, isAddressEqual } from 'viem'
import { type Ask, type Hints, named, type Shape } from './hints.js'

/**
 * A vault of Midas: a deposit or redemption vault, which name their mToken, or the mToken itself, which names none of them. It is listed at
 * the mToken, which all of them share.
 */
export function findMidas(address: Address, hints: Hints): Shape | undefined {
  const { mToken, mTokenDataFeed, paymentTokens, requestRedeemer, accessControl, metadata } = hints
  const served = 'no plan is built for it, and its shares are watched'
  if (mToken !== undefined && mTokenDataFeed !== undefined) {
    const what = requestRedeemer === undefined ? 'issued' : 'redeemed'
    const note = `a token of Midas: it is ${what} at ${address}, mostly for listed wallets; ${served}`
    return { address: mToken, recognised: { asset: paymentTokens?.[0] ?? mToken, receiptToken: mToken, notes: [note] } }
  }
  if (accessControl === undefined || metadata === undefined) return undefined
  const note = `by its views a token of Midas, which does not say where it is issued or what for: set its asset by hand; ${served}`
  return { address, recognised: { asset: address, receiptToken: address, notes: [note] } }
}

/** A vault of Aera: of its third version the units have a provisioner, which names the vault; the second has an owner and no shares. */
export async function findAera(ask: Ask, address: Address, hints: Hints): Promise<Shape | undefined> {
  const { provisioner, multiDepositorVault, assetRegistry, guardian } = hints
  if (provisioner === undefined && multiDepositorVault === undefined) {
    if (assetRegistry === undefined || guardian === undefined) return undefined
    const why = `${address} is a vault of Aera's second version: it has one owner and no shares, so there is nothing to list`
    return { address: undefined, why }
  }
  const vault = multiDepositorVault ?? address
  const again =
    provisioner === undefined
      ? await ask(named(vault, 'provisioner'))
      : await ask(named(provisioner, 'MULTI_DEPOSITOR_VAULT'))
  if (again === undefined || !isAddressEqual(again, address)) return undefined
  const note = `a vault of Aera with many depositors: units are bought and requested back at its provisioner ${provisioner ?? address}, and it does not say in what they are priced: set its asset by hand; no plan is built for it, and its units are watched`
  return { address: vault, recognised: { asset: vault, receiptToken: vault, notes: [note] } }
}

/** A vault of Upshift for several tokens, whose shares are a token of their own. */
export function findUpshift(address: Address, { asset, lpToken, lag }: Hints): Shape | undefined {
  if (asset === undefined || lpToken === undefined || lag === undefined) return undefined
  const note = `a vault of Upshift: redemptions are requested and claimed ${lag} seconds later by their date; no plan is built for it, and its shares ${lpToken} are watched`
  return { address, recognised: { asset, receiptToken: lpToken, notes: [note] } }
}

/** The token of Lido whose balances stand still, wstETH: it wraps the one whose balances grow. */
export function findWrappedStake(address: Address, { stEth, stEthPerToken }: Hints): Shape | undefined {
  if (stEth === undefined || stEthPerToken === undefined) return undefined
  const note = `wraps the token ${stEth} of Lido, whose balances grow: no plan is built for it, no price is read of it, and its balances are watched; list a vault over it to serve deposits`
  return { address, recognised: { asset: stEth, receiptToken: address, notes: [note] } }
}
