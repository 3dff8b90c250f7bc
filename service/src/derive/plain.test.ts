import { describe, expect, it } from 'vitest'
import { execute, multicall } from '../../../packages/attribution/test/wrapping.js'
import {
  ann,
  asynchronous,
  bob,
  call,
  codes,
  deposited,
  openHandChain,
  other,
  router,
  say,
  silo,
  vault,
} from '../../test/handChain.js'
import { createDerivation } from './derive.js'
import { isPlain } from './plain.js'

const { config } = openHandChain()
const derivation = createDerivation(config)
type Sent = { from?: string; to?: string | null; input?: string; logs?: ReturnType<typeof deposited> }
const ask = ({ from = ann, to = vault, input = call.deposit(5n, ann), logs = deposited(ann, ann, 5n) }: Sent) => {
  const place = { blockNumber: 1, transactionIndex: 0, transactionHash: '0x01' }
  const placed = logs.map((log, logIndex) => ({ ...place, ...log, logIndex }))
  return isPlain({ from, to, input }, placed, derivation)
}

describe('a transaction that needs no trace', () => {
  it('is one call to a vault that emits its only event for who sent it, with codes behind it or not', () => {
    expect(ask({})).toBe(true)
    expect(ask({ input: `${call.deposit(5n, ann)}${codes('alpha')}` })).toBe(true)
    expect(ask({ input: call.deposit(5n, ann).toUpperCase().replace('0X', '0x') })).toBe(true)
    const logs = [say.requestDeposit(ann, ann, ann, 5n)]
    expect(ask({ to: asynchronous, input: call.requestDeposit(5n, ann, ann), logs })).toBe(true)
    const redeemed = [say.move(ann, silo, 5n, asynchronous), say.requestRedeem(ann, ann, ann, 5n)]
    expect(ask({ to: asynchronous, input: call.requestRedeem(5n, ann, ann), logs: redeemed })).toBe(true)
  })

  it.each<[string, Sent]>([
    ['the event’s sender is another', { from: bob }],
    ['the vault is called by another contract', { to: router }],
    ['it calls its own account', { to: ann, input: execute(vault, call.deposit(5n, ann)) }],
    ['the vault is called by its multicall', { input: multicall(call.deposit(5n, ann)) }],
    ['the call is not known', { input: call.zap(5n) }],
    ['the call makes other events', { input: call.redeem(5n, ann, ann) }],
    ['there is no call', { input: '0x' }],
    ['it makes a contract', { to: null }],
    ['there are two events', { logs: [...deposited(ann, ann, 5n), ...deposited(ann, ann, 5n)] }],
    [
      'another vault tells of something, too',
      { logs: [...deposited(ann, ann, 5n), ...deposited(bob, bob, 5n, other)] },
    ],
    ['there is no event', { logs: [say.move(ann, bob, 5n)] }],
  ])('is none where %s', (_name, sent) => {
    expect(ask(sent)).toBe(false)
  })
})
