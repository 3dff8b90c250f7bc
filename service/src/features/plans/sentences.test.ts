import { getAddress } from 'viem'
import { describe, expect, it } from 'vitest'
import type { VaultCall } from '../../vaults/index.js'
import { sayCancelDeposit, sayDeposit, sayRedeem } from '../../vaults/sentences.js'
import type { TokenRecord } from '../catalogue/index.js'
import { buildApprovals } from './approvals.js'
import { describeCall, describeSwap, describeWrapping } from './describe.js'

const address = (digits: string) => `0x${digits.repeat(20)}` as const
const tokenOf = (symbol: string, digits: string, more: Partial<TokenRecord> = {}) =>
  ({
    ...{ chainId: 1, symbol, name: symbol, decimals: 6, logoUrl: '', address: address(digits) },
    ...more,
  }) as TokenRecord
const usdc = tokenOf('USDC', 'a1')
const shares = tokenOf('vUSDC', 'b2', { decimals: 18 })
const named = (name: string, digits: string) => `${name} (${getAddress(address(digits))})`
const vault = { name: 'Vault', address: address('b2') }
const router = { name: 'Router', address: address('c3') }
const receiver = address('d4')

describe('the sentence of a call', () => {
  const vaultIs = named('Vault', 'b2')
  const money = `12.5 ${named('USDC', 'a1')}`
  const facts = { amount: 12_500_000n, token: usdc, out: shares, vault, receiver }
  const callOf = (says: VaultCall['says'], more: Partial<VaultCall> = {}): VaultCall => ({
    ...{ to: address('b2'), data: '0x', value: 0n, says, gasConstant: 100_000n, spends: undefined, gains: undefined },
    ...more,
  })
  const sentences: [string, VaultCall['says'], string][] = [
    ['deposit', sayDeposit, `Deposit ${money} into ${vaultIs}; the shares go to ${getAddress(receiver)}.`],
    [
      'redemption',
      sayRedeem,
      `Redeem ${money} at ${vaultIs}; the ${named('vUSDC', 'b2')} goes to ${getAddress(receiver)}.`,
    ],
    [
      'cancellation',
      sayCancelDeposit,
      `Cancel the pending deposit of ${money} in ${vaultIs}; the ${named('USDC', 'a1')} is refunded to ${getAddress(receiver)}.`,
    ],
  ]

  it.each(sentences)('of a %s names the amount, the token, the vault and who receives', (_name, says, sentence) => {
    expect(describeCall(callOf(says), facts)).toBe(sentence)
  })

  it('promises a least only where the call itself takes no less, and names what passes it on', () => {
    const least = { leastOut: 5n * 10n ** 17n, router: address('c3') }
    expect(describeCall(callOf(sayDeposit, least), facts)).toBe(
      `Deposit ${money} into ${vaultIs} through the deposit router (${getAddress(address('c3'))}) for at least 0.5 ${named('vUSDC', 'b2')}; the shares go to ${getAddress(receiver)}.`,
    )
    expect(describeCall(callOf(sayRedeem, { leastOut: 10n ** 18n }), facts)).toBe(
      `Redeem ${money} at ${vaultIs} for at least 1 ${named('vUSDC', 'b2')}; the ${named('vUSDC', 'b2')} goes to ${getAddress(receiver)}.`,
    )
  })
})

describe('the sentence of a swap', () => {
  const swap = { amount: 1_000_000n, token: usdc, least: 2n * 10n ** 18n, out: shares, router, receiver }
  const sentence = `Swap 1 ${named('USDC', 'a1')} for at least 2 ${named('vUSDC', 'b2')} at ${named('Router', 'c3')}; it goes to ${getAddress(receiver)}.`

  it('names both tokens, the least that arrives, the router and the receiver', () => {
    expect(describeSwap(swap)).toBe(sentence)
  })

  it('says where the rest stays, of the swap or of the redemption before it', () => {
    expect(describeSwap({ ...swap, rest: shares })).toBe(
      `${sentence} Anything the swap returns above that stays in your wallet as ${named('vUSDC', 'b2')}.`,
    )
    expect(describeSwap({ ...swap, rest: usdc })).toBe(
      `${sentence} Anything the redemption returns above the swapped amount stays in your wallet as ${named('USDC', 'a1')}.`,
    )
  })

  it('of the native token and its wrapper says that it is one for one', () => {
    const [native, wrapped] = [tokenOf('ETH', 'ee', { decimals: 18 }), tokenOf('WETH', 'f5', { decimals: 18 })]
    expect(describeWrapping('Wrap', 10n ** 18n, { token: native, out: wrapped })).toBe(
      `Wrap 1 ${named('ETH', 'ee')} into 1 ${named('WETH', 'f5')} in your wallet.`,
    )
    expect(describeWrapping('Unwrap', 10n ** 18n, { token: wrapped, out: native })).toBe(
      `Unwrap 1 ${named('WETH', 'f5')} into 1 ${named('ETH', 'ee')} in your wallet.`,
    )
  })
})

describe('the approvals before a call', () => {
  const approvals = (amount: bigint, allowance: bigint, approvalReset = false) =>
    buildApprovals({
      token: { ...usdc, approvalReset },
      ...{ tokenAddress: address('a1'), spender: address('b2'), spenderParty: vault, amount, allowance },
    })
  const approve = (amount: bigint) =>
    `0x095ea7b3${'0'.repeat(24)}${'b2'.repeat(20)}${amount.toString(16).padStart(64, '0')}`
  const told = (steps: ReturnType<typeof approvals>) => steps.map(({ call }) => call.data)

  it('are none where the allowance suffices', () => {
    expect(approvals(5n, 5n)).toEqual([])
    expect(approvals(5n, 6n, true)).toEqual([])
  })

  it('are of exactly the amount, to the token, without value', () => {
    expect(approvals(12_500_000n, 0n, true)).toEqual([
      {
        type: 'approve',
        description: `Allow ${named('Vault', 'b2')} to take exactly 12.5 ${named('USDC', 'a1')} from your wallet.`,
        call: { to: address('a1'), data: approve(12_500_000n), value: 0n },
        gasConstant: 120_000n,
      },
    ])
    expect(told(approvals(5n, 4n))).toEqual([approve(5n)])
  })

  it('begin with 0 where the token refuses to change an allowance that is not 0', () => {
    expect(told(approvals(5n, 4n, true))).toEqual([approve(0n), approve(5n)])
    expect(approvals(5n, 4n, true)[0]?.description).toBe(
      `Reset the ${named('USDC', 'a1')} allowance of ${named('Vault', 'b2')} to 0; USDC requires this before a new allowance.`,
    )
  })
})
