import { type Address, encodeFunctionData, erc20Abi, isAddressEqual, parseAbi } from 'viem'
import { combine, mapRead, readAccount, readContract } from '../../rpc/multicall.js'
import { failing } from '../../rpc/revert.js'
import { making } from '../calls.js'
import { emitted } from '../events.js'
import {
  type DepositAsk,
  getContract,
  type Offer,
  type PlannedKind,
  type Vault,
  type VaultCall,
  type WithdrawAsk,
} from '../kind.js'
import { extraDigits } from '../reading.js'
import { sayDeposit, sayRedeem } from '../sentences.js'
import { decideClosed, decideMismatch } from './erc4626.js'

const vaultAbi = parseAbi(['function teller() view returns (address)', 'function asset() view returns (address)'])
const tellerAbi = parseAbi([
  'function buy(uint256 paid, address holder) returns (uint256 shares)',
  'function sell(uint256 shares, address receiver) returns (uint256 paid)',
  'function rate() view returns (uint256)',
])

const gasConstants = { buy: 300_000n, sell: 300_000n }
const shareUnit = 10n ** 18n

/** Vaults whose shares are bought and sold at a separate teller, which also knows their price. */
export const teller: PlannedKind = {
  name: 'teller',
  summary: 'Shares are bought and sold at a teller beside the vault, in the transaction itself.',
  asyncDeposit: false,
  asyncRedeem: false,
  emits: [],
  calls: [],
  beside: {
    teller: {
      summary: 'Takes and pays the asset, and knows the price of a share.',
      emits: [
        emitted(
          'event Bought(address indexed payer, address indexed holder, uint256 paid, uint256 shares)',
          ({ payer, holder, paid, shares }) => ({
            kind: 'deposit',
            sender: payer,
            owner: holder,
            assets: paid,
            shares,
          }),
        ),
        emitted(
          'event Sold(address indexed holder, address indexed receiver, uint256 shares, uint256 paid)',
          ({ holder, receiver, shares, paid }) => ({
            kind: 'withdraw',
            sender: holder,
            receiver,
            owner: holder,
            assets: paid,
            shares,
          }),
        ),
      ],
      calls: [
        making('function buy(uint256 paid, address holder)', 'deposit', { assets: 'paid', owner: 'holder' }),
        making('function sell(uint256 shares, address receiver)', 'withdraw', {
          shares: 'shares',
          receiver: 'receiver',
        }),
      ],
    },
  },
  errors: [
    failing('error TooLittle()', 'the amount is too small: it would return nothing', 'tooSmall'),
    failing('error NotTheTeller(address caller)', 'only the teller of the vault may do this'),
  ],
  plans: {
    spender: (vault) => getContract(vault, 'teller'),
    deposit: (ask) =>
      mapRead(combine(readTeller(ask.vault)), (answer) => ({
        ...decideOpen(ask.vault, answer),
        max: undefined,
        quoted: answer.rate ? (ask.amount * shareUnit) / answer.rate : undefined,
        call: buildBuy(ask),
      })),
    withdraw: (ask) =>
      mapRead(
        combine({
          ...readTeller(ask.vault),
          held: readContract(ask.vault.receiptToken, erc20Abi, 'balanceOf', [ask.wallet]),
        }),
        (answer) => {
          const assets = answer.rate === undefined ? undefined : (ask.shares * answer.rate) / shareUnit
          return {
            ...decideOpen(ask.vault, answer),
            max: undefined,
            quoted: assets,
            available: answer.held,
            assets,
            call: buildSell(ask),
          }
        },
      ),
    trial: (vault, wallet, amount) => ({
      deposit: buildBuy({ vault, wallet, amount }),
      redeem: buildSell({ vault, wallet, shares: 0n }),
      sharesAt: 4n,
    }),
  },
  readFigures: (vault) => {
    const priceExponent = vault.receiptDecimals + extraDigits
    return mapRead(
      combine({
        totalSupply: readContract(vault.receiptToken as Address, erc20Abi, 'totalSupply', []),
        rate: readContract((vault.contracts?.['teller'] ?? vault.address) as Address, tellerAbi, 'rate', []),
      }),
      ({ totalSupply, rate }) => {
        if (totalSupply === undefined || rate === undefined) return { maxDeposit: undefined, figures: undefined }
        const totalAssets = (totalSupply * rate) / shareUnit
        const priceNumerator = (10n ** BigInt(priceExponent) * rate) / shareUnit
        return { maxDeposit: undefined, figures: { totalAssets, totalSupply, priceNumerator, priceExponent } }
      },
    )
  },
  recognise: (address) =>
    mapRead(
      combine({
        teller: readContract(address, vaultAbi, 'teller', []),
        asset: readContract(address, vaultAbi, 'asset', []),
      }),
      ({ teller, asset }) =>
        teller === undefined || asset === undefined
          ? undefined
          : { asset, receiptToken: address, contracts: { teller } },
    ),
}

function readTeller(vault: Vault) {
  return {
    code: readAccount(getContract(vault, 'teller')),
    teller: readContract(vault.address, vaultAbi, 'teller', []),
    asset: readContract(vault.address, vaultAbi, 'asset', []),
    rate: readContract(getContract(vault, 'teller'), tellerAbi, 'rate', []),
  }
}

type Answer = {
  code: { codeLength: bigint }
  teller: Address | undefined
  asset: Address | undefined
  rate: bigint | undefined
}

/** Why nothing can be done at the teller, and whether the vault is what it is listed as. */
function decideOpen(vault: Vault, { code, teller, asset, rate }: Answer): Pick<Offer, 'closed' | 'mismatch'> {
  const isListed = teller !== undefined && isAddressEqual(teller, getContract(vault, 'teller'))
  return {
    closed: decideClosed(code.codeLength) ?? (rate === undefined ? 'the teller names no price' : undefined),
    mismatch: isListed ? decideMismatch(vault, asset) : 'the vault now names another teller than it is listed with',
  }
}

function buildBuy({ vault, wallet, amount }: Pick<DepositAsk, 'vault' | 'wallet' | 'amount'>): VaultCall {
  return {
    to: getContract(vault, 'teller'),
    data: encodeFunctionData({ abi: tellerAbi, functionName: 'buy', args: [amount, wallet] }),
    value: 0n,
    says: sayDeposit,
    gasConstant: gasConstants.buy,
    spends: { token: vault.asset, amount },
    gains: vault.receiptToken,
  }
}

function buildSell({ vault, wallet, shares }: Pick<WithdrawAsk, 'vault' | 'wallet' | 'shares'>): VaultCall {
  return {
    to: getContract(vault, 'teller'),
    data: encodeFunctionData({ abi: tellerAbi, functionName: 'sell', args: [shares, wallet] }),
    value: 0n,
    says: sayRedeem,
    gasConstant: gasConstants.sell,
    spends: { token: vault.receiptToken, amount: shares },
    gains: vault.asset,
  }
}
