import { decodeSuffix } from '@openearn/attribution'
import { getAddress, toBytes } from 'viem'
import { describe, expect, it } from 'vitest'
import type { EarnError } from '../../kernel/errors.js'
import { parseAmount } from './inputs.js'
import { appendSuffix, type Step, toBatch, toPrepared } from './plan.js'
import { insufficientBalance, refuse } from './refusal.js'

const target = `0x${'ab'.repeat(20)}` as const
const wallet = `0x${'cd'.repeat(20)}` as const
const step: Step = {
  type: 'deposit',
  description: 'Deposit.',
  call: { to: target, data: '0x1234', value: 7n },
  gasConstant: 600_000n,
}
const metadata = { provider: 'p', providerImg: '', amountOut: '1', gas: '2', route: [] }

describe('the transactions of a plan', () => {
  it('are in order, each with its own gas limit, or its constant where there is none', () => {
    expect(toPrepared([step, { ...step, type: 'swap', metadata }], 8453, [50_000n])).toEqual([
      {
        type: 'deposit',
        description: 'Deposit.',
        transaction: { to: getAddress(target), data: '0x1234', value: '7', gasLimit: '50000', chainId: 8453 },
      },
      {
        type: 'swap',
        description: 'Deposit.',
        transaction: { to: getAddress(target), data: '0x1234', value: '7', gasLimit: '600000', chainId: 8453 },
        metadata,
      },
    ])
  })

  it('are the same as one batch that runs whole or not at all', () => {
    expect(toBatch([step, { ...step, call: { ...step.call, value: 255n } }], 8453, wallet)).toEqual({
      version: '2.0.0',
      chainId: '0x2105',
      from: getAddress(wallet),
      atomicRequired: true,
      calls: [
        { to: getAddress(target), data: '0x1234', value: '0x7' },
        { to: getAddress(target), data: '0x1234', value: '0xff' },
      ],
    })
  })
})

describe('the suffix of a call', () => {
  const attribution = {
    ...{ distributorId: 'alpha', actionId: '0198a9e0-7c1e-7000-8000-000000000001', chainId: 8453 },
    ...{ wallet, referralCode: '' },
  }
  const unsigned = async () => undefined
  const signed = async () => new Uint8Array(65).fill(9)
  const textOf = (data: string) => Buffer.from(data.slice(2), 'hex').toString('latin1')

  it('stands behind the calldata, names the distributor, and changes nothing else', async () => {
    const { call, ...rest } = await appendSuffix(step, attribution, signed)
    expect(rest).toEqual({ type: 'deposit', description: 'Deposit.', gasConstant: 600_000n })
    expect([call.to, call.value]).toEqual([target, 7n])
    expect(call.data).toMatch(/^0x1234.+(09){65}/)
    expect(textOf(call.data)).toContain('alpha')
  })

  it('says whether the plan swaps, and holds no signature where nobody signs', async () => {
    const plain = await appendSuffix({ ...step, suffix: 'plain' }, attribution, unsigned)
    const beside = await appendSuffix({ ...step, suffix: 'beside a swap' }, attribution, unsigned)
    expect(plain.call.data).toBe((await appendSuffix(step, attribution, unsigned)).call.data)
    expect(beside.call.data).not.toBe(plain.call.data)
    const swapsOf = ({ call: { data } }: Step) => {
      const suffix = decodeSuffix(toBytes(data))
      return suffix && 'metadata' in suffix ? suffix.metadata?.get('s') : undefined
    }
    expect([plain, beside].map(swapsOf)).toEqual([undefined, true])
    expect(plain.call.data.length).toBeLessThan((await appendSuffix(step, attribution, signed)).call.data.length - 130)
  })

  it('is signed for this wallet, chain, target and call: each changes what is signed', async () => {
    const digestOf = async (of: Step, by: typeof attribution) => {
      let digest = ''
      await appendSuffix(of, by, async (bytes) => {
        digest = Buffer.from(bytes).toString('hex')
        return undefined
      })
      return digest
    }
    const digests = await Promise.all([
      digestOf(step, attribution),
      digestOf(step, { ...attribution, wallet: target }),
      digestOf(step, { ...attribution, chainId: 1 }),
      digestOf(step, { ...attribution, distributorId: 'beta' }),
      digestOf(step, { ...attribution, referralCode: 'friend' }),
      digestOf(step, { ...attribution, actionId: '0198a9e0-7c1e-7000-8000-000000000002' }),
      digestOf({ ...step, call: { ...step.call, to: wallet } }, attribution),
      digestOf({ ...step, call: { ...step.call, data: '0x1235' } }, attribution),
    ])
    expect(new Set(digests).size).toBe(digests.length)
  })
})

describe('a plan that cannot be built', () => {
  const told = (error: EarnError) => ({
    code: error.code,
    reason: error.reason,
    context: error.context,
    text: error.message,
  })

  it('is a 400 that says in a word and in a sentence why', () => {
    expect(told(insufficientBalance(5n, 7n))).toEqual({
      code: 400,
      reason: 'INSUFFICIENT_BALANCE',
      context: { balance: '5', amount: '7' },
      text: 'insufficient token balance',
    })
    expect(told(refuse('SIMULATION_REVERTED', 'it reverts'))).toMatchObject({ code: 400, context: {} })
  })

  it('of an amount that fits no token names the member', () => {
    expect(parseAmount(`${2n ** 256n - 1n}`, 'amount')).toBe(2n ** 256n - 1n)
    expect(() => parseAmount(`${2n ** 256n}`, 'amount')).toThrow(
      expect.objectContaining({
        code: 400,
        context: { violations: [{ path: 'amount', message: `must be at most ${2n ** 256n - 1n}` }] },
      }),
    )
  })
})
