import type { DeriveVault } from '../../../src/derive/config.js'
import { type Digits, least } from '../bytes.js'
import { firstTopics } from '../told.js'
import { addSuffix } from './addSuffix.js'
import { type Call, newCall } from './tree.js'
import {
  aggregate,
  balanceOf,
  move,
  ownIds,
  people,
  pool,
  relayer,
  routers,
  runDeposit,
  runRedeem,
  runTransfer,
  say,
  sharesFor,
  synchronous,
  type World,
  zero,
} from './world.js'
import { callData, claimData } from './write.js'

/** A call a wallet wants made, and what it does when it runs. The data may carry suffixes. */
export type Act = { target: string; data: Digits; run(call: Call): void }

/** What one wallet may want, at random. */
export function chooseActs(world: World, wallet: string): Act[] {
  const { random } = world
  const vault = random.pick(synchronous)
  const kind = random.below(22)
  if (kind < 5) return [deposit(world, wallet, vault)]
  if (kind < 6) return [mint(world, wallet, vault)]
  if (kind < 8) return redeem(world, wallet, vault)
  if (kind < 9) return [...transfer(world, wallet, vault), deposit(world, wallet, vault)]
  if (kind < 10) return [silent(world, wallet, vault), deposit(world, wallet, vault)]
  if (kind < 12) return [zap(world, wallet, vault)]
  if (kind < 13) return [zap(world, wallet, vault), zap(world, wallet, vault)]
  if (kind < 14) return [nothing(world, wallet, vault), deposit(world, wallet, vault)]
  if (kind < 15) return flash(world, wallet, vault)
  if (kind < 16) return transfer(world, wallet, vault)
  if (kind < 17) return [...redeem(world, wallet, vault), deposit(world, wallet, vault)]
  if (kind < 18) return [deposit(world, wallet, vault), deposit(world, wallet, vault)]
  if (kind < 19) return [loop(world, wallet, vault)]
  return [waiting(world, wallet)]
}

const coded = (world: World, wallet: string, target: string, data: Digits): Digits =>
  addSuffix(world, { wallet, target, data })

export function deposit(world: World, wallet: string, vault: DeriveVault): Act {
  const { random } = world
  const again = world.plans.find((plan) => plan.wallet === wallet)
  if (again && random.chance(0.3))
    return {
      target: again.vault.address,
      data: again.data,
      run: (call) => runDeposit(world, again.vault, call, wallet, again.assets),
    }
  const assets = random.chance(0.1) ? 1n : random.between(1, 60) * (random.chance(0.5) ? 100n : 1n)
  const receiver = random.chance(0.1) ? random.pick(people) : wallet
  const data = coded(world, wallet, vault.address, callData('deposit', assets, receiver))
  if (receiver === wallet) world.plans.unshift({ wallet, vault, assets, data })
  return { target: vault.address, data, run: (call) => runDeposit(world, vault, call, receiver, assets) }
}

function mint(world: World, wallet: string, vault: DeriveVault): Act {
  const assets = world.random.between(3, 900)
  const data = coded(world, wallet, vault.address, callData('mint', sharesFor(vault, assets), wallet))
  return { target: vault.address, data, run: (call) => runDeposit(world, vault, call, wallet, assets) }
}

/** Some of what it holds, often all. */
function redeem(world: World, wallet: string, vault: DeriveVault): Act[] {
  const held = balanceOf(world, vault, wallet)
  if (held === 0n) return [deposit(world, wallet, vault)]
  const shares = world.random.chance(0.3) ? held : 1n + BigInt(world.random.below(Number(held)))
  const data = coded(world, wallet, vault.address, callData('redeem', shares, wallet, wallet))
  return [{ target: vault.address, data, run: (call) => void runRedeem(world, vault, call, wallet, wallet, shares) }]
}

function transfer(world: World, wallet: string, vault: DeriveVault): Act[] {
  const held = balanceOf(world, vault, wallet)
  if (held === 0n) return [silent(world, wallet, vault)]
  const [shares, to] = [1n + BigInt(world.random.below(Number(held))), world.random.pick([...people, pool, wallet])]
  const data = coded(world, wallet, vault.receiptToken, callData('transfer', to, shares))
  return [{ target: vault.receiptToken, data, run: (call) => void runTransfer(world, vault, call, wallet, to, shares) }]
}

/** Calls of a vault or its token that make no event, with a code behind them. */
function silent(world: World, wallet: string, vault: DeriveVault): Act {
  const [target, data] = world.random.pick<[string, Digits]>([
    [vault.receiptToken, callData('transfer', wallet, 0n)],
    [vault.receiptToken, callData('approve', relayer, 5n)],
    [
      vault.receiptToken,
      callData('permit', wallet, relayer, 1n, 2n, 27, `0x${'11'.repeat(32)}`, `0x${'22'.repeat(32)}`),
    ],
    [vault.address, callData('setOperator', relayer, true)],
  ])
  return { target, data: coded(world, wallet, target, data), run: () => undefined }
}

