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
  other,
  router,
  say,
  silo,
  treasury,
  vault,
  zero,
} from '../../test/handChain.js'

const plain = call.deposit(1n, ann)
const zap = call.zap(1n)
type Chain = ReturnType<typeof openHandChain>
type Wallet = typeof ann

/** A wallet's own deposit, with a code or without. */
const buy = (chain: Chain, wallet: Wallet, amount: bigint, code?: string) =>
  chain.mine({
    from: wallet,
    to: vault,
    input: `${plain}${code === undefined ? '' : codes(code)}`,
    logs: deposited(wallet, wallet, amount),
  })
/** A transaction that only moves shares. */
const pass = (chain: Chain, ...logs: ReturnType<typeof say.move>[]) =>
  chain.mine({ from: ann, to: vault, input: '0xa9059cbb', logs })

describe('shares a deposit mints', () => {
  it('are counted from the Transfers: an entry fee the event does not know of is in no lot', () => {
    const chain = openHandChain()
    const logs = [say.move(zero, treasury, 2n), say.move(zero, ann, 95n), say.deposit(ann, ann, 50n, 100n)]
    const rows = chain.mine({ from: ann, to: vault, input: `${plain}${codes('alpha')}`, logs })
    expect(entries(rows)).toEqual(['deposit alpha unsigned a1 50 95'])
    expect(chain.lots(ann)).toEqual({ alpha: 95n })
    expect(chain.lots(treasury)).toEqual({ free: 2n })
  })

  it('are found behind the event too, and go to its owner, who may be another than the sender', () => {
    const chain = openHandChain()
    const logs = [say.deposit(ann, bob, 50n, 70n), say.move(zero, bob, 70n)]
    const rows = chain.mine({ from: ann, to: vault, input: `${plain}${codes('alpha')}`, logs })
    expect(entries(rows)).toEqual(['deposit alpha unsigned b2 50 70'])
    expect(chain.lots(bob)).toEqual({ alpha: 70n })
  })

  it('stay with their distributor when they are passed on, and each who keeps some has an entry of its part', () => {
    const chain = openHandChain()
    const logs = [say.move(zero, ann, 100n), say.deposit(ann, ann, 50n, 100n), say.move(ann, bob, 40n)]
    const rows = chain.mine({ from: ann, to: vault, input: `${plain}${codes('alpha')}`, logs })
    expect(entries(rows)).toEqual(['deposit alpha unsigned a1 30 60', 'deposit alpha unsigned b2 20 40'])
    expect(new Set(rows.interactions.map(({ id }) => id)).size).toBe(2)
    expect(chain.lots(ann)).toEqual({ alpha: 60n })
    expect(chain.lots(bob)).toEqual({ alpha: 40n })
  })

  it('leave a wallet before what it held, and the remainder of the assets is with the largest part', () => {
    const chain = openHandChain()
    buy(chain, router, 5n)
    const minted = [say.move(zero, router, 10n), say.deposit(router, router, 9n, 10n)]
    const logs = [...minted, say.move(router, bob, 2n), say.move(router, ann, 13n)]
    const rows = chain.mine({ from: ann, to: router, input: `${zap}${codes('alpha')}`, logs })
    // 8 of 10 of 9 is 7.2; bob is no caller here, so his part of the deposit is nobody's.
    expect(entries(rows)).toEqual(['deposit alpha unsigned a1 8 8 swap'])
    expect(chain.lots(ann)).toEqual({ alpha: 8n, free: 5n })
    expect(chain.lots(bob)).toEqual({ free: 2n })
    expect(chain.lots(router)).toEqual({})
  })

  it('are not looked for in what another keeps of a deposit of its own', () => {
    const chain = openHandChain()
    const zapped = [say.move(zero, router, 60n), say.deposit(router, router, 9n, 60n), say.move(router, ann, 60n)]
    const strange = [say.move(zero, bob, 40n), say.deposit(bob, bob, 9n, 40n)]
    const rows = chain.mine({ from: ann, to: router, input: `${zap}${codes('alpha')}`, logs: [...zapped, ...strange] })
    expect(entries(rows)).toEqual(['deposit alpha unsigned a1 9 60 swap'])
    expect(chain.lots(ann)).toEqual({ alpha: 60n })
    expect(chain.lots(bob)).toEqual({ free: 40n })
  })

  it('make no lot and no entry when they are burned in the transaction, and both when they come back in it', () => {
    const chain = openHandChain()
    const input = `${plain}${codes('alpha')}`
    const minted = [say.move(zero, ann, 100n), say.deposit(ann, ann, 50n, 100n)]
    const rows = chain.mine({ from: ann, to: vault, input, logs: [...minted, say.move(ann, zero, 100n)] })
    expect([rows.interactions, rows.balanceChanges, rows.lotChanges]).toEqual([[], [], []])
    chain.mine({ from: ann, to: vault, input, logs: [...minted, say.move(ann, bob, 100n), say.move(bob, ann, 100n)] })
    expect(chain.lots(ann)).toEqual({ alpha: 100n })
  })
})

