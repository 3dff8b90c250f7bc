import { type Address, encodeFunctionData, erc20Abi, parseAbi } from 'viem'
import { combine, mapRead, type Read, readAccount, readContract } from '../../rpc/multicall.js'
import { failing } from '../../rpc/revert.js'
import { making } from '../calls.js'
import { type EmittingVault, emitted } from '../events.js'
import { gasConstants } from '../gasConstants.js'
import type {
  DepositAsk,
  FiguresAnswer,
  ObservedVault,
  PlannedKind,
  VaultCall,
  VaultFigures,
  WithdrawAsk,
} from '../kind.js'
import { extraDigits } from '../reading.js'
import { sayDeposit, sayRedeem } from '../sentences.js'
import { decideClosed } from './erc4626.js'

const erc5115Abi = parseAbi([
  'function deposit(address receiver, address tokenIn, uint256 amountTokenToDeposit, uint256 minSharesOut) returns (uint256)',
  'function redeem(address receiver, uint256 amountSharesToRedeem, address tokenOut, uint256 minTokenOut, bool burnFromInternalBalance) returns (uint256)',
  'function previewDeposit(address tokenIn, uint256 amountTokenToDeposit) view returns (uint256)',
  'function previewRedeem(address tokenOut, uint256 amountSharesToRedeem) view returns (uint256)',
  'function isValidTokenIn(address token) view returns (bool)',
  'function isValidTokenOut(address token) view returns (bool)',
  'function exchangeRate() view returns (uint256)',
  'function assetInfo() view returns (uint8 assetType, address assetAddress, uint8 assetDecimals)',
])

/**
 * Standardized yield (ERC-5115): takes and pays several tokens, so a withdrawal has to name the one it wants, and both
 * calls carry the least that must come out: the quote less the slippage allowed.
 */
export const erc5115: PlannedKind = {
  name: 'erc5115',
  summary: 'ERC-5115: takes and pays several tokens, with a minimum out in every call.',
  asyncDeposit: false,
  asyncRedeem: false,
  severalTokens: true,
  emits: [
    emitted(
      'event Deposit(address indexed caller, address indexed receiver, address indexed tokenIn, uint256 amountDeposited, uint256 amountSyOut)',
      ({ caller, receiver, tokenIn, amountDeposited, amountSyOut }, vault) => ({
        kind: 'deposit',
        sender: caller,
        owner: receiver,
        assets: amountDeposited,
        shares: amountSyOut,
        ...markOtherToken(tokenIn, vault),
      }),
    ),
    emitted(
      'event Redeem(address indexed caller, address indexed receiver, address indexed tokenOut, uint256 amountSyToRedeem, uint256 amountTokenOut)',
      ({ caller, receiver, tokenOut, amountSyToRedeem, amountTokenOut }, vault) => ({
        kind: 'withdraw',
        sender: caller,
        receiver,
        owner: caller,
        assets: amountTokenOut,
        shares: amountSyToRedeem,
        ...markOtherToken(tokenOut, vault),
      }),
    ),
  ],
  calls: [
    making(
      'function deposit(address receiver, address tokenIn, uint256 amountTokenToDeposit, uint256 minSharesOut)',
      'deposit',
      { assets: 'amountTokenToDeposit', owner: 'receiver' },
    ),
    making(
      'function redeem(address receiver, uint256 amountSharesToRedeem, address tokenOut, uint256 minTokenOut, bool burnFromInternalBalance)',
      'withdraw',
      { shares: 'amountSharesToRedeem' },
    ),
  ],
  errors: [
    failing('error InvalidToken(address token)', 'the vault does not know this token'),
    failing(
      'error TooLittleOut(uint256 given, uint256 minimum)',
      'less would be given than the least that was asked for',
    ),
    // As the published ones declare them.
    failing('error SYInvalidTokenIn(address token)', 'the vault does not take this token'),
    failing('error SYInvalidTokenOut(address token)', 'the vault does not pay this token'),
    failing('error SYZeroDeposit()', 'nothing would be deposited', 'tooSmall'),
    failing('error SYZeroRedeem()', 'nothing would be redeemed', 'tooSmall'),
    failing(
      'error SYInsufficientSharesOut(uint256 actualSharesOut, uint256 requiredSharesOut)',
      'fewer shares would be given than the least that was asked for',
    ),
    failing(
      'error SYInsufficientTokenOut(uint256 actualTokenOut, uint256 requiredTokenOut)',
      'less would be paid than the least that was asked for',
    ),
  ],
  plans: {
    spender: (vault) => vault.address,
    deposit: (ask) => {
      const { address } = ask.vault
      return mapRead(
        combine({
          code: readAccount(address),
          valid: readContract(address, erc5115Abi, 'isValidTokenIn', [ask.tokenIn]),
          quoted: readContract(address, erc5115Abi, 'previewDeposit', [ask.tokenIn, ask.amount]),
        }),
        ({ code, valid, quoted }) => ({
          closed: decideClosed(code.codeLength) ?? decideUnquoted(quoted, valid, 'deposits'),
          mismatch: valid === false ? 'the vault does not take this token' : undefined,
          max: undefined,
          quoted,
          call: buildDeposit(ask, quoted ?? 0n),
        }),
      )
    },
    withdraw: (ask) => {
      const { address, receiptToken } = ask.vault
      return mapRead(
        combine({
          code: readAccount(address),
          valid: readContract(address, erc5115Abi, 'isValidTokenOut', [ask.tokenOut]),
          held: readContract(receiptToken, erc20Abi, 'balanceOf', [ask.wallet]),
          quoted: readContract(address, erc5115Abi, 'previewRedeem', [ask.tokenOut, ask.shares]),
        }),
        ({ code, valid, held, quoted }) => ({
          closed: decideClosed(code.codeLength) ?? decideUnquoted(quoted, valid, 'withdrawals'),
          mismatch: valid === false ? 'the vault does not pay this token' : undefined,
          max: undefined,
          quoted,
          available: held,
          assets: quoted,
          call: buildRedeem(ask, quoted ?? 0n),
        }),
      )
    },
    trial: (vault, wallet, amount) => ({
      deposit: buildDeposit({ vault, wallet, tokenIn: vault.asset, amount, slippageBps: 0 }, 0n),
      redeem: buildRedeem({ vault, wallet, shares: 0n, tokenOut: vault.asset, slippageBps: 0 }, 0n),
      sharesAt: 36n,
    }),
  },
  readFigures,
  readAsset: (address) => mapRead(readContract(address, erc5115Abi, 'assetInfo', []), (info) => info?.[1]),
  recognise: (address) =>
    mapRead(
      combine({
        rate: readContract(address, erc5115Abi, 'exchangeRate', []),
        info: readContract(address, erc5115Abi, 'assetInfo', []),
      }),
      ({ rate, info }) =>
        rate === undefined || info === undefined ? undefined : { asset: info[1], receiptToken: address },
    ),
}

