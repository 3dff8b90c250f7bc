import type { DeriveVault } from '../../../src/derive/config.js'
import { type Act, coded } from './addSuffix.js'
import { type Call, newCall } from './tree.js'
import { depositData, entryPoints, modules, move, routers, runDeposit, vaults, type World } from './world.js'
import { callData } from './write.js'

/** What an act does; now and then its target first or last tells a contract of it, with the whole data of its own call. */
export function runAct(world: World, act: Act, call: Call): void {
  const isBefore = world.repeats.chance(0.5)
  if (isBefore) mayTell(world, call)
  act.run(call)
  if (!isBefore) mayTell(world, call)
}

/** A contract hears of a call by its data, passes that on or not, and moves a share of nothing. */
export function mayTell(world: World, call: Call, teller = call.target): void {
  const { repeats } = world
  // What an entry point calls is an account.
  if (Object.values(entryPoints).includes(teller)) return
  if (!repeats.chance(0.12)) return
  let at = call
  for (const module of modules.slice(0, repeats.chance(0.5) ? 1 : 2)) {
    const told = newCall(at === call ? teller : at.target, module, call.data)
    at.did.push(told)
    at = told
  }
  const vault = repeats.pick(vaults.slice(0, 16))
  const moved = newCall(at.target, vault.receiptToken, callData('transfer', at.target, 0n))
  at.did.push(moved)
  move(world, vault, moved, at.target, at.target, 0n)
}

/** An account that calls itself with what it was told, and does it there; or does it at once. */
export function mayCallItself(world: World, account: string, call: Call): Call {
  if (!world.repeats.chance(0.1)) return call
  const again = newCall(account, account, call.data)
  call.did.push(again)
  return again
}

/** A router with a vault's own function passes the call on as it came. */
export function passedOn(world: World, wallet: string, vault: DeriveVault): Act {
  const target = world.random.pick(routers)
  const assets = world.random.between(3, 900)
  const data = coded(world, wallet, target, depositData(vault, assets, wallet))
  const run = (call: Call) => {
    const made = newCall(target, vault.address, data)
    call.did.push(made)
    runDeposit(world, vault, made, wallet, assets)
  }
  return { target, data, run }
}