function nothing(world: World, wallet: string, vault: DeriveVault): Act {
  const tells = world.random.chance(0.5)
  const assets = world.random.chance(0.5) ? 0n : 1n
  const run = (call: Call) => {
    if (tells) move(world, vault, call, zero, wallet, 0n)
    call.did.push(say(vault.address, firstTopics.deposit, [call.caller, wallet], [assets, 0n]))
  }
  return { target: vault.address, data: coded(world, wallet, vault.address, callData('deposit', assets, wallet)), run }
}

/** A router deposits for itself or for the wallet; it may have a tag of its own, and may pass a unit to a relayer. */
function zap(world: World, wallet: string, vault: DeriveVault): Act {
  const { random } = world
  const router = random.pick(routers)
  const assets = random.between(3, 2_000)
  const isDirect = random.chance(0.4)
  const skims = random.chance(0.3)
  const tag = random.chance(0.4)
  const target = router
  const receiver = isDirect ? wallet : router
  const plain = callData('deposit', assets, receiver)
  const inner = tag ? coded(world, router, vault.address, plain) : plain
  const run = (call: Call) => {
    const made = newCall(router, vault.address, inner)
    call.did.push(made)
    runDeposit(world, vault, made, receiver, assets)
    if (isDirect) return
    const shares = sharesFor(vault, assets)
    const pass = (to: string, value: bigint) => {
      const passing = newCall(router, vault.receiptToken, callData('transfer', to, value))
      call.did.push(passing)
      runTransfer(world, vault, passing, router, to, value)
    }
    if (skims) pass(relayer, 1n)
    pass(wallet, skims ? shares - 1n : shares)
  }
  return { target, data: coded(world, wallet, target, callData('zap', assets, wallet)), run }
}

function flash(world: World, wallet: string, vault: DeriveVault): Act[] {
  const assets = world.random.between(3, 3_000)
  const into = callData('deposit', assets, wallet)
  const shares = sharesFor(vault, assets) - (world.random.chance(0.3) ? 1n : 0n)
  const out = callData('redeem', shares, wallet, wallet)
  return [
    {
      target: vault.address,
      data: coded(world, wallet, vault.address, into),
      run: (call) => runDeposit(world, vault, call, wallet, assets),
    },
    {
      target: vault.address,
      data: coded(world, wallet, vault.address, out),
      run: (call) => void runRedeem(world, vault, call, wallet, wallet, shares),
    },
  ]
}

/** A contract deposits for the wallet, pulls the shares back and redeems them, over and over. */
function loop(world: World, wallet: string, vault: DeriveVault): Act {
  const target = pool
  const rounds = world.random.chance(0.02) ? 100 : 1 + world.random.below(4)
  const leaves = world.random.chance(0.3)
  const run = (call: Call) => {
    for (let round = 0; round < rounds; round += 1) {
      const into = newCall(target, vault.address, callData('deposit', 300n, wallet))
      call.did.push(into)
      runDeposit(world, vault, into, wallet, 300n)
      const shares = sharesFor(vault, 300n)
      if (leaves && round === rounds - 1) return
      const back = newCall(target, vault.receiptToken, callData('transfer', target, shares))
      call.did.push(back)
      runTransfer(world, vault, back, wallet, target, shares)
      const out = newCall(target, vault.address, callData('redeem', shares, target, target))
      call.did.push(out)
      runRedeem(world, vault, out, target, target, shares)
    }
  }
  return { target, data: coded(world, wallet, target, callData('zap', 300n, wallet)), run }
}

/** Requests, claims and cancels of vaults that wait. */
function waiting(world: World, wallet: string): Act {
  const { random } = world
  const mine = world.waiting.filter(({ controller, left }) => controller === wallet && left > 0n)
  const vault = random.pick([ownIds, aggregate])
  const idOf = () => (vault === aggregate ? 0n : world.nextId++)
  const token = vault.address
  if (mine.length > 0 && random.chance(0.65)) {
    const one = random.pick(mine)
    if (one.kind === 'deposit')
      return random.chance(0.25) ? cancelDeposit(world, wallet, one) : claimDeposit(world, wallet, one)
    return random.chance(0.25) ? cancelRedeem(world, wallet, one) : claimRedeem(world, wallet, one)
  }
  const held = balanceOf(world, vault, wallet)
  if (held > 0n && random.chance(0.6)) {
    const shares = 1n + BigInt(random.below(Number(held)))
    const id = idOf()
    const run = (call: Call) => {
      if (balanceOf(world, vault, wallet) < shares) return
      move(world, vault, call, wallet, vault.escrow!, shares)
      call.did.push(say(vault.address, firstTopics.redeemRequest, [wallet, wallet, id], [call.caller, shares]))
      world.waiting.push({ vault, kind: 'redeem', controller: wallet, id, left: shares, cancelling: false })
    }
    return { target: token, data: coded(world, wallet, token, callData('requestRedeem', shares, wallet, wallet)), run }
  }
  const assets = random.between(10, 900)
  const id = idOf()
  const run = (call: Call) => {
    call.did.push(say(vault.address, firstTopics.depositRequest, [wallet, wallet, id], [call.caller, assets]))
    world.waiting.push({ vault, kind: 'deposit', controller: wallet, id, left: assets, cancelling: false })
  }
  return { target: token, data: coded(world, wallet, token, callData('requestDeposit', assets, wallet, wallet)), run }
}

