import type { Order } from '../orders/index.js'
import type { Live } from './book.js'

/**
 * Which orders of many are quoted at a block. No exchange pays a better price for more, so what a little of a token is worth
 * tells which orders cannot be filled, for all orders of a pair at once. Pure.
 */

/** An order to be quoted: the amounts it may be filled with, the largest first. */
export type Wanted = { live: Live; amounts: readonly bigint[] }

/** An amount of a pair that is not above any amount of the orders it stands for, and not below a sixteenth of the smallest. */
export type Screen = { key: string; order: Order; amountIn: bigint }

function screenOf({ live: { order }, amounts }: Wanted): Screen {
  const smallest = amounts.at(-1) ?? 1n
  // The largest power of 16 that is not above it.
  const amountIn = 1n << BigInt(4 * (smallest.toString(16).length - 1))
  return { key: `${order.tokenIn} ${order.tokenOut} ${amountIn}`, order, amountIn }
}

/** The look in which an item was last quoted; items that never were come first. */
export type Turns = ReadonlyMap<string, number>

const inTurn = <T>(all: readonly T[], turns: Turns, keyOf: (one: T) => string): T[] =>
  [...all].sort((a, b) => (turns.get(keyOf(a)) ?? -1) - (turns.get(keyOf(b)) ?? -1))

/** The screens of orders, each once; where they are more than `most`, those that were asked longest ago. */
export function listScreens(wanted: readonly Wanted[], turns: Turns, most: number): Screen[] {
  const screens = new Map(wanted.map((each) => screenOf(each)).map((screen) => [screen.key, screen]))
  return inTurn([...screens.values()], turns, ({ key }) => key).slice(0, most)
}

/** Whether a screen, by what it was quoted, pays the price that an order asks; one that was not asked says nothing. */
export function isNear(wanted: Wanted, paid: ReadonlyMap<string, bigint>): boolean {
  const { key, order, amountIn } = screenOf(wanted)
  const amountOut = paid.get(key)
  // Of what is rounded down a unit may be missing.
  return amountOut !== undefined && (amountOut + 1n) * order.amountIn >= order.minAmountOut * amountIn
}

/**
 * The orders that are quoted: those near their limit, and of the others some at each block, so that each has its turn
 * whatever its screen shows. Within both, those quoted longest ago come first.
 */
export function chooseQuoted(
  wanted: readonly Wanted[],
  paid: ReadonlyMap<string, bigint>,
  turns: Turns,
  most: { near: number; others: number },
): Wanted[] {
  const near = new Set(wanted.filter((each) => isNear(each, paid)))
  const turn = (all: readonly Wanted[]) => inTurn(all, turns, ({ live }) => live.order.id)
  const others = wanted.filter((each) => !near.has(each))
  return [...take(turn([...near]), most.near), ...take(turn(others), most.others)]
}

/** The most screens that are cached: a dropped one is quoted sooner. */
const screensMax = 10_000

/** Looks so far, and the one in which each order and each screen was quoted last. */
export type Looks = { look: number; orders: Map<string, number>; screens: Map<string, number> }

/** Notes that a look quoted these, and forgets orders that are wanted no more and the screens of longest ago. */
export function noteLook(
  looks: Looks,
  wanted: readonly Wanted[],
  { chosen, screens }: { chosen: readonly Wanted[]; screens: readonly Screen[] },
): void {
  looks.look += 1
  const ids = new Set(wanted.map(({ live }) => live.order.id))
  for (const id of looks.orders.keys()) if (!ids.has(id)) looks.orders.delete(id)
  for (const { live } of chosen) looks.orders.set(live.order.id, looks.look)
  looks.screens = new Map([...looks.screens].slice(-screensMax))
  for (const { key } of screens) {
    looks.screens.delete(key)
    looks.screens.set(key, looks.look)
  }
}

export const countAmounts = (wanted: readonly Wanted[]): number =>
  wanted.reduce((sum, { amounts }) => sum + amounts.length, 0)

/** From the front as many as have no more than `most` amounts; one at least, however many it has. */
function take(wanted: readonly Wanted[], most: number): Wanted[] {
  let count = 0
  const end = wanted.findIndex(({ amounts }) => {
    count += amounts.length
    return count > most
  })
  return end === -1 ? [...wanted] : wanted.slice(0, Math.max(1, end))
}
