import { type Digits, wordOf } from '../bytes.js'
import { firstTopics } from '../told.js'
import { type Act, coded } from './addSuffix.js'
import { type Call, newCall } from './tree.js'
import { balanceOf, locking, move, people, type Sold, say, pool as stranger, type World, who, zero } from './world.js'
import { callData, refundReferred, tellerDeposit } from './write.js'

const vault = locking.address
const { teller, queue } = locking.contracts as { teller: string; queue: string }
const otherToken = who('56')
type One = World['waiting'][number] & { order: NonNullable<World['waiting'][number]['order']> }

/** What people, the teller's keepers and those who pay requests do with a vault of Veda. */
export function selling(world: World, wallet: string): Act {
  const { random } = world
  const open = listOpen(world)
  const mine = open.filter(({ controller }) => controller === wallet)
  const refundable = world.sold.filter(({ at, lock }) => at + lock >= world.time)
  if (refundable.length > 0 && random.chance(0.25)) return refund(world, wallet, random.pick(refundable))
  if (open.length > 0 && random.chance(0.3)) return solve(world, wallet, open)
  if (mine.length > 0 && random.chance(0.5))
    return random.chance(0.6) ? takeBack(world, wallet, random.pick(mine)) : replace(world, wallet, random.pick(mine))
  if (open.length > 0 && random.chance(0.1)) return takeOut(world, wallet, random.pick(open))
  const held = balanceOf(world, locking, wallet)
  if (held > 0n && random.chance(0.6)) return random.chance(0.15) ? pass(world, wallet, held) : ask(world, wallet, held)
  return sell(world, wallet)
}

const isOpen = (each: World['waiting'][number]): each is One => each.order !== undefined && each.left > 0n
const listOpen = ({ waiting }: World): One[] => waiting.filter(isOpen)
const someOf = ({ random }: World, amount: bigint): bigint =>
  random.chance(0.4) ? amount : 1n + BigInt(random.below(Number(amount)))
const mayMove = (world: World, wallet: string, shares: bigint): boolean =>
  (world.locks.get(wallet) ?? 0) <= world.time && balanceOf(world, locking, wallet) >= shares

/** The vault's own tokens, moved by a call of the queue. */
function moveBy(world: World, call: Call, from: string, to: string, shares: bigint): void {
  const data = from === queue ? callData('transfer', to, shares) : callData('transferFrom', from, to, shares)
  const made = newCall(queue, vault, data)
  call.did.push(made)
  move(world, locking, made, from, to, shares)
}

/** The vault pays out what the teller tells it to, and says so. */
function exit(world: World, call: Call, from: string, token: string, assets: bigint, shares: bigint): void {
  const made = newCall(teller, vault, callData('exit', from, token, assets, from, shares))
  call.did.push(made)
  move(world, locking, made, from, zero, shares)
  made.did.push(say(vault, firstTopics.exit, [from, token, from], [assets, shares]))
}

function sell(world: World, wallet: string): Act {
  const { random } = world
  const assets = random.between(10, 900)
  const [token, form] = [random.chance(0.2) ? otherToken : locking.asset, random.below(3) as 0 | 1 | 2]
  const to = random.chance(0.3) ? random.pick(people) : wallet
  const lock = random.chance(0.2) ? 0 : 1 + random.below(4)
  const run = (call: Call) => {
    const [nonce, at, shares] = [world.nextId++, world.time, (assets * 9n) / 10n]
    const receiver = form === 2 ? to : call.caller
    const made = newCall(teller, vault, callData('enter', call.caller, token, assets, receiver, shares))
    call.did.push(made)
    move(world, locking, made, zero, receiver, shares)
    const amounts = [assets, shares, BigInt(at), BigInt(lock)]
    call.did.push(
      form === 0
        ? say(teller, firstTopics.tellerDeposit, [nonce, receiver, token], amounts)
        : say(teller, firstTopics.referredDeposit, [receiver, token, zero], [nonce, ...amounts]),
    )
    world.locks.set(receiver, at + lock)
    if (lock > 0) world.sold.push({ nonce, receiver, token, assets, shares, at, lock })
  }
  return { target: teller, data: coded(world, wallet, teller, tellerDeposit(form, token, assets, to)), run }
}

/** Who keeps the teller gives a deposit back; here anybody may be that. */
function refund(world: World, wallet: string, one: Sold): Act {
  const { nonce, receiver, token, assets, shares, at, lock } = one
  const args = [nonce, receiver, token, assets, shares, BigInt(at), BigInt(lock)] as const
  const plain = world.random.chance(0.5) ? callData('refundDeposit', ...args) : refundReferred(...args)
  const run = (call: Call) => {
    const place = world.sold.indexOf(one)
    if (place < 0 || balanceOf(world, locking, receiver) < shares) return
    world.sold.splice(place, 1)
    exit(world, call, receiver, token, assets, shares)
    call.did.push(say(teller, firstTopics.depositRefunded, [nonce, receiver], [nonce]))
  }
  return { target: teller, data: world.random.chance(0.6) ? coded(world, wallet, teller, plain) : plain, run }
}