describe('deposits and transfers in one transaction', () => {
  it('are each what they are: what was held before leaves its lots, what is minted after stays', () => {
    const chain = openHandChain()
    buy(chain, ann, 100n, 'alpha')
    const logs = [say.move(ann, bob, 40n), say.move(zero, ann, 60n), say.deposit(ann, ann, 9n, 60n)]
    chain.mine({ from: ann, to: vault, input: `${plain}${codes('beta')}`, logs })
    expect(chain.lots(ann)).toEqual({ alpha: 60n, beta: 60n })
    expect(chain.lots(bob)).toEqual({ free: 40n })
  })

  it('empty lots that were passed on whole, also when more is minted than is left', () => {
    const chain = openHandChain()
    buy(chain, ann, 100n, 'alpha')
    const logs = [say.move(ann, bob, 100n), say.move(zero, ann, 60n), say.deposit(ann, ann, 9n, 60n)]
    chain.mine({ from: ann, to: vault, input: `${plain}${codes('beta')}`, logs })
    expect(chain.lots(ann)).toEqual({ beta: 60n })
    expect(chain.lots(bob)).toEqual({ free: 100n })
  })

  it('leave lots alone when as much is withdrawn as deposited, and enter neither', () => {
    const chain = openHandChain()
    buy(chain, ann, 100n, 'alpha')
    const logs = [
      say.move(ann, zero, 30n),
      say.withdraw(ann, ann, 29n, 30n),
      say.move(zero, ann, 30n),
      say.deposit(ann, ann, 29n, 30n),
    ]
    const rows = chain.mine({ from: ann, to: router, input: `${zap}${codes('beta')}`, logs })
    expect(entries(rows)).toEqual([])
    expect(chain.lots(ann)).toEqual({ alpha: 100n })
    expect(rows.balanceChanges).toEqual([])
  })

  it('pass on the newest first, whichever deposit minted them', () => {
    const chain = openHandChain()
    const two = [`${plain}${codes('alpha')}`, `${plain}${codes('beta')}`]
    const input = `0xac9650d8${[32n, 2n, 64n, 64n + 32n + 128n].map((n) => n.toString(16).padStart(64, '0')).join('')}${two
      .map((data) => {
        const bytes = data.slice(2)
        return `${(bytes.length / 2).toString(16).padStart(64, '0')}${bytes.padEnd(256, '0')}`
      })
      .join('')}`
    const logs = [
      say.move(zero, ann, 100n),
      say.deposit(ann, ann, 1n, 100n),
      say.move(zero, ann, 100n),
      say.deposit(ann, ann, 2n, 100n),
      say.move(ann, bob, 50n),
    ]
    const rows = chain.mine({ from: ann, to: vault, input, logs })
    expect(entries(rows)).toEqual([
      'deposit alpha unsigned a1 1 100',
      'deposit beta unsigned a1 1 50',
      'deposit beta unsigned b2 1 50',
    ])
    expect(chain.lots(ann)).toEqual({ alpha: 100n, beta: 50n })
    expect(chain.lots(bob)).toEqual({ beta: 50n })
  })

  it('add to the lot there is when the same distributor comes again', () => {
    const chain = openHandChain()
    buy(chain, ann, 100n, 'alpha')
    const rows = buy(chain, ann, 50n, 'alpha')
    expect(chain.lots(ann)).toEqual({ alpha: 150n })
    expect(rows.lotChanges).toMatchObject([{ distributorId: 'alpha', before: 100n, after: 150n }])
  })
})

describe('shares that move without a deposit', () => {
  it('are nothing at all when a wallet sends them to itself', () => {
    const chain = openHandChain()
    buy(chain, ann, 100n, 'alpha')
    const rows = pass(chain, say.move(ann, ann, 100n))
    expect([rows.balanceChanges, rows.lotChanges]).toEqual([[], []])
    expect(chain.lots(ann)).toEqual({ alpha: 100n })
  })

  it('lose their distributor with whoever gets them, the vault and the burn address among them', () => {
    const chain = openHandChain()
    buy(chain, ann, 100n, 'alpha')
    pass(chain, say.move(ann, bob, 30n))
    pass(chain, say.move(ann, vault, 20n))
    pass(chain, say.move(ann, zero, 10n))
    pass(chain, say.move(bob, ann, 30n))
    expect([ann, bob, vault, zero].map((wallet) => chain.lots(wallet))).toEqual([
      { alpha: 40n, free: 30n },
      {},
      { free: 20n },
      {},
    ])
  })

  it('are taken from equal lots in the order of ids, unattributed last, and from the larger of equal fractions', () => {
    const chain = openHandChain()
    for (const code of ['gamma', undefined, 'alpha', 'beta']) buy(chain, ann, 1n, code)
    // 2 of 4 ones: each gives 0.5.
    pass(chain, say.move(ann, bob, 2n))
    expect(chain.lots(ann)).toEqual({ gamma: 1n, free: 1n })
    const second = openHandChain()
    buy(second, ann, 1n, 'alpha')
    buy(second, ann, 3n, 'beta')
    // 2 of 4: alpha gives 0.5 and beta 1.5.
    pass(second, say.move(ann, bob, 2n))
    expect(second.lots(ann)).toEqual({ alpha: 1n, beta: 1n })
  })
})

