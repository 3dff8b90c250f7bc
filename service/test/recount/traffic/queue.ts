import { type Digits, least } from '../bytes.js'
import { firstTopics } from '../told.js'
import { type Act, coded } from './addSuffix.js'
import { type Call, newCall } from './tree.js'
import { balanceOf, move, queued, runDeposit, say, type World, zero } from './world.js'
import { callData, queueRequest } from './write.js'

/** What people and the delegate do with a pool of Maple and its queue. */
export function queueing(world: World, wallet: string): Act {
  const { random } = world
  const held = balanceOf(world, queued, wallet)
  const one = world.waiting.find(
    ({ vault, left, controller }) => vault === queued && left > 0n && controller === wallet,
  )
  const processed = world.byHand.get(wallet) ?? 0n
  if (processed > 0n && random.chance(0.4)) return redeemByHand(world, wallet, processed)
  if (one && random.chance(0.7)) {
    const kind = random.below(5)
    if (kind === 0) return takeBack(world, wallet, one)
    return kind === 1 ? giveBack(world, wallet, one) : process(world, wallet, one)
  }
  if (!one && held > 0n && random.chance(0.7)) return request(world, wallet, held)
  const assets = random.between(10, 900)
  const run = (call: Call) => runDeposit(world, queued, call, wallet, assets)
  return { target: pool, data: coded(world, wallet, pool, callData('deposit', assets, wallet)), run }
}

const pool = queued.address
const { queue, manager } = queued.contracts as { queue: string; manager: string }
type One = World['waiting'][number]

const someOf = ({ random }: World, amount: bigint): bigint =>
  random.chance(0.4) ? amount : 1n + BigInt(random.below(Number(amount)))

/** The pool's own tokens, moved by a call of the queue. */
function moveBy(world: World, call: Call, from: string, to: string, shares: bigint): void {
  const made = newCall(queue, pool, callData('transfer', to, shares))
  call.did.push(made)
  move(world, queued, made, from, to, shares)
}

/** A call of the pool that its manager passes on to the queue, each with arguments of its own and no suffix. */
function passOn(call: Call, toManager: Digits, toQueue: Digits): Call {
  const inner = newCall(manager, queue, toQueue)
  const passed = newCall(pool, manager, toManager)
  passed.did.push(inner)
  call.did.push(passed)
  return inner
}

function request(world: World, wallet: string, held: bigint): Act {
  const shares = someOf(world, held)
  const [id, byHand] = [world.nextId++, world.random.chance(0.4)]
  const run = (call: Call) => {
    const isOpen = world.waiting.some(
      ({ vault, left, controller }) => vault === queued && left > 0n && controller === wallet,
    )
    if (isOpen || balanceOf(world, queued, wallet) < shares) return
    move(world, queued, call, wallet, manager, shares)
    const asked = callData('requestRedeem', shares, wallet, wallet)
    const inner = passOn(call, asked, callData('addShares', shares, wallet))
    moveBy(world, inner, manager, queue, shares)
    inner.did.push(say(queue, firstTopics.requestCreated, [id, wallet], [shares]))
    call.did.push(say(pool, firstTopics.redemptionRequested, [wallet], [shares, shares]))
    world.waiting.push({
      ...{ vault: queued, kind: 'redeem', controller: wallet, id, left: shares, cancelling: false, byHand },
    })
  }
  return { target: pool, data: coded(world, wallet, pool, queueRequest(shares, wallet)), run }
}

/** What the queue says of a request that shrinks. */
const sayLess = ({ id, left }: One, shares: bigint) =>
  left === shares
    ? say(queue, firstTopics.requestRemoved, [id], [])
    : say(queue, firstTopics.requestDecreased, [id], [shares])

/** The delegate processes a request, or a part of it; here anybody may be the delegate. */
function process(world: World, wallet: string, one: One): Act {
  const shares = someOf(world, one.left)
  const assets = (shares * 11n) / 10n
  const run = (call: Call) => {
    if (one.left < shares) return
    const { controller: owner, id } = one
    call.did.push(say(queue, firstTopics.requestProcessed, [id, owner], [shares, assets]), sayLess(one, shares))
    one.left -= shares
    if (one.byHand) {
      world.byHand.set(owner, (world.byHand.get(owner) ?? 0n) + shares)
      return
    }
    const made = newCall(queue, pool, callData('redeem', shares, owner, queue))
    call.did.push(made)
    move(world, queued, made, queue, zero, shares)
    made.did.push(say(pool, firstTopics.withdraw, [queue, owner, queue], [assets, shares]))
  }
  const plain = callData('processRedemptions', shares)
  return { target: queue, data: world.random.chance(0.5) ? coded(world, wallet, queue, plain) : plain, run }
}

function redeemByHand(world: World, wallet: string, processed: bigint): Act {
  const shares = someOf(world, processed)
  const run = (call: Call) => {
    const left = world.byHand.get(wallet) ?? 0n
    if (left < shares) return
    world.byHand.set(wallet, left - shares)
    const inner = passOn(call, callData('processRedeem', shares, wallet), callData('processExit', shares, wallet))
    moveBy(world, inner, queue, wallet, shares)
    move(world, queued, call, wallet, zero, shares)
    call.did.push(say(pool, firstTopics.withdraw, [wallet, wallet, wallet], [(shares * 11n) / 10n, shares]))
  }
  return { target: pool, data: coded(world, wallet, pool, callData('redeem', shares, wallet, wallet)), run }
}

function takeBack(world: World, wallet: string, one: One): Act {
  const shares = someOf(world, one.left)
  const run = (call: Call) => {
    const back = least(shares, one.left)
    if (back === 0n) return
    const asked = callData('removeShares', back, wallet)
    const inner = passOn(call, asked, asked)
    inner.did.push(sayLess(one, back))
    one.left -= back
    moveBy(world, inner, queue, wallet, back)
    call.did.push(say(pool, firstTopics.sharesRemoved, [wallet], [back]))
  }
  return { target: pool, data: coded(world, wallet, pool, callData('removeShares', shares, wallet)), run }
}

/** The delegate takes a request out of the queue. */
function giveBack(world: World, wallet: string, one: One): Act {
  const run = (call: Call) => {
    const { left, controller } = one
    if (left === 0n) return
    call.did.push(sayLess(one, left))
    one.left = 0n
    moveBy(world, call, queue, controller, left)
  }
  return { target: queue, data: coded(world, wallet, queue, callData('removeRequest', one.controller)), run }
}