/** The ledger is in the vault's asset. */
function markOtherToken(token: string, { asset }: EmittingVault): { isOtherToken?: true } {
  return token === asset ? {} : { isOtherToken: true }
}

/** The value of shares follows from the rate; a vault states no limits. */
function readFigures(vault: ObservedVault): Read<FiguresAnswer> {
  return mapRead(
    combine({
      totalSupply: readContract(vault.receiptToken as Address, erc20Abi, 'totalSupply', []),
      rate: readContract(vault.address as Address, erc5115Abi, 'exchangeRate', []),
    }),
    ({ totalSupply, rate }) => ({
      maxDeposit: undefined,
      figures:
        totalSupply === undefined || rate === undefined
          ? undefined
          : computeByRate(totalSupply, rate, vault.receiptDecimals + extraDigits),
    }),
  )
}

/** `exchangeRate × shares / 10^18` is in smallest units of the asset. */
function computeByRate(totalSupply: bigint, rate: bigint, priceExponent: number): VaultFigures {
  const value = (shares: bigint) => (shares * rate) / 10n ** 18n
  return {
    totalAssets: value(totalSupply),
    totalSupply,
    priceNumerator: value(10n ** BigInt(priceExponent)),
    priceExponent,
  }
}

/** Without a quote there is no least to ask for. */
function decideUnquoted(quoted: bigint | undefined, valid: boolean | undefined, what: string): string | undefined {
  return quoted === undefined && valid !== false ? `the vault does not quote ${what} at present` : undefined
}

/** The quote less the slippage allowed, rounded down; in basis points. */
function computeMinimum(quoted: bigint, slippageBps: number): bigint {
  return (quoted * BigInt(10_000 - slippageBps)) / 10_000n
}

function buildDeposit({ vault, wallet, tokenIn, amount, slippageBps }: DepositAsk, quoted: bigint): VaultCall {
  const leastOut = computeMinimum(quoted, slippageBps)
  return {
    to: vault.address,
    data: encodeFunctionData({
      abi: erc5115Abi,
      functionName: 'deposit',
      args: [wallet, tokenIn, amount, leastOut],
    }),
    value: 0n,
    says: sayDeposit,
    gasConstant: gasConstants.depositThroughWrapper,
    spends: { token: tokenIn, amount },
    gains: vault.receiptToken,
    leastOut,
  }
}

function buildRedeem({ vault, wallet, shares, tokenOut, slippageBps }: WithdrawAsk, quoted: bigint): VaultCall {
  const leastOut = computeMinimum(quoted, slippageBps)
  return {
    to: vault.address,
    data: encodeFunctionData({
      abi: erc5115Abi,
      functionName: 'redeem',
      args: [wallet, shares, tokenOut, leastOut, false],
    }),
    value: 0n,
    says: sayRedeem,
    gasConstant: gasConstants.redeem,
    spends: { token: vault.receiptToken, amount: shares },
    gains: tokenOut,
    leastOut,
  }
}
