import { type AbiEvent, type Address, encodeFunctionData, erc4626Abi, isAddressEqual, parseAbi } from 'viem'
import { combine, mapRead, readAccount, readContract } from '../../rpc/multicall.js'
import type { DepositAsk, Trial, Vault, VaultCall, VaultKind, WithdrawAsk } from '../kind.js'

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
        call: buildRedeem(ask, 'redeem'),
      }),
    ),
  trial: buildTrial,
}

/** For every vault whose deposits or redemptions complete at once by ERC-4626. */
export function buildTrial(vault: Vault, wallet: Address, amount: bigint): Trial {
  return {
    deposit: buildDeposit({ vault, wallet, amount }),
    redeem: encodeFunctionData({ abi: erc4626Abi, functionName: 'redeem', args: [0n, wallet, wallet] }),
    sharesAt: 4n,
  }
}

/** `deposit(assets, receiver)`: the shares go to the wallet in this call. */
export function buildDeposit({ vault, wallet, amount }: Pick<DepositAsk, 'vault' | 'wallet' | 'amount'>): VaultCall {
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
  return { code: readAccount(vault.address), asset: readContract(vault.address, erc4626Abi, 'asset', []) }
}

/** Why a vault cannot be used at all. */
export function decideClosed(codeLength: bigint): string | undefined {
  return codeLength === 0n ? 'there is no contract at the address of the vault' : undefined
}

/** A contract that answers nothing that a vault answers. */
function decideSilent(...answers: readonly unknown[]): string | undefined {
  return answers.every((answer) => answer === undefined) ? 'the vault does not answer' : undefined
}

export function decideMismatch(vault: Vault, asset: Address | undefined): string | undefined {
  if (asset === undefined) return 'the vault does not say which token it takes'
  if (!isAddressEqual(asset, vault.asset)) return 'the vault now names another token than the one it is listed with'
  return undefined
}
