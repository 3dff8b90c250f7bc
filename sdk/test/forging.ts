import { type Hex, toFunctionSelector } from 'viem'
import type { Trust, types } from '../src/client/index.js'
import { advance, type Flow, isLast, type World } from '../src/flows/index.js'
import { pick, type Random } from './random.js'
import { type Loose, leavesOf, relayer, settlement } from './swapOrders.js'

/** Flows and answers that are forged, and the facts of a chain that they are compared with. */

/** How many of each kind are forged; 1,000 in the long run. */
export const forgeries = Number(process.env['LIES'] ?? 300)
export const attacker = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65'
export const factory = '0x6666666666666666666666666666666666666666'
export const stream = '0x7777777777777777777777777777777777777777'
export const router = '0x8888888888888888888888888888888888888888'
export const streamId = '117fbf7f-1755-4202-9bea-f02ff57091cb'

const facts: types.VerificationContext = {
  ...{ chainId: 1, vaults: [], wrappers: [], depositRouter: null, wrappedNative: null, quoter: null, gasCap: null },
  routers: [{ address: router, kind: 'uniswap-v2' }],
  ...{ settlement: settlement as Hex, relayer: relayer as Hex, streamFactory: factory, signers: [] },
}
export const trust: Trust = { version: 1, chains: [facts] }

export const selector = (name: string) => toFunctionSelector(`function ${name}`)
export const word = (value: bigint | string) => BigInt(value).toString(16).padStart(64, '0')

/** Advances a flow as far as it goes with a user who says yes to all. */
export async function insist<F extends Flow>(
  flow: F,
  world: World,
  isEnd: (flow: Flow) => boolean = isLast,
): Promise<F> {
  let at: Flow = flow
  for (let step = 0; step < 20 && !isEnd(at); step++) at = await advance(at, world, at.needs ?? 'go')
  return at as F
}
export const stored = <F extends Flow>(flow: F): F => JSON.parse(JSON.stringify(flow))

/** Changes one member of a value, deep inside. */
export function forge<T>(value: T, random: Random, keep: (path: string) => boolean = () => false): T {
  const forged = structuredClone(value)
  const leaves = leavesOf(forged).filter((path) => path.length > 0 && !keep(path.join('.')))
  const path = pick(random, leaves)
  const holder = path.slice(0, -1).reduce<Loose>((at, name) => at[name], forged)
  const name = path.at(-1) ?? ''
  const before = holder[name]
  const others = [
    attacker,
    '1',
    `${before}0`,
    String(before).replace(/.$/, (last) => (last === '1' ? '2' : '1')),
    null,
    7,
  ]
  holder[name] = pick(
    random,
    // A number is the same number as text, and with zeros before it.
    others.filter((each) => String(each).replace(/^0+(?=\d)/, '') !== String(before)),
  )
  return forged
}
