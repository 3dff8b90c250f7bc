import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { toFunctionSelector } from 'viem'
import { describe, expect, it } from 'vitest'
import { asset, buildPlan, chainId, facts, openModel, opportunityId, wallet } from '../../test/flowModel.js'
import { createRandom } from '../../test/random.js'
import { createEarnClient } from '../client/index.js'
import { askAccounts, askAgreement, askTransaction, NotReady, Refused } from './ask.js'
import type { Asked } from './checkPlan.js'
import { readFailure, sentNothing } from './provider.js'
import { readSelectors } from './reads.js'

const source = fileURLToPath(new URL('..', import.meta.url))
const earn = createEarnClient({ baseUrl: 'https://earn.example', trust: { version: 1, chains: [facts] } })
const asked = {
  ...{ type: 'deposit', userAddress: wallet, tokenIn: asset, amount: '1000000', distributorId: 'acme' },
  ...{ chainId, opportunityId },
} as Asked
const open = (change: Record<string, (params: unknown) => unknown> = {}) => {
  const model = openModel({ random: createRandom(1) })
  const provider = {
    request: (async (call: { method: string; params: unknown }) =>
      change[call.method] ? change[call.method]!(call.params) : model.request(call)) as never,
  }
  return { model, world: { earn, provider } }
}
const sent = ({ asked: calls }: ReturnType<typeof openModel>) => calls.filter(({ method }) => /send|sign/i.test(method))