type One = World['waiting'][number]
const someOf = (world: World, amount: bigint): bigint =>
  world.random.chance(0.5) ? amount : 1n + BigInt(world.random.below(Number(amount)))
/** All that waits of a controller on one side, as a vault sums it: a claim may reach over several requests. */
const allOf = (world: World, one: One): One[] =>
  world.waiting.filter(
    (each) =>
      each.vault === one.vault &&
      each.kind === one.kind &&
      each.controller === one.controller &&
      each.left > 0n &&
      !each.cancelling,
  )
/** A vault settles ids of its own in any order. */
const inSomeOrder = (world: World, list: readonly One[]): readonly One[] =>
  world.random.chance(0.5) ? list : list.toReversed()
function useUp(list: readonly One[], amount: bigint): void {
  let left = amount
  for (const each of list) {
    const part = least(each.left, left)
    each.left -= part
    left -= part
  }
}

function claimDeposit(world: World, wallet: string, one: One): Act {
  const { vault } = one
  const list = allOf(world, one)
  const sum = list.reduce((all, { left }) => all + left, 0n)
  const assets = sum === 0n ? 1n : someOf(world, sum)
  const run = (call: Call) => {
    useUp(inSomeOrder(world, allOf(world, one)), assets)
    const shares = (assets * 9n) / 10n
    move(world, vault, call, zero, vault.escrow!, shares)
    move(world, vault, call, vault.escrow!, wallet, shares)
    call.did.push(say(vault.address, firstTopics.deposit, [wallet, wallet], [assets, shares]))
  }
  return { target: vault.address, data: coded(world, wallet, vault.address, claimData(assets, wallet, wallet)), run }
}

function claimRedeem(world: World, wallet: string, one: One): Act {
  const { vault } = one
  const sum = allOf(world, one).reduce((all, { left }) => all + left, 0n)
  const shares = sum === 0n ? 1n : someOf(world, sum)
  const run = (call: Call) => {
    const open = allOf(world, one).reduce((all, { left }) => all + left, 0n)
    if (open < shares) return
    useUp(inSomeOrder(world, allOf(world, one)), shares)
    move(world, vault, call, vault.escrow!, zero, shares)
    call.did.push(say(vault.address, firstTopics.withdraw, [wallet, wallet, wallet], [(shares * 11n) / 10n, shares]))
  }
  return {
    target: vault.address,
    data: coded(world, wallet, vault.address, callData('redeem', shares, wallet, wallet)),
    run,
  }
}

function cancelDeposit(world: World, wallet: string, one: One): Act {
  const { vault, id } = one
  const named = () =>
    world.waiting.filter(
      (each) =>
        each.vault === vault &&
        each.kind === 'deposit' &&
        each.controller === wallet &&
        each.id === id &&
        each.left > 0n,
    )
  if (!one.cancelling) {
    const run = (call: Call) => {
      for (const each of named()) each.cancelling = true
      call.did.push(say(vault.address, firstTopics.cancelDepositRequest, [wallet, id], [call.caller]))
    }
    return {
      target: vault.address,
      data: coded(world, wallet, vault.address, callData('cancelDepositRequest', id, wallet)),
      run,
    }
  }
  const run = (call: Call) => {
    const list = named().filter(({ cancelling }) => cancelling)
    const assets = list.reduce((sum, { left }) => sum + left, 0n)
    for (const each of list) each.left = 0n
    call.did.push(say(vault.address, firstTopics.cancelDepositClaim, [wallet, wallet, id], [call.caller, assets]))
  }
  return {
    target: vault.address,
    data: coded(world, wallet, vault.address, callData('claimCancelDepositRequest', id, wallet, wallet)),
    run,
  }
}

function cancelRedeem(world: World, wallet: string, one: One): Act {
  const { vault, id } = one
  const named = () =>
    world.waiting.filter(
      (each) =>
        each.vault === vault &&
        each.kind === 'redeem' &&
        each.controller === wallet &&
        each.id === id &&
        each.left > 0n,
    )
  if (!one.cancelling) {
    const run = (call: Call) => {
      for (const each of named()) each.cancelling = true
      call.did.push(say(vault.address, firstTopics.cancelRedeemRequest, [wallet, id], [call.caller]))
    }
    return {
      target: vault.address,
      data: coded(world, wallet, vault.address, callData('cancelRedeemRequest', id, wallet)),
      run,
    }
  }
  const run = (call: Call) => {
    const list = named().filter(({ cancelling }) => cancelling)
    const shares = list.reduce((sum, { left }) => sum + left, 0n)
    for (const each of list) each.left = 0n
    move(world, vault, call, vault.escrow!, wallet, shares)
    call.did.push(say(vault.address, firstTopics.cancelRedeemClaim, [wallet, wallet, id], [call.caller, shares]))
  }
  return {
    target: vault.address,
    data: coded(world, wallet, vault.address, callData('claimCancelRedeemRequest', id, wallet, wallet)),
    run,
  }
}
