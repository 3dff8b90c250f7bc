import { describe, expect, it } from 'vitest'
import {
  ann,
  asynchronous,
  bob,
  call,
  cat,
  codes,
  deposited,
  entries,
  openHandChain,
  say,
  silo,
  zero,
} from '../../test/handChain.js'

type Chain = ReturnType<typeof openHandChain>

const ask = (chain: Chain, assets: bigint, code: string, id: bigint) =>
  chain.mine({
    from: ann,
    to: asynchronous,
    input: `${call.requestDeposit(assets, ann, ann)}${codes(code)}`,
    logs: [say.requestDeposit(ann, ann, ann, assets, id)],
  })
const claim = (chain: Chain, assets: bigint, shares: bigint, more: object = {}, code?: string) =>
  chain.mine({
    from: ann,
    to: asynchronous,
    input: `${call.claim(assets, ann, ann)}${code === undefined ? '' : codes(code)}`,
    logs: [say.deposit(ann, ann, assets, shares, asynchronous), say.move(silo, ann, shares, asynchronous)],
    ...more,
  })
const reading = (requestId: bigint, before: bigint | 'unknown', after: bigint | 'unknown') => ({
  vault: asynchronous,
  kind: 'deposit' as const,
  controller: ann,
  requestId,
  before,
  after,
})

describe('a claim of requests with ids of their own', () => {
  const openTwo = () => {
    const chain = openHandChain()
    ask(chain, 100n, 'alpha', 13n)
    ask(chain, 200n, 'beta', 14n)
    return chain
  }

  it('is of the id that was settled, not of the older one', () => {
    const chain = openTwo()
    const rows = claim(chain, 200n, 200n, { requestReadings: [reading(13n, 100n, 100n), reading(14n, 200n, 0n)] })
    expect(entries(rows)).toEqual(['deposit beta unsigned a1 200 200'])
    expect(chain.open(ann)).toEqual(['alpha 100'])
  })

  it('is of the lowest id first where several were, and of none beyond what each lost', () => {
    const chain = openTwo()
    const rows = claim(chain, 90n, 90n, { requestReadings: [reading(13n, 100n, 70n), reading(14n, 200n, 140n)] })
    expect(entries(rows)).toEqual(['deposit alpha unsigned a1 30 30', 'deposit beta unsigned a1 60 60'])
  })

  it('counts what was asked for and cancelled in the block itself', () => {
    const chain = openTwo()
    const rows = claim(chain, 200n, 200n, {
      logs: [
        say.requestDeposit(ann, ann, ann, 50n, 14n),
        say.cancelledDeposit(ann, 40n, 13n),
        say.deposit(ann, ann, 200n, 200n, asynchronous),
        say.move(silo, ann, 200n, asynchronous),
      ],
      requestReadings: [reading(13n, 100n, 60n), reading(14n, 200n, 50n)],
    })
    expect(entries(rows)).toEqual(['deposit beta unsigned a1 200 200'])
  })

  it('takes no id for claimed whole that a cancel in the same block emptied', () => {
    const rows = claim(openTwo(), 200n, 200n, {
      logs: [
        say.deposit(ann, ann, 200n, 200n, asynchronous),
        say.move(silo, ann, 200n, asynchronous),
        say.cancelledDeposit(ann, 100n, 13n),
      ],
      requestReadings: [reading(13n, 100n, 0n), reading(14n, 200n, 0n)],
    })
    expect(entries(rows)).toEqual(['deposit beta unsigned a1 200 200'])
  })

  it('is of the oldest where one of them could not be read', () => {
    for (const requestReadings of [[reading(13n, 'unknown', 100n), reading(14n, 200n, 0n)], [reading(14n, 200n, 0n)]]) {
      const rows = claim(openTwo(), 200n, 200n, { requestReadings })
      expect(entries(rows)).toEqual(['deposit alpha unsigned a1 100 100', 'deposit beta unsigned a1 100 100'])
    }
  })
})

