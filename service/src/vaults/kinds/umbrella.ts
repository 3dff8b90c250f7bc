import { type Address, erc4626Abi, parseAbi } from 'viem'
import { combine, mapRead, type Read, readContract } from '../../rpc/multicall.js'
import { failing, type KnownError } from '../../rpc/revert.js'
import type { PlannedKind, Recognised, WithdrawAsk, WithdrawOffer } from '../kind.js'
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
import { offerInWindow } from './windowStake.js'

const umbrellaAbi = parseAbi([
  'struct Started { uint192 amount; uint32 endOfCooldown; uint32 withdrawalWindow; }',
  'function getStakerCooldown(address user) view returns (Started)',
  'function getCooldown() view returns (uint256)',
  'function getUnstakeWindow() view returns (uint256)',
])

const umbrellaErrors: readonly KnownError[] = [
  failing('error ZeroBalanceInStaking()', 'the wallet has no shares that could cool down', 'capped'),
  failing(
    'error NotApprovedForCooldown(address owner, address spender)',
    'only the owner of the shares, or whom it allowed to, starts their cooldown',
  ),
  failing('error ZeroAmountSlashing()', 'a slashing takes some amount'),
  failing('error ZeroFundsAvailable()', 'the stake has nothing left that could be slashed'),
]

/**
 * Stakes of Aave's Umbrella (stkwaUSDC and its like): ERC-4626 on the way in. On the way out `cooldown` counts for all shares
 * of the wallet, and as many may be redeemed, as ERC-4626 does, while the window after it is open. Wait and window are kept
 * with the cooldown, so a change of either counts for those started later. Before the window and after it `maxRedeem` is 0. A
 * slashing takes from all alike and closes nothing.
 */
export const umbrella: PlannedKind = {
  name: 'umbrella',
  summary: 'An ERC-4626 stake of Umbrella: shares are redeemed in the window that a cooldown opens.',
  asyncDeposit: false,
  asyncRedeem: false,
  redeemsLater: true,
  emits: erc4626Emits,
  calls: erc4626Calls,
  errors: [...umbrellaErrors, ...erc4626Errors],
  plans: {
    spender: (vault) => vault.address,
    deposit: erc4626.plans.deposit,
    withdraw,
    // A window opens with time alone, which a trial in one block has none of.
    trial: (vault, wallet, amount) => ({
      deposit: buildDeposit({ vault, wallet, amount }),
      redeem: { to: vault.address, data: '0x', gains: vault.asset },
      sharesAt: 0n,
    }),
  },
  readFigures: readErc4626Figures,
  recognise,
}

function withdraw(ask: WithdrawAsk): Read<WithdrawOffer> {
  const { vault, wallet, shares } = ask
  const { reads, answer } = combine({
    ...readIdentity(vault),
    started: readContract(vault.address, umbrellaAbi, 'getStakerCooldown', [wallet]),
    held: readContract(vault.receiptToken, erc4626Abi, 'balanceOf', [wallet]),
    quoted: readContract(vault.address, erc4626Abi, 'previewRedeem', [shares]),
  })
  return {
    reads,
    answer: (results, timestamp) => {
      const { code, asset, started, held, quoted } = answer(results)
      const closed =
        decideClosed(code.codeLength) ??
        (started === undefined ? 'the stake does not say which cooldown runs' : undefined)
      const offer = {
        ...{ closed, mismatch: decideMismatch(vault, asset), max: undefined, quoted, assets: quoted, available: held },
      }
      const { amount, endOfCooldown: opensAt, withdrawalWindow } = started ?? nothing
      const begun = { amount, opensAt, closesAt: opensAt + withdrawalWindow }
      return offerInWindow(offer, { ask, begun, timestamp, redeem: buildRedeem(ask) })
    },
  }
}

const nothing = { amount: 0n, endOfCooldown: 0, withdrawalWindow: 0 }

function recognise(address: Address): Read<Recognised | undefined> {
  return mapRead(
    combine({
      said: askErc4626(address),
      wait: readContract(address, umbrellaAbi, 'getCooldown', []),
      window: readContract(address, umbrellaAbi, 'getUnstakeWindow', []),
      started: readContract(address, umbrellaAbi, 'getStakerCooldown', [address]),
    }),
    ({ said: { found }, wait, window, started }) => {
      if (!found || wait === undefined || window === undefined || !started) return undefined
      const note = `shares are redeemed from ${wait} to ${wait + window} seconds after a cooldown was started, and not tried here`
      return { ...found, notes: [note] }
    },
  )
}
