import { operationTopics } from '@openearn/attribution'
import type { Address, Hex } from 'viem'
import { execute, handleOps7, operation7 } from '../../../packages/attribution/test/wrapping.js'
import type { RawLog } from '../../src/rpc/raw.js'
import { topics } from '../topics.js'
import { batch, bodyOf, suffixOf, toLog, type Word } from './calldata.js'
import {
  accounts,
  asyncVault,
  codes,
  type How,
  innerVault,
  lateVault,
  type ModelCall,
  type ModelEvent,
  type ModelFrame,
  type ModelGroup,
  type ModelRequest,
  type ModelState,
  type ModelTransaction,
  outerVault,
  router,
  settler,
  strangerCode,
  treasury,
  wallets,
  zero,
} from './model.js'
import type { Random } from './random.js'

export const entryPoint = '0x0000000071727de22e5e9d8baf0edac6f37da032'

type More = { carry?: boolean; isWhole?: boolean }
type Place = { chainId: number; block: number; index: number; hash: string; firstLog: number; late: boolean }

/** Writes one random transaction onto `state`. */
export function generateTransaction(random: Random, state: ModelState, place: Place): ModelTransaction {
  const { chainId: signedFor } = place
  const events: ModelEvent[] = []
  const logs: RawLog[] = []
  let at = place.firstLog
  const log = (address: string, first: string, indexed: readonly Word[], data: readonly Word[]) => {
    logs.push(toLog(place, at, address, [first, ...indexed], data))
    at += 1
  }
  const shares = (vault: string) => {
    const known = state.shares.get(vault) ?? new Map<string, bigint>()
    state.shares.set(vault, known)
    return known
  }
  const held = (vault: string, wallet: string) => shares(vault).get(wallet) ?? 0n
  const move = (vault: string, from: string, to: string, amount: bigint) => {
    events.push({ at, vault, kind: 'transfer', from, to, amount })
    log(vault, topics.transfer, [from, to], [amount])
    if (from !== zero) shares(vault).set(from, held(vault, from) - amount)
    if (to !== zero) shares(vault).set(to, held(vault, to) + amount)
  }
  const emit = (
    vault: string,
    kind: 'deposit' | 'withdraw',
    sender: string,
    owner: string,
    assets: bigint,
    amount: bigint,
  ) => {
    events.push({ at, vault, kind, sender, owner, assets, shares: amount })
    if (kind === 'deposit') log(vault, topics.deposit, [sender, owner], [assets, amount])
    else log(vault, topics.withdraw, [sender, owner, owner], [assets, amount])
  }
  /** A deposit as vaults make it: the mint, sometimes less than the event says because of a fee, sometimes a fee mint. */
  const deposit = (vault: string, sender: string, owner: string, assets: bigint) => {
    const gross = assets * 2n + 1n
    const fee = random.chance(0.3) ? gross / 7n : 0n
    if (fee > 0n && random.chance(0.5)) move(vault, zero, treasury, fee)
    move(vault, zero, owner, gross - fee)
    emit(vault, 'deposit', sender, owner, assets, gross)
    return gross - fee
  }
  const withdraw = (vault: string, sender: string, owner: string, amount: bigint) => {
    move(vault, owner, zero, amount)
    emit(vault, 'withdraw', sender, owner, amount / 2n, amount)
  }
  const amountOf = () => (random.chance(0.3) ? BigInt(random.int(1, 3)) : BigInt(random.int(1, 1_000_000)) ** 2n)
  const partOf = (whole: bigint) => (random.chance(0.2) ? whole : (whole * BigInt(random.int(1, 99))) / 100n)
  const code = () => (random.chance(0.12) ? strangerCode : random.pick(codes))
  const how = (): How => (random.chance(0.3) ? 'signed' : random.chance(0.2) ? 'legacy' : 'unsigned')
  const frames: ModelFrame[] = []
  /** A call's data, with a code at its end most of the time. */
  const call = (caller: string, target: string, makes: ModelFrame['makes'] = null, more: More = {}): Hex => {
    const { carry = random.chance(0.75), isWhole = true } = more
    const body = bodyOf(makes, BigInt(random.int(1, 1e9)))
    const frame = { caller, target, makes, body, code: carry ? code() : null, how: how(), signedFor, isWhole }
    frames.push(frame)
    return `${body}${suffixOf(frame, body, place.chainId)}`
  }
  /** The same of a call inside another. */
  const part = (caller: string, target: string, makes: ModelFrame['makes'] = null, carry = true) => ({
    to: target as Address,
    value: 0n,
    data: call(caller, target, makes, { carry, isWhole: false }),
  })
  const depositing = (owner: string, amount: bigint): ModelCall => ({ kind: 'deposit', of: 0, amount, owner })
  const sync = () => random.pick([innerVault, outerVault, ...(place.late ? [lateVault] : [])])
  const done = (from: string, to: string, input: string, groups?: ModelGroup[]): ModelTransaction => ({
    hash: place.hash,
    from,
    to,
    input,
    groups: groups ?? [{ frames, from: place.firstLog, to: Number.POSITIVE_INFINITY }],
    events,
    logs,
  })
  const holder = (vault: string) => wallets.filter((wallet) => held(vault, wallet) > 0n)
  const user = random.pick(wallets)

  switch (random.int(0, 18)) {
    case 0:
    case 1: {
      const vault = sync()
      const owner = random.chance(0.8) ? user : random.pick(wallets)
      const amount = amountOf()
      const input = call(user, vault, depositing(owner, amount))
      deposit(vault, user, owner, amount)
      return done(user, vault, input)
    }
    case 2: {
      const vault = sync()
      const from = holder(vault)[0] ?? user
      const to = random.pick([...wallets, from])
      if (held(vault, from) > 0n) move(vault, from, to, partOf(held(vault, from)))
      return done(from, vault, '0xa9059cbb')
    }
    case 3:
    case 4: {
      const vault = sync()
      const from = random.pick([...holder(vault), user])
      const amount = partOf(held(vault, from))
      const input = call(from, vault, { kind: 'withdraw', of: 1, amount, owner: from })
      if (held(vault, from) > 0n) withdraw(vault, from, from, amount)
      return done(from, vault, input)
    }
    case 5: {
      // A router deposits for itself and hands the shares on, to one or two.
      const vault = sync()
      const input = call(user, router)
      const minted = deposit(vault, router, router, amountOf())
      const part = random.chance(0.5) ? minted : partOf(minted)
      move(vault, router, user, part)
      if (part < minted) move(vault, router, random.pick(wallets), minted - part)
      // Somebody else's deposit on the way is not the user's.
      if (random.chance(0.3)) deposit(vault, router, random.pick(wallets), amountOf())
      return done(user, router, input)
    }
    case 6: {
      // An outer vault deposits into an inner one: only the outer deposit is the user's.
      const assets = amountOf()
      const input = call(user, outerVault, depositing(user, assets))
      deposit(innerVault, outerVault, outerVault, assets)
      deposit(outerVault, user, user, assets)
      return done(user, outerVault, input)
    }
    case 7: {
      // Two deposits by an account, each with a code of its own.
      const account = accounts[0] ?? user
      if (random.chance(0.3)) {
        const vault = sync()
        const targets = random.chance(0.5) ? [router, vault] : [vault, router]
        const amounts = targets.map(amountOf)
        const amount = (at: number) => amounts[at] ?? 1n
        const list = targets.map((to, at) => part(account, to, to === router ? null : depositing(account, amount(at))))
        targets.forEach((to, at) => {
          deposit(vault, to === router ? router : account, account, amount(at))
        })
        return done(user, account, batch(list))
      }
      const list = [innerVault, outerVault].map((vault) => {
        const owner = random.chance(0.7) ? account : user
        const amount = amountOf()
        return { vault, owner, amount, part: part(account, vault, depositing(owner, amount)) }
      })
      for (const { vault, owner, amount } of list) deposit(vault, account, owner, amount)
      return done(user, account, batch(list.map((each) => each.part)))
    }
    case 8: {
      // A bundle of two operations of two accounts; the bundler's own code counts for nobody.
      const groups: ModelGroup[] = []
      const operations = accounts.map((account) => {
        frames.length = 0
        const vault = sync()
        const amount = amountOf()
        const data = part(account, vault, depositing(account, amount))
        const start = at
        deposit(vault, account, account, amount)
        log(entryPoint, operationTopics.ended, [1n, account, zero], [1n, 1n, 1n, 1n])
        groups.push({ frames: [...frames], from: start, to: at })
        return operation7(account as Address, batch([data]) as Hex)
      })
      const bundler = suffixOf(
        { caller: user, target: entryPoint, code: 'alpha', how: 'unsigned' },
        '0x',
        place.chainId,
      )
      return done(user, entryPoint, `${handleOps7(...operations)}${bundler}`.toLowerCase(), groups)
    }
    case 9: {
      const vault = sync()
      const from = holder(vault)[0]
      if (!from) return done(user, vault, '0x')
      const amount = partOf(held(vault, from))
      move(vault, from, user, amount)
      move(vault, user, from, amount)
      return done(from, vault, '0xa9059cbb')
    }
    case 10: {
      const vault = sync()
      const amount = amountOf()
      const input = call(user, vault, depositing(user, amount))
      const minted = deposit(vault, user, user, amount)
      move(vault, user, random.pick(wallets), partOf(minted + (held(vault, user) - minted) / 2n))
      return done(user, vault, input)
    }
    case 11: {
      // A deposit that mints nothing, a call that makes nothing, and a real deposit, in any order, each with a code.
      const [account = user, vault] = [accounts[0], sync()]
      const [none, amount] = [1n, amountOf()]
      const calls = [depositing(account, none), 'nothing' as const, depositing(account, amount)]
      const order = random.chance(0.5) ? calls : calls.reverse()
      const list = order.map((makes) => part(account, vault, makes, random.chance(0.8)))
      for (const makes of order) {
        if (makes === 'nothing') continue
        if (makes.amount === amount) deposit(vault, account, account, amount)
        else {
          if (random.chance(0.5)) move(vault, zero, account, 0n)
          emit(vault, 'deposit', account, account, none, 0n)
        }
      }
      return done(user, account, batch(list))
    }
    case 12: {
      // Round and round: deposited for the user, taken back, redeemed; sometimes a part stays, sometimes old shares go.
      const vault = sync()
      const input = call(user, router)
      for (let turn = random.int(1, 4); turn > 0; turn--) {
        if (random.chance(0.3) && held(vault, user) > 0n) withdraw(vault, user, user, partOf(held(vault, user)))
        const minted = deposit(vault, router, user, amountOf())
        const back = random.chance(0.6) ? minted : partOf(minted)
        move(vault, user, router, back)
        if (back > 0n) withdraw(vault, router, router, back)
      }
      return done(user, router, input)
    }
    case 13: {
      // A relayer that keeps a unit of what it delivers.
      const vault = sync()
      const input = call(user, router)
      const minted = deposit(vault, router, router, amountOf())
      move(vault, router, user, 1n)
      if (minted > 1n) move(vault, router, random.pick(wallets), minted - 1n)
      return done(user, router, input)
    }
    case 14: {
      // Calldata that only says that a wallet deposits, around a deposit of that wallet.
      const vault = sync()
      const [victim = user] = wallets.filter((wallet) => wallet !== user)
      const amount = amountOf()
      const inner = call(victim, vault, depositing(victim, amount), { carry: true })
      frames.length = 0
      frames.push({ caller: user, target: router, makes: null, body: '', code: null, how: 'unsigned', isWhole: true })
      deposit(vault, victim, victim, amount)
      return done(user, router, execute(victim as Address, execute(vault as Address, inner)).toLowerCase())
    }
    case 15: {
      // Two calls of a router, one perhaps without a code, and one of an address that makes nothing.
      const [account = user, vault] = [accounts[1], sync()]
      const list = [router, ...(random.chance(0.5) ? [settler] : []), router]
      const calls = list.map((to) => part(account, to, null, random.chance(0.7)))
      for (const to of list) if (to === router) deposit(vault, router, account, amountOf())
      return done(user, account, batch(calls))
    }
    default:
      return asynchronous()
  }

  function cancel(kind: 'cancelDeposit' | 'cancelRedeem', one: ModelRequest): ModelTransaction {
    const { controller } = one
    one.cancelling += one.pending
    one.pending = 0n
    events.push({ at, vault: asyncVault, kind, controller, sender: controller })
    const topic = kind === 'cancelDeposit' ? topics.cancelDepositRequest : topics.cancelRedeemRequest
    log(asyncVault, topic, [controller, 0n], [controller])
    return done(controller, asyncVault, call(controller, asyncVault))
  }

  /** Claims a cancellation; shares that were to be redeemed come back to the user, who may be another. */
  function takeBack(kind: 'cancelledDeposit' | 'cancelledRedeem', one: ModelRequest): ModelTransaction {
    const { controller, cancelling: amount } = one
    one.cancelling = 0n
    events.push({ at, vault: asyncVault, kind, controller, sender: user, amount })
    const topic = kind === 'cancelledDeposit' ? topics.cancelDepositClaim : topics.cancelRedeemClaim
    log(asyncVault, topic, [controller, user, 0n], [user, amount])
    if (kind === 'cancelledRedeem') move(asyncVault, asyncVault, user, amount)
    return done(user, asyncVault, call(user, asyncVault))
  }

  function asynchronous(): ModelTransaction {
    const open = state.requests
    const request = (kind: 'deposit' | 'redeem', controller: string) => {
      const known = open.find((each) => each.kind === kind && each.controller === controller)
      if (known) return known
      const made = { controller, kind, pending: 0n, claimable: 0n, cancelling: 0n }
      open.push(made)
      return made
    }
    const deposits = open.filter((each) => each.kind === 'deposit')
    const redeems = open.filter((each) => each.kind === 'redeem')
    const choices = [
      'request',
      ...(deposits.some((each) => each.pending > 0n) ? ['settle', 'cancel'] : []),
      ...(deposits.some((each) => each.claimable > 0n) ? ['claim', 'claim'] : []),
      ...(deposits.some((each) => each.cancelling > 0n) ? ['cancelled'] : []),
      ...(holder(asyncVault).length > 0 ? ['redeem'] : []),
      ...(redeems.some((each) => each.pending > 0n) ? ['settleRedeem', 'cancelRedeem'] : []),
      ...(redeems.some((each) => each.claimable > 0n) ? ['claimRedeem'] : []),
      ...(redeems.some((each) => each.cancelling > 0n) ? ['cancelledRedeem'] : []),
    ]
    switch (random.pick(choices)) {
      case 'settle': {
        const one = random.pick(deposits.filter((each) => each.pending > 0n))
        const part = random.chance(0.5) ? one.pending : partOf(one.pending) || one.pending
        one.pending -= part
        one.claimable += part
        move(asyncVault, zero, asyncVault, part * 3n)
        return done(settler, asyncVault, '0x')
      }
      case 'claim': {
        const one = random.pick(deposits.filter((each) => each.claimable > 0n))
        const byOther = random.chance(0.3)
        const caller = byOther ? random.pick(wallets) : one.controller
        const receiver = random.chance(0.7) ? one.controller : random.pick(wallets)
        const assets = partOf(one.claimable) || one.claimable
        one.claimable -= assets
        const { controller } = one
        const input = call(caller, asyncVault, { ...depositing(receiver, assets), controller })
        emit(asyncVault, 'deposit', one.controller, receiver, assets, assets * 3n)
        move(asyncVault, asyncVault, receiver, assets * 3n)
        return done(caller, asyncVault, input)
      }
      case 'cancel':
        return cancel('cancelDeposit', random.pick(deposits.filter((each) => each.pending > 0n)))
      case 'cancelRedeem':
        return cancel('cancelRedeem', random.pick(redeems.filter((each) => each.pending > 0n)))
      case 'cancelled':
        return takeBack('cancelledDeposit', random.pick(deposits.filter((each) => each.cancelling > 0n)))
      case 'cancelledRedeem':
        return takeBack('cancelledRedeem', random.pick(redeems.filter((each) => each.cancelling > 0n)))
      case 'redeem': {
        const owner = random.pick(holder(asyncVault))
        const controller = random.chance(0.8) ? owner : random.pick(wallets)
        if (request('redeem', controller).cancelling > 0n && random.chance(0.7)) return done(owner, asyncVault, '0x')
        const amount = partOf(held(asyncVault, owner)) || held(asyncVault, owner)
        const input = call(owner, asyncVault, { kind: 'requestRedeem', of: 0, amount, owner, controller })
        const isFirst = random.chance(0.5)
        if (isFirst) move(asyncVault, owner, asyncVault, amount)
        events.push({ at, vault: asyncVault, kind: 'requestRedeem', controller, owner, sender: owner, amount })
        log(asyncVault, topics.redeemRequest, [controller, owner, 0n], [owner, amount])
        if (!isFirst) move(asyncVault, owner, asyncVault, amount)
        request('redeem', controller).pending += amount
        return done(owner, asyncVault, input)
      }
      case 'settleRedeem': {
        const one = random.pick(redeems.filter((each) => each.pending > 0n))
        const part = random.chance(0.5) ? one.pending : partOf(one.pending) || one.pending
        move(asyncVault, asyncVault, zero, part)
        one.claimable += part
        one.pending -= part
        return done(settler, asyncVault, '0x')
      }
      case 'claimRedeem': {
        const one = random.pick(redeems.filter((each) => each.claimable > 0n))
        const amount = partOf(one.claimable) || one.claimable
        one.claimable -= amount
        const redeemed: ModelCall = { kind: 'withdraw', of: 1, amount, owner: one.controller }
        const input = call(one.controller, asyncVault, redeemed)
        emit(asyncVault, 'withdraw', one.controller, one.controller, amount / 3n, amount)
        return done(one.controller, asyncVault, input)
      }
      default: {
        const controller = random.chance(0.8) ? user : random.pick(wallets)
        // The standard forbids new requests while a cancellation is pending, not before it is claimed.
        if (request('deposit', controller).cancelling > 0n && random.chance(0.7)) return done(user, asyncVault, '0x')
        const amount = amountOf()
        const input = call(user, asyncVault, { kind: 'requestDeposit', of: 0, amount, owner: user, controller })
        events.push({ at, vault: asyncVault, kind: 'requestDeposit', controller, owner: user, sender: user, amount })
        log(asyncVault, topics.depositRequest, [controller, user, 0n], [user, amount])
        request('deposit', controller).pending += amount
        return done(user, asyncVault, input)
      }
    }
  }
}
