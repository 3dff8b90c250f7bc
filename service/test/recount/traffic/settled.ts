import type { DeriveVault } from '../../../src/derive/config.js'
import { type Digits, wordOf } from '../bytes.js'
import { firstTopics } from '../told.js'
import { sometimes } from './addSuffix.js'
import { type Call, newCall, type Run } from './tree.js'
import {
  balanceOf,
  chainId,
  depositData,
  forgers,
  otherSettlement,
  payout,
  people,
  redeemData,
  runDeposit,
  runRedeem,
  runTransfer,
  safes,
  say,
  settlement,
  sharesFor,
  solver,
  type World,
} from './world.js'
import { callData } from './write.js'
import { signedSuffix } from './writeSuffix.js'

/** Of GPv2's `settle` the selector and words that tell one settlement from another; nobody reads its arguments. */
const settle = (nonce: bigint): Digits => `13d79a0b${wordOf(nonce)}${wordOf(0n)}`

/**
 * A solver settles an order: the settlement deposits what it sold for its owner, or for itself and pays the shares on, or
 * redeems shares that were sold. Our own book's settlement carries our signature over the very call, and one order; others
 * have none, or another's, or several orders, or none, and a call may be sent again as it stands.
 */
export function settled(world: World): Run {
  const { random } = world
  const target = random.chance(0.8) ? settlement : otherSettlement
  const sender = random.chance(0.8) ? solver : random.pick([...forgers, ...people])
  const again = world.settlements.filter((each) => each.sender === sender && each.target === target)
  const data = again.length > 0 && random.chance(0.15) ? random.pick(again).data : writeCall(world, sender, target)
  world.settlements.push({ sender, target, data })
  const owner = random.chance(0.1) ? random.pick(safes) : random.pick(people)
  const vault = random.pick(world.synchronous)
  const told = newCall(sender, target, data)
  const trades = random.chance(0.8) ? [owner] : random.pick([[], [owner, random.pick(people)], [random.pick(people)]])
  if (random.chance(0.5)) tell(told, target, trades)
  const held = balanceOf(world, vault, owner)
  if (held > 0n && random.chance(0.5)) {
    // What it sold is pulled first.
    const shares = random.chance(0.5) ? held : 1n + BigInt(random.below(Number(held)))
    pass(world, told, vault, { by: target, from: owner, to: target, shares })
    const made = newCall(target, vault.address, redeemData(vault, shares, owner, target))
    told.did.push(made)
    runRedeem(world, vault, made, target, owner, shares)
  } else {
    const assets = random.between(3, 900)
    const receiver = random.chance(0.3) ? owner : target
    const plain = depositData(vault, assets, receiver)
    const made = newCall(target, vault.address, sometimes(world, target, vault.address, plain))
    told.did.push(made)
    runDeposit(world, vault, made, receiver, assets)
    if (receiver === target) pay(world, told, vault, owner, sharesFor(vault, assets))
  }
  if (!told.did.some((done) => !('did' in done))) tell(told, target, trades)
  if (sender === solver || people.includes(sender)) return { root: told }
  const root = newCall(random.pick([solver, ...people]), sender, sometimes(world, sender, sender, ''))
  root.did.push(told)
  return { root }
}

function writeCall(world: World, sender: string, target: string): Digits {
  const { random } = world
  const data = settle(world.nextNonce++)
  if (random.chance(0.25)) return sometimes(world, sender, target, data)
  const suffix = signedSuffix({
    code: random.pick(['alpha', 'beta', 'strict', 'turns', 'later', 'unknown']),
    actionId: random
      .below(1 << 30)
      .toString(16)
      .padStart(32, '0'),
    // One that another solver was given speaks for nobody.
    wallet: random.chance(0.85) ? sender : random.pick(people),
    target,
    data,
    chainId,
    key: random.chance(0.9) ? 0 : 2,
  })
  return `${data}${suffix}`
}

/** The settlement says of each order that it was filled; now and then another contract says so. */
function tell(call: Call, target: string, owners: readonly string[]): void {
  for (const owner of owners) call.did.push(say(target, firstTopics.trade, [owner], []))
}

/** Straight to the owner, or through a contract made for it, which keeps nothing unless it pays but a part. */
function pay(world: World, call: Call, vault: DeriveVault, owner: string, shares: bigint): void {
  const { target } = call
  if (world.random.chance(0.1)) return
  if (world.random.chance(0.5)) {
    pass(world, call, vault, { by: target, from: target, to: owner, shares })
    return
  }
  pass(world, call, vault, { by: target, from: target, to: payout, shares })
  const made = newCall(target, payout, '600a600c600039', 'create')
  call.did.push(made)
  const part = world.random.chance(0.9) || shares < 2n ? shares : shares / 2n
  pass(world, made, vault, { by: payout, from: payout, to: owner, shares: part })
}

type Passing = { by: string; from: string; to: string; shares: bigint }

function pass(world: World, call: Call, vault: DeriveVault, { by, from, to, shares }: Passing): void {
  const made = newCall(by, vault.receiptToken, callData('transfer', to, shares))
  call.did.push(made)
  runTransfer(world, vault, made, from, to, shares)
}
