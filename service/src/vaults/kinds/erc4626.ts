import { type Address, encodeFunctionData, erc20Abi, erc4626Abi, isAddressEqual, parseAbi } from 'viem'
import { combine, mapRead, type Read, readAccount, readContract } from '../../rpc/multicall.js'
import { type MakingCall, making } from '../calls.js'
import { type EmittedEvent, emitted } from '../events.js'
import { gasConstants } from '../gasConstants.js'
import type {
  DepositAsk,
  FiguresAnswer,
  ObservedVault,
  PlannedKind,
  Recognised,
  Trial,
  Vault,
  VaultCall,
  WithdrawAsk,
} from '../kind.js'
import { anybody, extraDigits } from '../reading.js'
import { sayDeposit, sayRedeem } from '../sentences.js'
import { erc4626Errors } from './erc4626Errors.js'

/** Events of every ERC-4626 vault, and of the asynchronous ones too. */
export const erc4626Emits: readonly EmittedEvent[] = [
  emitted(
    'event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares)',
    ({ sender, owner, assets, shares }) => ({ kind: 'deposit', sender, owner, assets, shares }),
  ),
  emitted(
    'event Withdraw(address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares)',
    ({ sender, receiver, owner, assets, shares }) => ({ kind: 'withdraw', sender, receiver, owner, assets, shares }),
  ),
]

/** Calls of every ERC-4626 vault, and of the asynchronous ones too. */
export const erc4626Calls: readonly MakingCall[] = [
  making('function deposit(uint256 assets, address receiver)', 'deposit', { assets: 'assets', owner: 'receiver' }),
  making('function mint(uint256 shares, address receiver)', 'deposit', { shares: 'shares', owner: 'receiver' }),
  making('function withdraw(uint256 assets, address receiver, address owner)', 'withdraw', {
    assets: 'assets',
    owner: 'owner',
  }),
  making('function redeem(uint256 shares, address receiver, address owner)', 'withdraw', {
    shares: 'shares',
    owner: 'owner',
  }),
]

const shareAbi = parseAbi([
  'function share() view returns (address)',
  'function supportsInterface(bytes4 id) view returns (bool)',
])

/** Synchronous vaults of ERC-4626: `deposit` and `redeem` in one transaction each. */
export const erc4626: PlannedKind = {
  name: 'erc4626',
  summary: 'ERC-4626: deposits and redemptions complete in the transaction itself.',
  asyncDeposit: false,
  asyncRedeem: false,
  routed: true,
  emits: erc4626Emits,
  calls: erc4626Calls,
  errors: erc4626Errors,
  plans: {
    spender: (vault) => vault.address,
    deposit: (ask) =>
      mapRead(
        combine({
          ...readIdentity(ask.vault),
          max: readContract(ask.vault.address, erc4626Abi, 'maxDeposit', [ask.wallet]),
          quoted: readContract(ask.vault.address, erc4626Abi, 'previewDeposit', [ask.amount]),
        }),
        ({ code, asset, max, quoted }) => ({
          closed: decideClosed(code.codeLength) ?? decideSilent(asset, max, quoted),
          mismatch: decideMismatch(ask.vault, asset),
          max,
          quoted,
          call: buildDeposit(ask),
        }),
      ),
    withdraw: (ask) =>
      mapRead(
        combine({
          ...readIdentity(ask.vault),
          held: readContract(ask.vault.receiptToken, erc4626Abi, 'balanceOf', [ask.wallet]),
          max: readContract(ask.vault.address, erc4626Abi, 'maxRedeem', [ask.wallet]),
          quoted: readContract(ask.vault.address, erc4626Abi, 'previewRedeem', [ask.shares]),
        }),
        ({ code, asset, held, max, quoted }) => ({
          closed: decideClosed(code.codeLength) ?? decideSilent(asset, max, quoted),
          mismatch: decideMismatch(ask.vault, asset),
          max,
          quoted,
          available: held,
          assets: quoted,
          call: buildRedeem(ask),
        }),
      ),
    trial: buildTrial,
  },
  readFigures: readErc4626Figures,
  recognise: (address) =>
    mapRead(askErc4626(address), ({ found, asyncDeposit, asyncRedeem }) =>
      asyncDeposit || asyncRedeem ? undefined : found,
    ),
}

/** ERC-165 ids: which sides of a vault are asynchronous, and whether a pending deposit can be cancelled. */
export const interfaceIds = {
  asyncDeposit: '0xce3bbe50',
  asyncRedeem: '0x620ee8e4',
  cancelDeposit: '0x8bf840e3',
} as const

type Erc4626Answer = { found: Recognised | undefined; asyncDeposit: boolean; asyncRedeem: boolean }

