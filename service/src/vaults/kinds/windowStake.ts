import { type Address, encodeFunctionData, erc20Abi, parseAbi } from 'viem'
import { combine, mapRead, type Read, readAccount, readContract } from '../../rpc/multicall.js'
import { making } from '../calls.js'
import { emitted } from '../events.js'
import { gasConstants } from '../gasConstants.js'
import type {
  DepositAsk,
  FiguresAnswer,
  ObservedVault,
  Offer,
  PlannedKind,
  Recognised,
  Vault,
  VaultCall,
  WithdrawAsk,
  WithdrawOffer,
} from '../kind.js'
import { extraDigits } from '../reading.js'
import { sayDeposit, sayRedeem } from '../sentences.js'
import { decideClosed, decideMismatch } from './erc4626.js'

const stakeAbi = parseAbi([
  'function stake(address to, uint256 amount)',
  'function cooldown()',
  'function redeem(address to, uint256 amount)',
  'function STAKED_TOKEN() view returns (address)',
  'function UNSTAKE_WINDOW() view returns (uint256)',
  'function getCooldownSeconds() view returns (uint256)',
  'function stakersCooldowns(address account) view returns (uint40 timestamp, uint216 amount)',
  'function inPostSlashingPeriod() view returns (bool)',
  'function getExchangeRate() view returns (uint216)',
  'function previewStake(uint256 assets) view returns (uint256)',
  'function previewRedeem(uint256 shares) view returns (uint256)',
])

const rateUnit = 10n ** 18n

/**
 * Stakes with a cooldown that opens a window (stkGHO, stkAAVE): no ERC-4626. `cooldown` takes no shares and counts for all
 * of them; once it is over, as many may be redeemed while the window is open, and after it a cooldown has to be started anew.
 * The withdrawal of the ledger is the redemption: there the shares are burned. While a slashing is being settled shares
 * are redeemed at once, and nothing is staked. They refuse by text.
 */
export const windowStake: PlannedKind = {
  name: 'window-stake',
  summary: 'A stake with a cooldown that opens a window: shares are redeemed in it, or the cooldown is started anew.',
  asyncDeposit: false,
  asyncRedeem: false,
  redeemsLater: true,
  emits: [
    emitted(
      'event Staked(address indexed from, address indexed to, uint256 assets, uint256 shares)',
      ({ from, to, assets, shares }) => ({ kind: 'deposit', sender: from, owner: to, assets, shares }),
    ),
    emitted(
      'event Redeem(address indexed from, address indexed to, uint256 assets, uint256 shares)',
      ({ from, to, assets, shares }) => ({
        ...{ kind: 'withdraw', sender: from, receiver: to, owner: from, assets, shares },
      }),
    ),
  ],
  calls: [
    making('function stake(address to, uint256 amount)', 'deposit', { assets: 'amount', owner: 'to' }),
    making('function redeem(address to, uint256 amount)', 'withdraw', { shares: 'amount' }),
  ],
  errors: [],
  plans: {
    spender: (vault) => vault.address,
    deposit,
    withdraw,
    // A window opens with time alone, which a trial in one block has none of.
    trial: (vault, wallet, amount) => ({
      deposit: buildStake({ vault, wallet, amount }),
      redeem: { to: vault.address, data: '0x', gains: vault.asset },
      sharesAt: 0n,
    }),
  },
  readFigures,
  readAsset: (address) => readContract(address, stakeAbi, 'STAKED_TOKEN', []),
  recognise,
}

function deposit(ask: DepositAsk): Read<Offer> {
  const { vault, amount } = ask
  return mapRead(
    combine({
      code: readAccount(vault.address),
      asset: readContract(vault.address, stakeAbi, 'STAKED_TOKEN', []),
      slashed: readContract(vault.address, stakeAbi, 'inPostSlashingPeriod', []),
      quote: readContract(vault.address, stakeAbi, 'previewStake', [amount]),
    }),
    ({ code, asset, slashed, quote }) => ({
      closed:
        decideClosed(code.codeLength) ??
        (slashed ? 'the stake was slashed, and takes nothing until that is settled' : undefined),
      mismatch: decideMismatch(vault, asset),
      max: undefined,
      quoted: quote,
      call: buildStake(ask),
    }),
  )
}

