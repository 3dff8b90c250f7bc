import { type AbiEvent, type Address, encodeFunctionData, erc4626Abi, isAddressEqual, parseAbi } from 'viem'
import { account, reading, together, view } from '../chain/question.js'
import type { DepositAsk, Vault, VaultCall, VaultKind, WithdrawAsk } from './kind.js'

/** What every ERC-4626 vault emits, and the asynchronous ones too. */
export const erc4626Events: readonly AbiEvent[] = parseAbi([
  'event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares)',
  'event Withdraw(address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares)',
])

/** Gas limits for when no estimate can be had: what a vault that invests on deposit may need. */
const gasConstants = { deposit: 600_000n, redeem: 900_000n }

/** Synchronous vaults of ERC-4626: `deposit` and `redeem` in one transaction each. */
export const erc4626: VaultKind = {
  name: 'erc4626',
  summary: 'ERC-4626: deposits and redemptions complete in the transaction itself.',
  asyncDeposit: false,
  asyncRedeem: false,
  events: erc4626Events,
  errors: [],
  spender: (vault) => vault.address,
  deposit: (ask) =>
    reading(
      together({
        ...readIdentity(ask.vault),
        max: view(ask.vault.address, erc4626Abi, 'maxDeposit', [ask.wallet]),
        quoted: view(ask.vault.address, erc4626Abi, 'previewDeposit', [ask.amount]),
      }),
      ({ code, asset, max, quoted }) => ({
        closed: decideClosed(code.codeLength, max, 'deposits'),
        mismatch: decideMismatch(ask.vault, asset),
        max,
        quoted,
        call: buildDeposit(ask),
      }),
    ),
  withdraw: (ask) =>
    reading(
      together({
        ...readIdentity(ask.vault),
        held: view(ask.vault.receiptToken, erc4626Abi, 'balanceOf', [ask.wallet]),
        max: view(ask.vault.address, erc4626Abi, 'maxRedeem', [ask.wallet]),
        quoted: view(ask.vault.address, erc4626Abi, 'previewRedeem', [ask.shares]),
      }),
      ({ code, asset, held, max, quoted }) => ({
        // maxRedeem is bounded by what the wallet holds; only what is lower than that is the vault's own limit.
        closed: decideClosed(code.codeLength, max === 0n && !held ? 1n : max, 'withdrawals'),
        mismatch: decideMismatch(ask.vault, asset),
        max: max !== undefined && held !== undefined && max >= held ? undefined : max,
        quoted,
        available: held,
        assets: quoted,
        call: buildRedeem(ask, 'redeem'),
      }),
    ),
}

/** `deposit(assets, receiver)`: the shares go to the wallet in this call. */
export function buildDeposit({ vault, wallet, amount }: DepositAsk): VaultCall {
  return {
    to: vault.address,
    data: encodeFunctionData({ abi: erc4626Abi, functionName: 'deposit', args: [amount, wallet] }),
    value: 0n,
    verb: 'deposit',
    gasConstant: gasConstants.deposit,
    spends: { token: vault.asset, amount },
    gains: vault.receiptToken,
  }
}

/** `redeem(shares, receiver, owner)`, for the wallet itself; of an asynchronous vault it claims what was settled. */
export function buildRedeem({ vault, wallet, shares }: WithdrawAsk, verb: 'redeem' | 'claimRedeem'): VaultCall {
  return {
    to: vault.address,
    data: encodeFunctionData({ abi: erc4626Abi, functionName: 'redeem', args: [shares, wallet, wallet] }),
    value: 0n,
    verb,
    gasConstant: gasConstants.redeem,
    spends: verb === 'redeem' ? { token: vault.receiptToken, amount: shares } : undefined,
    gains: vault.asset,
  }
}

/** The reads that tell whether there is a vault and whether it is the one configured. */
export function readIdentity(vault: Vault) {
  return { code: account(vault.address), asset: view(vault.address, erc4626Abi, 'asset', []) }
}

/** Why a vault cannot be used now; `max` undefined means that it does not answer. */
export function decideClosed(codeLength: bigint, max: bigint | undefined, what: string): string | undefined {
  if (codeLength === 0n) return 'there is no contract at the address of the vault'
  if (max === undefined) return `the vault does not answer how many ${what} it takes`
  if (max === 0n) return `the vault takes no ${what} from this wallet at present`
  return undefined
}

export function decideMismatch(vault: Vault, asset: Address | undefined): string | undefined {
  if (asset === undefined) return 'the vault does not say which token it takes'
  if (!isAddressEqual(asset, vault.asset)) return 'the vault now names another token than the one it is listed with'
  return undefined
}