/** Whether an address has the views of an ERC-4626 vault, and which sides it reports as asynchronous. */
export function askErc4626(address: Address): Read<Erc4626Answer> {
  const supports = (id: `0x${string}`) => readContract(address, shareAbi, 'supportsInterface', [id])
  return mapRead(
    combine({
      asset: readContract(address, erc4626Abi, 'asset', []),
      totalAssets: readContract(address, erc4626Abi, 'totalAssets', []),
      share: readContract(address, shareAbi, 'share', []),
      asyncDeposit: supports(interfaceIds.asyncDeposit),
      asyncRedeem: supports(interfaceIds.asyncRedeem),
    }),
    ({ asset, totalAssets, share, ...sides }) => ({
      found: asset === undefined || totalAssets === undefined ? undefined : { asset, receiptToken: share ?? address },
      asyncDeposit: sides.asyncDeposit === true,
      asyncRedeem: sides.asyncRedeem === true,
    }),
  )
}

/** Reads the holdings of a vault, and the worth of a share by `convertToAssets`. */
export function readErc4626Figures(vault: ObservedVault): Read<FiguresAnswer> {
  const address = vault.address as Address
  const fine = vault.receiptDecimals + extraDigits
  const price = (exponent: number) => readContract(address, erc4626Abi, 'convertToAssets', [10n ** BigInt(exponent)])
  return mapRead(
    combine({
      maxDeposit: readContract(address, erc4626Abi, 'maxDeposit', [anybody]),
      totalAssets: readContract(address, erc4626Abi, 'totalAssets', []),
      totalSupply: readContract(vault.receiptToken as Address, erc20Abi, 'totalSupply', []),
      finePrice: price(fine),
      coarsePrice: price(vault.receiptDecimals),
    }),
    ({ maxDeposit, totalAssets, totalSupply, finePrice, coarsePrice }) => {
      const priceNumerator = finePrice ?? coarsePrice
      const complete = totalAssets !== undefined && totalSupply !== undefined && priceNumerator !== undefined
      const priceExponent = finePrice === undefined ? vault.receiptDecimals : fine
      return { maxDeposit, figures: complete ? { totalAssets, totalSupply, priceNumerator, priceExponent } : undefined }
    },
  )
}

/** For every vault whose deposits or redemptions complete at once by ERC-4626. */
export function buildTrial(vault: Vault, wallet: Address, amount: bigint): Trial {
  return {
    deposit: buildDeposit({ vault, wallet, amount }),
    redeem: {
      to: vault.address,
      data: encodeFunctionData({ abi: erc4626Abi, functionName: 'redeem', args: [0n, wallet, wallet] }),
      gains: vault.asset,
    },
    sharesAt: 4n,
  }
}

/** `deposit(assets, receiver)`: the shares go to the wallet in this call. */
export function buildDeposit({ vault, wallet, amount }: Pick<DepositAsk, 'vault' | 'wallet' | 'amount'>): VaultCall {
  return {
    to: vault.address,
    data: encodeFunctionData({ abi: erc4626Abi, functionName: 'deposit', args: [amount, wallet] }),
    value: 0n,
    says: sayDeposit,
    gasConstant: gasConstants.deposit,
    spends: { token: vault.asset, amount },
    gains: vault.receiptToken,
  }
}

/** `redeem(shares, receiver, owner)`, for the wallet itself. */
export function buildRedeem({ vault, wallet, shares }: WithdrawAsk): VaultCall {
  return {
    to: vault.address,
    data: encodeFunctionData({ abi: erc4626Abi, functionName: 'redeem', args: [shares, wallet, wallet] }),
    value: 0n,
    says: sayRedeem,
    gasConstant: gasConstants.redeem,
    spends: { token: vault.receiptToken, amount: shares },
    gains: vault.asset,
  }
}

/** The reads that tell whether there is a vault and whether it is the one configured. */
export function readIdentity(vault: Vault) {
  return { code: readAccount(vault.address), asset: readContract(vault.address, erc4626Abi, 'asset', []) }
}

/** Why a vault cannot be used at all. */
export function decideClosed(codeLength: bigint): string | undefined {
  return codeLength === 0n ? 'there is no contract at the address of the vault' : undefined
}

/** Refuses a contract without any response of a vault. */
function decideSilent(...answers: readonly unknown[]): string | undefined {
  return answers.every((answer) => answer === undefined) ? 'the vault does not answer' : undefined
}

export function decideMismatch(vault: Vault, asset: Address | undefined): string | undefined {
  if (asset === undefined) return 'the vault does not say which token it takes'
  if (!isAddressEqual(asset, vault.asset)) return 'the vault now names another token than the one it is listed with'
  return undefined
}
