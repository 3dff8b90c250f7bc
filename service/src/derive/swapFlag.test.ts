import { describe, expect, it } from 'vitest'
import { ann, batch, call, cat, codes, deposited, entries, openHandChain, router, vault } from '../../test/handChain.js'

/** The transactions of an account, with a code behind all of its calldata. */
const mine = (
  from: typeof ann,
  to: typeof ann,
  input: string,
  owner: typeof ann,
  sender = from,
  forwarders: string[] = [],
) => {
  const chain = openHandChain({ forwarders: forwarders.map((address) => ({ address, from: 0 })) })
  return entries(chain.mine({ from, to, input: `${input}${codes('alpha')}`, logs: deposited(sender, owner, 10n) }))
}

describe('a deposit without a suffix of ours', () => {
  it('is no swap where the account calls itself, for another wallet too, nor where it calls the vault', () => {
    const calls = batch([vault, call.deposit(10n, ann)])
    expect(mine(cat, cat, calls, ann)).toEqual(['deposit alpha unsigned a1 10 10'])
    expect(mine(cat, vault, call.deposit(10n, ann), ann)).toEqual(['deposit alpha unsigned a1 10 10'])
  })

  it('is one where a contract that is neither makes it, but for a declared forwarder', () => {
    const calls = batch([vault, call.deposit(10n, ann)])
    expect(mine(ann, router, calls, ann, router)).toEqual(['deposit alpha unsigned a1 10 10 swap'])
    expect(mine(ann, router, calls, ann, ann, [router])).toEqual(['deposit alpha unsigned a1 10 10'])
  })
})
