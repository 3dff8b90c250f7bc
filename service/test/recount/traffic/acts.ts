import type { DeriveVault } from '../../../src/derive/config.js'
import type { Digits } from '../bytes.js'
import { type Act, coded } from './addSuffix.js'
import { passedOn } from './repeats.js'
import { type Call, newCall } from './tree.js'
import { waiting } from './waiting.js'
import {
  balanceOf,
  cooled,
  cooling,
  covering,
  depositData,
  depositRouter,
  move,
  people,
  pool,
  redeemData,
  relayer,
  routers,
  runDeposit,
  runRedeem,
  runTransfer,
  sayDeposit,
  sharesFor,
  staked,
  type World,
  yielding,
  zero,
} from './world.js'
import { callData } from './write.js'

/** What one wallet may want, at random. */
export function chooseActs(world: World, wallet: string): Act[] {
  const { random, orders } = world
  if (world.isSelling && orders.chance(0.8)) {
    return [waiting(world, wallet), ...(orders.chance(0.3) ? [waiting(world, wallet)] : [])]
  }
  const vault = random.pick(world.synchronous)
  const held = world.synchronous.filter((each) => balanceOf(world, each, wallet) > 0n)
  const mine = held.length > 0 ? random.pick(held) : vault
  // Who waits for something, or has shares that it can ask to redeem, goes on with it.
  const waits = world.waiting.some(({ controller, left }) => controller === wallet && left > 0n)
  const asks = world.slow.some((each) => balanceOf(world, each, wallet) > 0n)
  if (random.chance(waits ? 0.5 : asks ? 0.3 : 0)) return [waiting(world, wallet)]
  if (held.length > 0 && random.chance(0.25)) return redeem(world, wallet, mine)
  const kind = random.below(23)
  if (kind < 5) return [deposit(world, wallet, vault)]
  if (kind < 6) return [mint(world, wallet, vault)]
  if (kind < 8) return redeem(world, wallet, mine)
  if (kind < 9) return [...transfer(world, wallet, mine), deposit(world, wallet, vault)]
  if (kind < 10) return [silent(world, wallet, vault), deposit(world, wallet, vault)]
  if (kind < 12) return [world.repeats.chance(0.3) ? passedOn(world, wallet, vault) : zap(world, wallet, vault)]
  if (kind < 13) return [zap(world, wallet, vault), zap(world, wallet, vault)]
  if (kind < 14) return [nothing(world, wallet, vault), deposit(world, wallet, vault)]
  if (kind < 15) return flash(world, wallet, vault)
  if (kind < 16) return transfer(world, wallet, mine)
  if (kind < 17) return [...redeem(world, wallet, mine), deposit(world, wallet, vault)]
  if (kind < 18) return [deposit(world, wallet, vault), deposit(world, wallet, vault)]
  if (kind < 19) return [loop(world, wallet, vault)]
  if (kind < 22) return [waiting(world, wallet)]
  return [routed(world, wallet, vault)]
}

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
  const data = coded(world, wallet, vault.address, depositData(vault, assets, receiver))
  if (receiver === wallet) world.plans.unshift({ wallet, vault, assets, data })
  return { target: vault.address, data, run: (call) => runDeposit(world, vault, call, receiver, assets) }
}

function mint(world: World, wallet: string, vault: DeriveVault): Act {
  // These have no call that names shares.
  if (vault === staked || vault === yielding) return deposit(world, wallet, vault)
  const assets = world.random.between(3, 900)
  const data = coded(world, wallet, vault.address, callData('mint', sharesFor(vault, assets), wallet))
  return { target: vault.address, data, run: (call) => runDeposit(world, vault, call, wallet, assets) }
}

/** Some of what it holds, often all. */
function redeem(world: World, wallet: string, vault: DeriveVault): Act[] {
  const held = balanceOf(world, vault, wallet)
  if (held === 0n) return [deposit(world, wallet, vault)]
  const shares = world.random.chance(0.3) ? held : 1n + BigInt(world.random.below(Number(held)))
  const cools = vault.id === cooled.id && world.random.chance(0.7)
  const plain = cools ? callData('cooldownShares', shares) : redeemData(vault, shares, wallet, wallet)
  const data = coded(world, wallet, vault.address, plain)
  const receiver = cools ? cooling : wallet
  const run = (call: Call) => void runRedeem(world, vault, call, wallet, receiver, shares)
  const target = vault.address
  // What has cooled down before is taken out first; the vault tells nothing of it.
  const unstake = { target, data: coded(world, wallet, target, callData('unstake', wallet)), run: () => undefined }
  // A stake's window is opened by a call that tells nothing either.
  const opens = { target, data: coded(world, wallet, target, callData('cooldown')), run: () => undefined }
  const first = cools ? [unstake] : vault === staked || vault === covering ? [opens] : []
  return [...(world.random.chance(0.3) ? first : []), { target, data, run }]
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
    call.did.push(sayDeposit(vault, call.caller, wallet, assets, 0n))
  }
  return { target: vault.address, data: coded(world, wallet, vault.address, depositData(vault, assets, wallet)), run }
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
  const plain = depositData(vault, assets, receiver)
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

/** A deposit that asks for a least number of shares, through a router that keeps nothing. */
function routed(world: World, wallet: string, vault: DeriveVault): Act {
  const assets = world.random.between(3, 2_000)
  const shares = sharesFor(vault, assets)
  const target = depositRouter
  const run = (call: Call) => {
    const made = newCall(target, vault.address, depositData(vault, assets, wallet))
    call.did.push(made)
    runDeposit(world, vault, made, wallet, assets)
  }
  const data = callData('depositWithMinimum', vault.address, assets, wallet, shares)
  return { target, data: coded(world, wallet, target, data), run }
}

function flash(world: World, wallet: string, vault: DeriveVault): Act[] {
  const assets = world.random.between(3, 3_000)
  const into = depositData(vault, assets, wallet)
  const shares = sharesFor(vault, assets) - (world.random.chance(0.3) ? 1n : 0n)
  const out = redeemData(vault, shares, wallet, wallet)
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
      const into = newCall(target, vault.address, depositData(vault, 300n, wallet))
      call.did.push(into)
      runDeposit(world, vault, into, wallet, 300n)
      const shares = sharesFor(vault, 300n)
      if (leaves && round === rounds - 1) return
      const back = newCall(target, vault.receiptToken, callData('transfer', target, shares))
      call.did.push(back)
      runTransfer(world, vault, back, wallet, target, shares)
      const out = newCall(target, vault.address, redeemData(vault, shares, target, target))
      call.did.push(out)
      runRedeem(world, vault, out, target, target, shares)
    }
  }
  return { target, data: coded(world, wallet, target, callData('zap', 300n, wallet)), run }
}