describe('the wallet', () => {
  it('is asked by one module alone, for six things', () => {
    const names = readdirSync(source, { recursive: true }).map(String)
    const files = names.filter(
      (name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.includes('generated'),
    )
    const methods = new Map<string, string[]>()
    for (const name of files)
      for (const [, method] of readFileSync(`${source}/${name}`, 'utf8').matchAll(/'((?:eth|wallet|personal)_\w+)'/g))
        methods.set(method!, [...(methods.get(method!) ?? []), name.replaceAll('\\', '/')])
    const asking = [...methods].filter(
      ([method]) => !/^eth_(get|call|gasPrice|chainId|accounts)|^wallet_get/.test(method),
    )
    expect(Object.fromEntries(asking.map(([method, where]) => [method, [...new Set(where)]]))).toEqual({
      eth_sendTransaction: ['wallet/ask.ts'],
      wallet_sendCalls: ['wallet/ask.ts'],
      eth_signTypedData_v4: ['wallet/ask.ts'],
      personal_sign: ['wallet/ask.ts'],
      eth_requestAccounts: ['wallet/ask.ts'],
      wallet_switchEthereumChain: ['wallet/ask.ts'],
    })
  })

  it('gets the members of a transaction by their names, its place, and nothing else', async () => {
    const { model, world } = open()
    const place = { nonce: '0x5', maxFeePerGas: '0x77359400', extra: '0x1' } as never
    await askTransaction(world, { asked, plan: buildPlan({ name: 'a' }), position: 0, place, confirmed: undefined })
    const [request] = sent(model)[0]!.params as [object]
    expect(Object.keys(request).sort()).toEqual([
      'chainId',
      'data',
      'from',
      'gas',
      'maxFeePerGas',
      'nonce',
      'to',
      'value',
    ])
  })

  it.each([
    ['a fee of ten times the present one and more', { nonce: '0x5', maxFeePerGas: '0x4a817c801' }],
    ['a number that is none', { nonce: '5' }],
    ['a fee that is an object', { nonce: '0x5', gasPrice: {} }],
  ])('gets no place with %s', async (_, place) => {
    const { model, world } = open()
    const given = { asked, plan: buildPlan({ name: 'a' }), position: 0, place: place as never, confirmed: undefined }
    await expect(askTransaction(world, given)).rejects.toThrow(Refused)
    expect(sent(model)).toEqual([])
  })

  it('is not asked of a transaction that the plan does not have, nor by a plan that changes while it is looked at', async () => {
    const { model, world } = open()
    const plan = buildPlan({ name: 'a' })
    const given = { asked, plan, position: 7, place: undefined, confirmed: undefined }
    await expect(askTransaction(world, given)).rejects.toThrow(Refused)
    const asking = askTransaction(world, { ...given, position: 0 })
    for (const { transaction } of plan.transactions) transaction.to = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65'
    await asking
    expect((sent(model)[0]!.params as [{ to: string }])[0].to).toBe(asset)
  })

  it('is asked on the chain of the plan: it is switched, and a chain that it lacks is told, never added', async () => {
    let chain = 1
    const { model, world } = open({
      eth_chainId: () => `0x${chain.toString(16)}`,
      wallet_switchEthereumChain: () => {
        chain = chainId
      },
    })
    const given = { asked, plan: buildPlan({ name: 'a' }), position: 0, place: undefined, confirmed: undefined }
    await askTransaction(world, given)
    expect(sent(model)).toHaveLength(1)
    for (const [code, text] of [
      [4902, /does not know the chain 31337/],
      [4001, /no/],
    ] as const) {
      const lacking = open({
        eth_chainId: () => '0x1',
        wallet_switchEthereumChain: () => {
          throw Object.assign(new Error('no'), { code })
        },
      })
      await expect(askTransaction(lacking.world, given)).rejects.toThrow(text)
      expect(lacking.model.asked.map(({ method }) => method)).not.toContain('eth_sendTransaction')
    }
    // One that says that it switched, and did not.
    const lying = open({ eth_chainId: () => '0x1', wallet_switchEthereumChain: () => null })
    await expect(askTransaction(lying.world, given)).rejects.toThrow(NotReady)
    expect(sent(lying.model)).toEqual([])
  })

  it('is not asked by an account that it does not show', async () => {
    const { model, world } = open({ eth_accounts: () => [] })
    const given = { asked, plan: buildPlan({ name: 'a' }), position: 0, place: undefined, confirmed: undefined }
    await expect(askTransaction(world, given)).rejects.toThrow(NotReady)
    expect(sent(model)).toEqual([])
  })

  it('signs no text but the membership of this page, of today by the clock of the chain or of the machine', async () => {
    const signed: unknown[] = []
    const { world: base } = open({ personal_sign: (params) => `0x${signed.push(params)}` })
    // The chain says 11:06:40 of the 18th; the machine is a year off at first.
    const clock = { now: 1_826_000_000_000 }
    const world = { ...base, now: () => clock.now }
    const message = (host: string, day = '18') =>
      [
        ...[`${host} wants you to sign in with your Ethereum account:`, wallet, ''],
        ...['Link this wallet to your account. This costs nothing and sends no transaction.', ''],
        ...[`URI: https://${host}/`, 'Version: 1', 'Chain ID: 1', 'Nonce: 0123456789abcdef'],
        ...[`Issued At: 2026-11-${day}T11:00:00Z`, `Expiration Time: 2026-11-${day}T11:10:00Z`],
      ].join('\n')
    const ours = { asked: { address: wallet, chainId: 1, url: 'https://app.example/' }, nonce: '0123456789abcdef' }
    const ask = (host: string, day?: string) =>
      askAgreement(world, { asked: ours.asked, answer: { message: message(host, day), nonce: ours.nonce } })
    await expect(ask('evil.example')).rejects.toThrow(Refused)
    expect(signed).toEqual([])
    expect(await ask('app.example')).toBe('0x1')
    const [[hex, by]] = signed as [[string, string]]
    expect([Buffer.from(hex.slice(2), 'hex').toString(), by]).toEqual([message('app.example'), wallet])
    await expect(ask('app.example', '19')).rejects.toThrow('of a later time')
    // A chain that mined nothing for a day.
    clock.now = Date.parse('2026-11-19T11:05:00Z')
    expect(await ask('app.example', '19')).toBe('0x2')
    expect(signed).toHaveLength(2)
  })

  it('tells its accounts; a node without a user tells those it keeps', async () => {
    expect(await askAccounts(open({ eth_requestAccounts: () => [wallet, 7] }).world)).toEqual([wallet])
    expect(await askAccounts(open().world)).toEqual([wallet])
    const refusing = open({
      eth_requestAccounts: () => {
        throw Object.assign(new Error('no'), { code: 4001 })
      },
    })
    await expect(askAccounts(refusing.world)).rejects.toThrow('no')
  })
})

describe('a failure of a wallet', () => {
  it('is read by its innermost code, which tells whether something may have been sent', () => {
    const wrapped = Object.assign(new Error('outer'), { code: -32_603, data: { originalError: { code: 4001 } } })
    expect(readFailure(wrapped)).toEqual({ code: 4001, message: 'outer' })
    expect(readFailure('x'.repeat(900)).message).toHaveLength(300)
    expect([4001, 4100, -32_601, 5740].map((code) => sentNothing({ code, message: '' }))).not.toContain(false)
    expect([undefined, -32_603, -32_000, 5720].map((code) => sentNothing({ code, message: '' }))).not.toContain(true)
  })
})

it('the selectors of the reads are those of their functions', () => {
  for (const [name, selector] of Object.entries(readSelectors))
    expect(selector, name).toBe(toFunctionSelector(`function ${name}`))
})
