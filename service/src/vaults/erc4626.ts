import { type AbiEvent, type Address, encodeFunctionData, erc4626Abi, isAddressEqual, parseAbi } from 'viem'
import { account, type Question, reading, together, view } from '../chain/question.js'
import type { Terms, Vault, VaultKind } from './kind.js'

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
  events: erc4626Events,
  errors: [],
  readDeposit: ({ vault, wallet, amount }) =>
    reading(
      together({
        ...readIdentity(vault),
        max: view(vault.address, erc4626Abi, 'maxDeposit', [wallet]),
        quoted: view(vault.address, erc4626Abi, 'previewDeposit', [amount]),
      }),
      ({ code, asset, max, quoted }): Terms => ({
        closed: decideClosed(code.codeLength, max, 'deposits'),
        mismatch: decideMismatch(vault, asset),
        max,
        quoted,
      }),
    ),
  buildDeposit: ({ vault, wallet, amount }) => ({
    to: vault.address,
    data: encodeFunctionData({ abi: erc4626Abi, functionName: 'deposit', args: [amount, wallet] }),
    value: 0n,
    spender: vault.address,
    verb: 'deposit',
    gasConstant: gasConstants.deposit,
  }),
  readWithdraw: ({ vault, wallet, shares }) =>
    reading(
      together({
        ...readIdentity(vault),
        held: view(vault.receiptToken, erc4626Abi, 'balanceOf', [wallet]),
        max: view(vault.address, erc4626Abi, 'maxRedeem', [wallet]),
        quoted: view(vault.address, erc4626Abi, 'previewRedeem', [shares]),
      }),
      ({ code, asset, held, max, quoted }): Terms => ({
        // maxRedeem is bounded by what the wallet holds; only what is lower than that is the vault's own limit.
        closed: decideClosed(code.codeLength, max === 0n && !held ? 1n : max, 'withdrawals'),
        mismatch: decideMismatch(vault, asset),
        max: max !== undefined && held !== undefined && max >= held ? undefined : max,
        quoted,
      }),
    ),
  buildWithdraw: ({ vault, wallet, shares }) => ({
    to: vault.address,
    data: encodeFunctionData({ abi: erc4626Abi, functionName: 'redeem', args: [shares, wallet, wallet] }),
    value: 0n,
    spender: undefined,
    verb: 'redeem',
    gasConstant: gasConstants.redeem,
  }),
}

/** The reads that tell whether there is a vault and whether it is the one configured. */
export function readIdentity(vault: Vault) {
  return { code: account(vault.address), asset: readAsset(vault) }
}

function readAsset(vault: Vault): Question<Address | undefined> {
  return view(vault.address, erc4626Abi, 'asset', [])
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