describe('what goes beyond requests', () => {
  it('is a deposit of its own, by its own code, of the wallet that keeps its shares', () => {
    const chain = openHandChain()
    const logs = deposited(ann, bob, 50n, asynchronous)
    const input = `${call.deposit(50n, bob)}${codes('beta')}`
    expect(entries(chain.mine({ from: ann, to: asynchronous, input, logs }))).toEqual([
      'deposit beta unsigned b2 50 50',
    ])
    ask(chain, 100n, 'alpha', 0n)
    expect(entries(claim(chain, 150n, 300n, {}, 'beta'))).toEqual([
      'deposit alpha unsigned a1 100 200',
      'deposit beta unsigned a1 50 100',
    ])
    expect(chain.lots(ann, asynchronous)).toEqual({ alpha: 200n, beta: 100n })
  })

  it('has one entry with what it claims where the same distributor brought both', () => {
    for (const asked of ['beta', 'nobody']) {
      const chain = openHandChain()
      ask(chain, 100n, asked, 0n)
      expect(entries(claim(chain, 150n, 300n, {}, 'beta'))).toEqual(['deposit beta unsigned a1 150 300'])
      expect(chain.lots(ann, asynchronous)).toEqual({ beta: 300n })
    }
  })

  it('is a withdrawal of its own where it burns shares of the wallet, by its own code', () => {
    const chain = openHandChain()
    const logs = deposited(ann, ann, 50n, asynchronous)
    chain.mine({ from: ann, to: asynchronous, input: `${call.deposit(50n, ann)}${codes('beta')}`, logs })
    const burned = [say.move(ann, zero, 20n, asynchronous), say.withdraw(ann, ann, 30n, 20n, asynchronous)]
    const input = `${call.redeem(20n, ann, ann)}${codes('alpha')}`
    expect(entries(chain.mine({ from: ann, to: asynchronous, input, logs: burned }))).toEqual([
      'withdraw alpha unsigned a1 30 20',
    ])
    expect(chain.lots(ann, asynchronous)).toEqual({ beta: 30n })
  })

  it('has one entry with the redemption it is told with, of one wallet and distributor', () => {
    const chain = openHandChain()
    const logs = deposited(ann, ann, 50n, asynchronous)
    chain.mine({ from: ann, to: asynchronous, input: `${call.deposit(50n, ann)}${codes('beta')}`, logs })
    chain.mine({
      from: ann,
      to: asynchronous,
      input: `${call.requestRedeem(10n, ann, ann)}${codes('alpha')}`,
      logs: [say.move(ann, silo, 10n, asynchronous), say.requestRedeem(ann, ann, ann, 10n)],
    })
    const burned = [say.move(ann, zero, 20n, asynchronous), say.withdraw(ann, ann, 60n, 30n, asynchronous)]
    const input = `${call.redeem(30n, ann, ann)}${codes('alpha')}`
    expect(entries(chain.mine({ from: ann, to: asynchronous, input, logs: burned }))).toEqual([
      'withdraw alpha unsigned a1 60 30',
    ])
  })

  it('is a withdrawal of what no request covers and no more, though more of the wallet is burned', () => {
    const chain = openHandChain()
    const logs = deposited(ann, ann, 50n, asynchronous)
    chain.mine({ from: ann, to: asynchronous, input: `${call.deposit(50n, ann)}${codes('beta')}`, logs })
    chain.mine({
      from: ann,
      to: asynchronous,
      input: `${call.requestRedeem(10n, ann, ann)}${codes('alpha')}`,
      logs: [say.move(ann, silo, 10n, asynchronous), say.requestRedeem(ann, ann, ann, 10n)],
    })
    const burned = [say.move(ann, zero, 30n, asynchronous), say.withdraw(ann, ann, 60n, 30n, asynchronous)]
    const input = `${call.redeem(30n, ann, ann)}${codes('gamma')}`
    expect(entries(chain.mine({ from: ann, to: asynchronous, input, logs: burned }))).toEqual([
      'withdraw alpha unsigned a1 20 10',
      'withdraw gamma unsigned a1 40 20',
    ])
  })
})

describe('what a claim leaves', () => {
  it('stays open beside a claim of one unit that mints nothing, so that another code cannot take the rest', () => {
    const chain = openHandChain()
    ask(chain, 100n, 'alpha', 0n)
    expect(entries(claim(chain, 1n, 0n, {}, 'beta'))).toEqual([])
    expect(chain.open(ann)).toEqual(['alpha 99'])
    expect(entries(claim(chain, 99n, 90n, {}, 'beta'))).toEqual(['deposit alpha unsigned a1 99 90'])
  })

  it('below one share counts as claimed, and what is a share’s worth stays open', () => {
    for (const [assets, left] of [
      [98n, ['alpha 2']],
      [99n, []],
    ] as const) {
      const chain = openHandChain()
      ask(chain, 100n, 'alpha', 0n)
      claim(chain, assets, assets / 2n)
      expect(chain.open(ann)).toEqual(left)
    }
  })
})