/** Redeems shares that may be redeemed now. If a cooldown for the amount runs, it must end first; otherwise a cooldown is started. */
function withdraw(ask: WithdrawAsk): Read<WithdrawOffer> {
  const { vault, wallet, shares } = ask
  const { address } = vault
  const { reads, answer } = combine({
    code: readAccount(address),
    asset: readContract(address, stakeAbi, 'STAKED_TOKEN', []),
    slashed: readContract(address, stakeAbi, 'inPostSlashingPeriod', []),
    wait: readContract(address, stakeAbi, 'getCooldownSeconds', []),
    window: readContract(address, stakeAbi, 'UNSTAKE_WINDOW', []),
    started: readContract(address, stakeAbi, 'stakersCooldowns', [wallet]),
    held: readContract(vault.receiptToken, erc20Abi, 'balanceOf', [wallet]),
    quoted: readContract(address, stakeAbi, 'previewRedeem', [shares]),
  })
  return {
    reads,
    answer: (results, timestamp) => {
      const { code, asset, slashed, wait, window, started, held, quoted } = answer(results)
      const silent = wait === undefined || window === undefined || started === undefined
      const offer = {
        closed: decideClosed(code.codeLength) ?? (silent ? 'the stake does not say how long it waits' : undefined),
        ...{ mismatch: decideMismatch(vault, asset), max: undefined, quoted, assets: quoted, available: held },
      }
      const [from, amount] = started ?? [0, 0n]
      if (slashed) return { ...offer, call: buildRedeem(ask) }
      const opensAt = from + Number(wait ?? 0n)
      const begun = { amount: from === 0 ? 0n : amount, opensAt, closesAt: opensAt + Number(window ?? 0n) }
      return offerInWindow(offer, { ask, begun, timestamp, redeem: buildRedeem(ask) })
    },
  }
}

type Begun = { amount: bigint; opensAt: number; closesAt: number }
type InWindow = { ask: WithdrawAsk; begun: Begun; timestamp: bigint | undefined; redeem: VaultCall }

/**
 * Redeems in the window of a cooldown that covers the shares. While such a cooldown runs, the shares are awaited; otherwise
 * one is started.
 */
export function offerInWindow(
  offer: Omit<WithdrawOffer, 'call' | 'awaited'>,
  { ask, begun, timestamp, redeem }: InWindow,
): WithdrawOffer {
  const { vault, shares } = ask
  const covers = begun.amount > 0n && begun.amount >= shares
  // Without the time of the block the redemption is built, and its simulation decides.
  const now = timestamp ?? BigInt(begun.opensAt)
  if (covers && now < begun.opensAt) return { ...offer, available: 0n, awaited: shares, call: redeem }
  return { ...offer, call: covers && now <= begun.closesAt ? redeem : buildCooldown(vault) }
}

function buildStake({ vault, wallet, amount }: Pick<DepositAsk, 'vault' | 'wallet' | 'amount'>): VaultCall {
  return {
    to: vault.address,
    data: encodeFunctionData({ abi: stakeAbi, functionName: 'stake', args: [wallet, amount] }),
    value: 0n,
    says: sayDeposit,
    gasConstant: gasConstants.stake,
    spends: { token: vault.asset, amount },
    gains: vault.receiptToken,
  }
}

function buildRedeem({ vault, wallet, shares }: WithdrawAsk): VaultCall {
  return {
    to: vault.address,
    data: encodeFunctionData({ abi: stakeAbi, functionName: 'redeem', args: [wallet, shares] }),
    value: 0n,
    says: sayRedeem,
    gasConstant: gasConstants.redeemInWindow,
    spends: { token: vault.receiptToken, amount: shares },
    gains: vault.asset,
  }
}

function buildCooldown(vault: Vault): VaultCall {
  return {
    to: vault.address,
    data: encodeFunctionData({ abi: stakeAbi, functionName: 'cooldown' }),
    value: 0n,
    says: ({ amount, vault, receiver }) =>
      `Start the cooldown of all your shares in ${vault}; ${receiver} can redeem ${amount} in the window after it. A running cooldown starts again from zero.`,
    gasConstant: gasConstants.openWindow,
    spends: undefined,
    gains: undefined,
  }
}

/** The value of shares follows from the rate, which is of shares for assets. */
function readFigures({ address, receiptToken, receiptDecimals }: ObservedVault): Read<FiguresAnswer> {
  return mapRead(
    combine({
      totalSupply: readContract(receiptToken as Address, erc20Abi, 'totalSupply', []),
      rate: readContract(address as Address, stakeAbi, 'getExchangeRate', []),
    }),
    ({ totalSupply, rate }) => {
      if (totalSupply === undefined || !rate) return { maxDeposit: undefined, figures: undefined }
      const priceExponent = receiptDecimals + extraDigits
      const value = (shares: bigint) => (shares * rateUnit) / rate
      const priceNumerator = value(10n ** BigInt(priceExponent))
      return {
        maxDeposit: undefined,
        figures: { totalAssets: value(totalSupply), totalSupply, priceNumerator, priceExponent },
      }
    },
  )
}

function recognise(address: Address): Read<Recognised | undefined> {
  return mapRead(
    combine({
      asset: readContract(address, stakeAbi, 'STAKED_TOKEN', []),
      wait: readContract(address, stakeAbi, 'getCooldownSeconds', []),
      window: readContract(address, stakeAbi, 'UNSTAKE_WINDOW', []),
      started: readContract(address, stakeAbi, 'stakersCooldowns', [address]),
      rate: readContract(address, stakeAbi, 'getExchangeRate', []),
    }),
    ({ asset, wait, window, started, rate }) => {
      if (!asset || wait === undefined || window === undefined || !started || !rate) return undefined
      const note = `shares are redeemed from ${wait} to ${wait + window} seconds after a cooldown was started, and not tried here`
      return { asset, receiptToken: address, notes: [note] }
    },
  )
}