/** An order as the queue makes it, and how it says so. */
function make(world: World, call: Call, user: string, shares: bigint, token: string): void {
  const [id, promised] = [world.nextId++, (shares * 11n) / 10n]
  const [maturity, deadline] = [world.random.below(2), 3 + world.random.below(5)]
  const words = [id, shares, promised, BigInt(world.time), BigInt(maturity), BigInt(deadline)]
  call.did.push(say(queue, firstTopics.orderMade, [id, user, token], words))
  const from = world.time + maturity
  const order = { token, promised, from, until: from + deadline }
  world.waiting.push({ vault: locking, kind: 'redeem', controller: user, id, left: shares, cancelling: false, order })
}

function ask(world: World, wallet: string, held: bigint): Act {
  const shares = someOf(world, held)
  const token = world.random.chance(0.2) ? otherToken : locking.asset
  const run = (call: Call) => {
    if (!mayMove(world, call.caller, shares)) return
    moveBy(world, call, call.caller, queue, shares)
    make(world, call, call.caller, shares, token)
  }
  const plain = callData('requestOnChainWithdraw', token, shares, 10, 604_800)
  return { target: queue, data: coded(world, wallet, queue, plain), run }
}

const sayCancelled = (world: World, { id, controller }: One) =>
  say(queue, firstTopics.orderCancelled, [id, controller], [BigInt(world.time)])

function giveBack(world: World, call: Call, one: One): void {
  if (!isOpen(one)) return
  const { left } = one
  one.left = 0n
  moveBy(world, call, queue, one.controller, left)
  call.did.push(sayCancelled(world, one))
}

/** Its owner takes an order back, also after its deadline. */
function takeBack(world: World, wallet: string, one: One): Act {
  const plain = callData('cancelOnChainWithdrawUsingRequestId', `0x${wordOf(one.id)}`)
  const run = (call: Call) => {
    if (call.caller === one.controller) giveBack(world, call, one)
  }
  return { target: queue, data: coded(world, wallet, queue, plain), run }
}

/** Who keeps the queue takes an order out of it. */
function takeOut(world: World, wallet: string, one: One): Act {
  const plain = callData('cancelUserWithdraws', [structOf(one)])
  return { target: queue, data: maybeCoded(world, wallet, plain), run: (call) => giveBack(world, call, one) }
}

/** Its owner asks for another discount or deadline: the shares stay where they are. */
function replace(world: World, wallet: string, one: One): Act {
  const plain = callData('replaceOnChainWithdrawUsingRequestId', `0x${wordOf(one.id)}`, 20, 700_000)
  const run = (call: Call) => {
    if (call.caller !== one.controller || !isOpen(one)) return
    const { left, controller, order } = one
    call.did.push(sayCancelled(world, one))
    one.left = 0n
    make(world, call, controller, left, order.token)
  }
  return { target: queue, data: coded(world, wallet, queue, plain), run }
}

const structOf = ({ id, controller, left, order }: One) => ({
  ...{ nonce: id, user: controller, assetOut: order.token, amountOfShares: left, amountOfAssets: order.promised },
  ...{ creationTime: order.from, secondsToMaturity: 0, secondsToDeadline: order.until - order.from },
})

const maybeCoded = (world: World, wallet: string, plain: Digits): Digits =>
  world.random.chance(0.5) ? coded(world, wallet, queue, plain) : plain

/** Somebody pays orders of one token and gets their shares, and may redeem them at once. */
function solve(world: World, wallet: string, open: readonly One[]): Act {
  const { random } = world
  const [first] = [random.pick(open)]
  const list = open.filter((each) => each === first || (each.order.token === first.order.token && random.chance(0.4)))
  const solver = random.chance(0.5) ? stranger : wallet
  const redeems = random.chance(0.5)
  const run = (call: Call) => {
    let sum = 0n
    for (const one of list) {
      if (!isOpen(one) || world.time < one.order.from || world.time > one.order.until) continue
      call.did.push(say(queue, firstTopics.orderSolved, [one.id, one.controller], [BigInt(world.time)]))
      sum += one.left
      one.left = 0n
    }
    if (sum === 0n) return
    moveBy(world, call, queue, solver, sum)
    if (!redeems || !mayMove(world, solver, sum)) return
    // The queue calls the solver back, which redeems by a call of its own.
    const asked = newCall(queue, solver, callData('boringSolve', call.caller, vault, first.order.token, sum, 0n, '0x'))
    const made = newCall(solver, teller, callData('bulkWithdraw', first.order.token, sum, 0n, solver))
    asked.did.push(made)
    call.did.push(asked)
    exit(world, made, solver, first.order.token, sum, sum)
  }
  const plain = callData('solveOnChainWithdraws', list.map(structOf), '0x', solver)
  return { target: queue, data: maybeCoded(world, wallet, plain), run }
}

/** Shares that are not locked go to somebody else. */
function pass(world: World, wallet: string, held: bigint): Act {
  const [shares, to] = [someOf(world, held), world.random.pick(people)]
  const run = (call: Call) => {
    if (mayMove(world, call.caller, shares)) move(world, locking, call, call.caller, to, shares)
  }
  return { target: vault, data: coded(world, wallet, vault, callData('transfer', to, shares)), run }
}