describe('a claim whose shares are passed on in its transaction', () => {
  it('counts in the proportion that is kept, of each request it consumes', () => {
    const chain = openHandChain()
    ask(chain, 100n, 'alpha', 0n)
    ask(chain, 50n, 'beta', 0n)
    const rows = claim(chain, 150n, 300n, {
      logs: [
        say.deposit(ann, ann, 150n, 300n, asynchronous),
        say.move(silo, ann, 300n, asynchronous),
        say.move(ann, zero, 150n, asynchronous),
      ],
    })
    expect(entries(rows)).toEqual(['deposit alpha unsigned a1 50 100', 'deposit beta unsigned a1 25 50'])
    expect(chain.lots(ann, asynchronous)).toEqual({ alpha: 100n, beta: 50n })
  })
})

describe('a redemption', () => {
  const hold = (chain: Chain, code: string, shares: bigint) =>
    chain.mine({
      from: ann,
      to: asynchronous,
      input: `${call.deposit(shares, ann)}${codes(code)}`,
      logs: deposited(ann, ann, shares, asynchronous),
    })
  const leave = (chain: Chain, shares: bigint, logs = [say.move(ann, silo, shares, asynchronous)]) =>
    chain.mine({
      from: ann,
      to: asynchronous,
      input: `${call.requestRedeem(shares, bob, ann)}${codes('alpha')}`,
      logs: [...logs, say.requestRedeem(bob, ann, ann, shares)],
    })
  const collect = (chain: Chain, shares: bigint) =>
    chain.mine({
      from: bob,
      to: asynchronous,
      input: call.redeem(shares, bob, bob),
      logs: [say.move(silo, zero, shares, asynchronous), say.withdraw(bob, bob, 2n * shares, shares, asynchronous)],
    })

  it('that is claimed is of the wallet whose shares it took, whoever controls it', () => {
    const chain = openHandChain()
    hold(chain, 'beta', 50n)
    leave(chain, 20n)
    expect(entries(collect(chain, 20n))).toEqual(['withdraw alpha unsigned a1 40 20'])
  })

  it('that comes to the escrow just before a claim of another’s is burned out of it stays whole', () => {
    const chain = openHandChain()
    hold(chain, 'beta', 50n)
    chain.mine({
      from: ann,
      to: asynchronous,
      input: `${call.requestRedeem(20n, bob, ann)}${codes('alpha')}`,
      logs: [
        say.move(ann, silo, 20n, asynchronous),
        say.requestRedeem(bob, ann, ann, 20n),
        say.move(silo, zero, 4n, asynchronous),
        say.withdraw(cat, cat, 8n, 4n, asynchronous),
      ],
    })
    expect(entries(collect(chain, 20n))).toEqual(['withdraw alpha unsigned a1 40 20'])
  })

  it('of shares deposited in the same transaction leaves no entry, then or when it is claimed', () => {
    const chain = openHandChain()
    const made = leave(chain, 20n, [...deposited(ann, ann, 20n, asynchronous), say.move(ann, silo, 20n, asynchronous)])
    expect([entries(made), entries(collect(chain, 20n))]).toEqual([[], []])
  })

  it('that is cancelled gives the shares back as what they were', () => {
    const chain = openHandChain()
    hold(chain, 'alpha', 30n)
    hold(chain, 'beta', 10n)
    leave(chain, 20n)
    expect(chain.lots(ann, asynchronous)).toEqual({ alpha: 15n, beta: 5n })
    const back = (to: typeof ann, shares: bigint) =>
      chain.mine({
        from: bob,
        to: asynchronous,
        input: '0xcace1000',
        logs: [say.cancelledRedeem(bob, to, shares), say.move(silo, to, shares, asynchronous)],
      })
    back(ann, 8n)
    back(ann, 12n)
    expect(chain.lots(ann, asynchronous)).toEqual({ alpha: 30n, beta: 10n })
    leave(chain, 4n)
    back(bob, 4n)
    expect(chain.lots(bob, asynchronous)).toEqual({ free: 4n })
  })

  it('gives no lot back when its cancel pays the shares to another receiver', () => {
    const chain = openHandChain()
    hold(chain, 'alpha', 30n)
    leave(chain, 20n)
    // The owner receives as many in the same transaction, of another wallet: these are nobody's.
    chain.mine({ from: cat, to: asynchronous, input: '0x', logs: [say.move(zero, cat, 20n, asynchronous)] })
    chain.mine({
      from: bob,
      to: asynchronous,
      input: '0xcace1000',
      logs: [
        say.cancelledRedeem(bob, bob, 20n),
        say.move(silo, bob, 20n, asynchronous),
        say.move(cat, ann, 20n, asynchronous),
      ],
    })
    expect(chain.lots(ann, asynchronous)).toEqual({ alpha: 10n, free: 20n })
    expect(chain.lots(bob, asynchronous)).toEqual({ free: 20n })
  })
})
