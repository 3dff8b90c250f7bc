import { type Address, encodeFunctionData, erc4626Abi, parseAbi } from 'viem'
import { combine, mapRead, type Read, readContract } from '../../rpc/multicall.js'
import { failing, type KnownError } from '../../rpc/revert.js'
import { making } from '../calls.js'
import { gasConstants } from '../gasConstants.js'
import type { Cooling, PlannedKind, Vault, VaultCall, WithdrawAsk, WithdrawOffer } from '../kind.js'
import {
  askErc4626,
  buildDeposit,
  buildRedeem,
  decideClosed,
  decideMismatch,
  erc4626,
  erc4626Calls,
  erc4626Emits,
  readErc4626Figures,
  readIdentity,
} from './erc4626.js'
import { erc4626Errors } from './erc4626Errors.js'

/** The functions of a staked token with a cooldown: starting it, taking out, the waiting amount and its duration. */
const stakedAbi = parseAbi([
  'function cooldownShares(uint256 shares) returns (uint256 assets)',
  'function unstake(address receiver)',
  'function cooldowns(address account) view returns (uint104 cooldownEnd, uint152 underlyingAmount)',
  'function cooldownDuration() view returns (uint24)',
  'function silo() view returns (address)',
])

const cooldownErrors: readonly KnownError[] = [
  failing('error InvalidCooldown()', 'the cooldown is not over', 'waiting'),
  failing(
    'error OperationNotAllowed()',
    'the vault serves this wallet no more, or allows this only with, or only without, a cooldown',
    'closed',
  ),
  failing('error ExcessiveRedeemAmount()', 'the wallet has fewer shares', 'capped'),
  failing('error ExcessiveWithdrawAmount()', 'the wallet has shares worth less', 'capped'),
  failing('error InvalidAmount()', 'the amount is too small: it would return nothing', 'tooSmall'),
  failing('error MinSharesViolation()', 'too few shares would be left in the vault', 'capped'),
  failing('error OnlyStakingVault()', 'only the vault takes from its silo'),
]

/**
 * Staked tokens with a cooldown (sUSDe, savUSD, sUSDf): ERC-4626 on the way in. On the way out `cooldownShares` burns the
 * shares at the price of then, its `Withdraw` names the silo as the receiver, and `unstake` takes out everything of the
 * wallet, once the cooldown is over. The withdrawal of the ledger is the first of the two: there the amount is fixed, and
 * the vault tells nothing of the second. A further cooldown makes what waits already wait anew, so what has cooled down is
 * taken out first. With a cooldown of 0 they are plain vaults of ERC-4626.
 */
export const cooldown: PlannedKind = {
  name: 'cooldown',
  summary: 'A staked token with a cooldown: redemptions burn the shares at once and are paid out after a wait.',
  asyncDeposit: false,
  asyncRedeem: false,
  readCooling,
  emits: erc4626Emits,
  calls: [
    ...erc4626Calls,
    making('function cooldownShares(uint256 shares)', 'withdraw', { shares: 'shares' }),
    making('function cooldownAssets(uint256 assets)', 'withdraw', { assets: 'assets' }),
  ],
  errors: [...cooldownErrors, ...erc4626Errors.filter(({ error }) => error.name !== 'OperationNotAllowed')],
  plans: {
    spender: (vault) => vault.address,
    deposit: erc4626.plans.deposit,
    withdraw,
    trial: (vault, wallet, amount) => ({
      deposit: buildDeposit({ vault, wallet, amount }),
      redeem: buildStart(vault, 0n),
      sharesAt: 4n,
      // Without a cooldown nothing can be started.
      instead: [
        {
          ...buildRedeem({ vault, wallet, shares: 0n, tokenOut: vault.asset, slippageBps: 0 }),
          onlyIf: mapRead(readContract(vault.address, stakedAbi, 'cooldownDuration', []), (wait) => wait === 0),
        },
      ],
    }),
  },
  readFigures: readErc4626Figures,
  recognise: (address) =>
    mapRead(
      combine({
        said: askErc4626(address),
        duration: readContract(address, stakedAbi, 'cooldownDuration', []),
        waiting: readContract(address, stakedAbi, 'cooldowns', [address]),
      }),
      ({ said: { found }, duration, waiting }) =>
        found && duration !== undefined && waiting !== undefined
          ? { ...found, notes: [describeWait(duration)] }
          : undefined,
    ),
}

function describeWait(seconds: number): string {
  return seconds === 0
    ? 'there is no cooldown at present'
    : `redemptions are paid ${seconds} seconds after they are asked for`
}

function readCooling(vault: Address, wallet: Address): Read<Cooling | undefined> {
  return mapRead(
    combine({
      silo: readContract(vault, stakedAbi, 'silo', []),
      duration: readContract(vault, stakedAbi, 'cooldownDuration', []),
      waiting: readContract(vault, stakedAbi, 'cooldowns', [wallet]),
    }),
    // Without a cooldown any more, what still waits may be taken out.
    ({ silo, duration, waiting }) =>
      silo && waiting && { silo, endsAt: duration === 0 ? 0n : waiting[0], assets: waiting[1] },
  )
}

function withdraw(ask: WithdrawAsk): Read<WithdrawOffer> {
  const { vault, wallet, shares } = ask
  return mapRead(
    combine({
      ...readIdentity(vault),
      held: readContract(vault.receiptToken, erc4626Abi, 'balanceOf', [wallet]),
      quoted: readContract(vault.address, erc4626Abi, 'previewRedeem', [shares]),
      duration: readContract(vault.address, stakedAbi, 'cooldownDuration', []),
      waiting: readContract(vault.address, stakedAbi, 'cooldowns', [wallet]),
    }),
    ({ code, asset, held, quoted, duration, waiting }) => {
      const closed =
        decideClosed(code.codeLength) ??
        (duration === undefined ? 'the vault does not say how long it waits' : undefined)
      const offer = { closed, mismatch: decideMismatch(vault, asset), max: undefined, quoted, assets: quoted }
      const redeem = duration === 0 ? buildRedeem(ask) : buildStart(vault, shares)
      const cooling = waiting?.[1] ?? 0n
      if (cooling === 0n) return { ...offer, available: held, call: redeem }
      const take = { ...offer, assets: cooling, available: shares, call: buildTake(vault, wallet) }
      return held !== undefined && held >= shares ? { ...take, instead: { call: redeem } } : take
    },
  )
}

/** `cooldownShares(shares)`: the shares are burned now, the assets wait. */
function buildStart(vault: Vault, shares: bigint): VaultCall {
  return {
    to: vault.address,
    data: encodeFunctionData({ abi: stakedAbi, functionName: 'cooldownShares', args: [shares] }),
    value: 0n,
    says: ({ amount, vault, out, receiver }) =>
      `Redeem ${amount} at ${vault}; the ${out} enters a cooldown, and ${receiver} withdraws it afterwards. Amounts already in cooldown start again from zero.`,
    gasConstant: gasConstants.startCooldown,
    spends: { token: vault.receiptToken, amount: shares },
    gains: undefined,
  }
}

/** `unstake(receiver)`: all of the wallet that has cooled down. */
function buildTake(vault: Vault, wallet: Address): VaultCall {
  return {
    to: vault.address,
    data: encodeFunctionData({ abi: stakedAbi, functionName: 'unstake', args: [wallet] }),
    value: 0n,
    says: ({ vault, out, receiver }) =>
      `Withdraw all ${out} whose cooldown at ${vault} has ended; it goes to ${receiver}.`,
    gasConstant: gasConstants.takeCooled,
    spends: undefined,
    gains: vault.asset,
  }
}
