import type { DeriveVault } from '../../../src/derive/config.js'
import { least } from '../bytes.js'
import { firstTopics } from '../told.js'
import { type Act, coded } from './addSuffix.js'
import { queueing } from './queue.js'
import { selling } from './teller.js'
import type { Call } from './tree.js'
import {
  aggregate,
  balanceOf,
  lagoon,
  locking,
  move,
  queued,
  rounding,
  runDeposit,
  runRedeem,
  say,
  slowIn,
  slowOut,
  type World,
  zero,
} from './world.js'
import { callData, claimData, claimSharesData, lagoonRequest } from './write.js'

/** Requests, claims and cancels of vaults that wait. */
export function waiting(world: World, wallet: string): Act {
  const { random } = world
  const mine = world.waiting.filter(({ controller, left }) => controller === wallet && left > 0n)
  const known = world.slow.filter((each) => balanceOf(world, each, wallet) > 0n)
  const vault = random.pick(known.length > 0 && random.chance(0.6) ? known : world.slow)
  const idOf = () => (isAggregate(vault) ? 0n : world.nextId++)
  if (vault === lagoon && random.chance(0.4)) return atOnce(world, wallet)
  if (vault === queued) return queueing(world, wallet)
  if (vault === locking) return selling(world, wallet)
  const token = vault.address
  if (mine.length > 0 && random.chance(0.65)) {
    const one = random.pick(mine)
    if (one.vault === queued) return queueing(world, wallet)
    if (one.vault === locking) return selling(world, wallet)
    if (one.kind === 'deposit')
      return random.chance(0.25) ? cancelDeposit(world, wallet, one) : claimDeposit(world, wallet, one)
    return random.chance(0.25) ? cancelRedeem(world, wallet, one) : claimRedeem(world, wallet, one)
  }
  const held = balanceOf(world, vault, wallet)
  if (vault === slowIn && held > 0n && random.chance(0.4)) {
    const shares = 1n + BigInt(random.below(Number(held)))
    const run = (call: Call) => void runRedeem(world, vault, call, wallet, wallet, shares)
    return { target: token, data: coded(world, wallet, token, callData('redeem', shares, wallet, wallet)), run }
  }
  if (vault === slowOut && (held === 0n || random.chance(0.3))) {
    const assets = random.between(10, 900)
    const run = (call: Call) => runDeposit(world, vault, call, wallet, assets)
    return { target: token, data: coded(world, wallet, token, callData('deposit', assets, wallet)), run }
  }
  if (vault !== slowIn && held > 0n && random.chance(0.6)) {
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
  const asked =
    vault === lagoon && random.chance(0.5)
      ? lagoonRequest(assets, wallet)
      : callData('requestDeposit', assets, wallet, wallet)
  return { target: token, data: coded(world, wallet, token, asked), run }
}

/** Lagoon while its valuation is valid. */
function atOnce(world: World, wallet: string): Act {
  const { random } = world
  const target = lagoon.address
  const held = balanceOf(world, lagoon, wallet)
  if (held > 0n && random.chance(0.5)) {
    const shares = 1n + BigInt(random.below(Number(held)))
    const run = (call: Call) => void runRedeem(world, lagoon, call, wallet, wallet, shares)
    return { target, data: coded(world, wallet, target, callData('syncRedeem', shares, wallet, 0n)), run }
  }
  const assets = random.between(10, 900)
  const run = (call: Call) => runDeposit(world, lagoon, call, wallet, assets)
  return { target, data: coded(world, wallet, target, callData('syncDeposit', assets, wallet, zero)), run }
}

type One = World['waiting'][number]
const isAggregate = (vault: DeriveVault): boolean => vault === aggregate || vault === rounding
/** What a settled request of a vault gives. */
export const priceOf = (vault: DeriveVault): { shares: bigint; assets: bigint } =>
  vault === rounding ? { shares: 3n, assets: 10n } : { shares: 9n, assets: 10n }
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
  const wanted = sum === 0n ? 1n : someOf(world, sum)
  const price = priceOf(vault)
  const shares = (wanted * price.shares) / price.assets
  const byShares = shares > 0n && (vault === rounding || world.random.chance(0.2))
  // By shares a claim costs what they are worth, rounded up.
  const assets = byShares ? (shares * price.assets + price.shares - 1n) / price.shares : wanted
  const run = (call: Call) => {
    useUp(inSomeOrder(world, allOf(world, one)), assets)
    move(world, vault, call, zero, vault.escrow!, shares)
    move(world, vault, call, vault.escrow!, wallet, shares)
    call.did.push(say(vault.address, firstTopics.deposit, [wallet, wallet], [assets, shares]))
  }
  const plain = byShares ? claimSharesData(shares, wallet, wallet) : claimData(assets, wallet, wallet)
  return { target: vault.address, data: coded(world, wallet, vault.address, plain), run }
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

/** What is open of a request id of a wallet. */
function listNamed(world: World, wallet: string, { vault, id }: One, kind: One['kind']) {
  return world.waiting.filter(
    (each) =>
      each.vault === vault && each.kind === kind && each.controller === wallet && each.id === id && each.left > 0n,
  )
}

function cancelDeposit(world: World, wallet: string, one: One): Act {
  const { vault, id } = one
  const named = () => listNamed(world, wallet, one, 'deposit')
  if (vault === lagoon) {
    const run = (call: Call) => {
      const list = named()
      if (list.length === 0) return
      for (const each of list) each.left = 0n
      call.did.push(say(vault.address, firstTopics.depositCanceled, [id, wallet], []))
    }
    const { address } = vault
    return { target: address, data: coded(world, wallet, address, callData('cancelRequestDeposit')), run }
  }
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
  const named = () => listNamed(world, wallet, one, 'redeem')
  if (vault === lagoon) {
    const run = (call: Call) => {
      const list = named()
      if (list.length === 0) return
      const shares = list.reduce((sum, { left }) => sum + left, 0n)
      for (const each of list) each.left = 0n
      move(world, vault, call, vault.escrow!, wallet, shares)
      call.did.push(say(vault.address, firstTopics.redeemCanceled, [id, wallet], [shares]))
    }
    const { address } = vault
    return { target: address, data: coded(world, wallet, address, callData('cancelRequestRedeem', wallet)), run }
  }
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
