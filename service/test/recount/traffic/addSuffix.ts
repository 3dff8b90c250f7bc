import type { Digits } from '../bytes.js'
import type { Call } from './tree.js'
import { chainId, type World } from './world.js'
import { legacy, malformed, schema0, schema1, schema2, signedSuffix } from './writeSuffix.js'

const codes = ['alpha', 'beta', 'Y2Zi7KWy', 'strict', 'turns', 'later', 'unknown']

/** A call's data with what a front end, a rival or a thief may put behind it. */
export function addSuffix(world: World, call: { wallet: string; target: string; data: Digits }): Digits {
  const { random } = world
  if (random.chance(0.35)) return call.data
  const suffix = chooseSuffix(world, call)
  world.suffixes.push(suffix)
  // A wallet's own suffix may lie inside, and another one outermost.
  if (random.chance(0.08)) return `${call.data}${schema0('privy')}${suffix}`
  if (random.chance(0.08)) return `${call.data}${suffix}${schema0(random.pick(codes))}`
  return `${call.data}${suffix}`
}

function chooseSuffix(
  world: World,
  { wallet, target, data }: { wallet: string; target: string; data: Digits },
): Digits {
  const { random } = world
  const code = random.pick(codes)
  const kind = random.below(16)
  if (kind < 3) return schema0(code)
  if (kind < 4) return schema0('base', code)
  if (kind < 5) return schema1(code)
  if (kind < 7) return schema2(code, random.chance(0.3) ? 'privy' : undefined)
  if (kind < 8) return legacy(code)
  if (kind < 9 && world.suffixes.length > 0) return random.pick(world.suffixes)
  if (kind < 10) return random.chance(0.3) ? malformed(code) : schema0(code)
  const actionId = Array.from({ length: 16 }, () => random.below(256).toString(16).padStart(2, '0')).join('')
  const key = random.chance(0.8) ? 0 : random.chance(0.5) ? 1 : 2
  return signedSuffix({
    code,
    actionId,
    wallet: random.chance(0.05) ? target : wallet,
    target,
    data,
    chainId: random.chance(0.05) ? 1 : chainId,
    swaps: random.chance(0.2),
    key,
    referralCode: random.chance(0.2) ? 'friend' : '',
  })
}

/** A call a wallet wants made, and what it does when it runs. The data may carry suffixes. */
export type Act = { target: string; data: Digits; run(call: Call): void }

export const coded = (world: World, wallet: string, target: string, data: Digits): Digits =>
  addSuffix(world, { wallet, target, data })

export const sometimes = (world: World, wallet: string, target: string, data: Digits): Digits =>
  world.random.chance(0.4) ? addSuffix(world, { wallet, target, data }) : data