describe('moves beyond a balance', () => {
  it('are cut at what the wallet has, counted with what was cut, and take its lots whole', () => {
    const chain = openHandChain()
    buy(chain, ann, 60n, 'alpha')
    buy(chain, ann, 40n)
    const alone = pass(chain, say.move(ann, bob, 107n))
    expect(alone.cutMoves).toEqual([{ vaultId: 1, wallet: ann, blockNumber: 3, transactionIndex: 0, amount: 7n }])
    expect([chain.lots(ann), chain.lots(bob)]).toEqual([{}, { free: 107n }])
    const burned = [say.move(bob, zero, 110n), say.withdraw(bob, bob, 110n, 110n)]
    const redeemed = chain.mine({ from: bob, to: vault, input: call.redeem(110n, bob, bob), logs: burned })
    expect(redeemed.cutMoves).toMatchObject([{ wallet: bob, blockNumber: 4, amount: 3n }])
    expect(chain.lots(bob)).toEqual({})
  })

  it('are none where what is sent came in the same transaction, and of a request they are counted too', () => {
    const chain = openHandChain()
    const minted = [say.move(zero, ann, 9n), say.deposit(ann, ann, 9n, 9n)]
    const passed = chain.mine({ from: ann, to: vault, input: plain, logs: [...minted, say.move(ann, bob, 9n)] })
    expect(passed.cutMoves).toEqual([])
    const requested = [say.move(bob, silo, 12n, asynchronous), say.requestRedeem(bob, bob, bob, 12n)]
    const rows = chain.mine({ from: bob, to: asynchronous, input: call.requestRedeem(12n, bob, bob), logs: requested })
    expect(rows.cutMoves).toMatchObject([{ vaultId: 3, wallet: bob, amount: 12n }])
  })
})

describe('a withdrawal', () => {
  it('takes from all lots in proportion whatever code it carries, also when another sends it for the owner', () => {
    const chain = openHandChain()
    buy(chain, ann, 60n, 'alpha')
    buy(chain, ann, 40n, 'beta')
    const logs = [say.move(ann, zero, 30n), say.withdraw(bob, ann, 29n, 30n)]
    const rows = chain.mine({ from: bob, to: vault, input: `${call.redeem(30n, bob, ann)}${codes('beta')}`, logs })
    expect(entries(rows)).toEqual(['withdraw beta unsigned a1 29 30'])
    expect(chain.lots(ann)).toEqual({ alpha: 42n, beta: 28n })
  })

  it('reduces all lots when nobody brought it, and leaves other vaults alone', () => {
    const chain = openHandChain()
    buy(chain, ann, 60n, 'alpha')
    buy(chain, ann, 40n)
    const logs = [say.move(zero, ann, 7n, other), say.deposit(ann, ann, 7n, 7n, other)]
    chain.mine({ from: ann, to: other, input: `${plain}${codes('gamma')}`, logs })
    const burned = [say.move(ann, zero, 50n), say.withdraw(ann, ann, 49n, 50n)]
    expect(entries(chain.mine({ from: ann, to: vault, input: call.redeem(50n, ann, ann), logs: burned }))).toEqual([])
    expect(chain.lots(ann)).toEqual({ alpha: 30n, free: 20n })
    expect(chain.lots(ann, other)).toEqual({ gamma: 7n })
  })

  it('that carries a fee to the treasury takes what is burned and the fee alike from all lots', () => {
    const chain = openHandChain()
    buy(chain, ann, 50n, 'alpha')
    buy(chain, ann, 50n, 'beta')
    const logs = [say.move(ann, treasury, 10n), say.move(ann, zero, 40n), say.withdraw(ann, ann, 49n, 50n)]
    chain.mine({ from: ann, to: vault, input: `${call.redeem(50n, ann, ann)}${codes('alpha')}`, logs })
    expect(chain.lots(ann)).toEqual({ alpha: 25n, beta: 25n })
    expect(chain.lots(treasury)).toEqual({ free: 10n })
    expect(chain.lots(cat)).toEqual({})
  })
})
