import type { DeriveVault } from '../../../src/derive/config.js'
import { type Digits, digitsOf, wordOf } from '../bytes.js'
import { firstTopics } from '../told.js'
import { addSuffix, sometimes } from './addSuffix.js'
import { type Call, newCall, type Run } from './tree.js'
import {
  accounts,
  balanceOf,
  connectors,
  depositData,
  people,
  redeemData,
  relayer,
  runDeposit,
  runRedeem,
  safes,
  say,
  subAccountOf,
  type World,
} from './world.js'
import { writeSafe } from './write.js'

/**
 * What a connector is told: to call a vault in the name of an account. A word lies behind the data, so that nobody takes
 * its suffix for the connector's.
 */
const told = (vault: DeriveVault, account: string, data: Digits): Digits =>
  `c76ef2f9${wordOf(vault.address)}${wordOf(account)}${wordOf(BigInt(data.length / 2))}${data}${wordOf(0n)}`

/** The connector says whose the accounts of a prefix are when it meets the first of them, and a liar may say it again. */
function register(world: World, connector: string, call: Call, owner: string): void {
  const tell = (prefix: string, named: string) =>
    call.did.push(say(connector, firstTopics.ownerRegistered, [BigInt(`0x${prefix.padEnd(64, '0')}`), named], []))
  const key = `${connector}:${owner}`
  const prefix = digitsOf(owner).slice(0, 38)
  if (!world.registered.has(key)) tell(prefix, owner)
  else if (world.random.chance(0.1)) tell(prefix, world.random.pick([...people, `${owner.slice(0, 40)}07`]))
  world.registered.add(key)
}

/**
 * A wallet has a connector call a vault, in its own name or in that of a sub-account; a relayer may bring its consent, and
 * a Safe may be asked first. A vault may also be called itself and have the connector call it back.
 */
export function connected(world: World): Run {
  const { random } = world
  const connector = random.pick(connectors)
  const vault = random.pick(world.synchronous)
  const isSafe = random.chance(0.2)
  const wallet = random.pick(isSafe ? safes : [...people, ...people, ...accounts.slice(0, 1)])
  const account = random.chance(0.5) ? subAccountOf(wallet) : wallet
  const held = balanceOf(world, vault, account)
  const redeems = held > 0n && random.chance(0.4)
  const amount = redeems ? 1n + BigInt(random.below(Number(held))) : random.between(3, 900)
  const receiver = random.chance(0.2) ? random.pick(people) : account
  const plain = redeems ? redeemData(vault, amount, account, account) : depositData(vault, amount, receiver)
  const inner = sometimes(world, random.pick([wallet, account]), vault.address, plain)
  const run = (call: Call) => {
    register(world, connector, call, wallet)
    const made = newCall(connector, vault.address, inner)
    call.did.push(made)
    if (redeems) runRedeem(world, vault, made, account, account, amount, account)
    else runDeposit(world, vault, made, receiver, amount, account)
  }
  // The vault passes its call on as it stands, and the connector calls it back.
  if (account === wallet && !isSafe && random.chance(0.3)) {
    const root = newCall(wallet, vault.address, inner)
    const passed = newCall(vault.address, connector, told(vault, account, inner))
    root.did.push(passed)
    run(passed)
    return { root }
  }
  const plainly = told(vault, account, inner)
  const data = random.chance(0.5) ? addSuffix(world, { wallet, target: connector, data: plainly }) : plainly
  if (isSafe && random.chance(0.6)) {
    const root = newCall(relayer, wallet, writeSafe(connector, data, 0))
    const made = newCall(wallet, connector, data)
    root.did.push(made)
    run(made)
    return { root }
  }
  const root = newCall(isSafe || random.chance(0.2) ? relayer : wallet, connector, data)
  run(root)
  return { root }
}
