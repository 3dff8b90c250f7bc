import { concat, type Hex, keccak256, maxUint256, size, slice, toFunctionSelector } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { concatBytes, encodeCbor } from '../src/codec.js'
import { attribution } from '../src/verify/index.js'
import { addressWord, attacker, toWord } from './mutations.js'
import type { Plan } from './plans.js'

/** Anvil's tenth public test account: the key that signed the plans. */
const service = privateKeyToAccount('0x2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6')
export const stranger = privateKeyToAccount('0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d')

/** The calldata of a plan's last call, forged by someone whom the service's own key obeys. */
export type Forgery = { name: string; data: string }

type Signed = {
  code: string
  actionId: Hex
  referralCode: string
  chainId: number
  wallet: Hex
  target: Hex
  callHash: Hex
  /** Said beside the signature, which does not cover it. */
  swaps: boolean
}

const types = {
  Attribution: [
    { name: 'code', type: 'string' },
    { name: 'actionId', type: 'bytes16' },
    { name: 'chainId', type: 'uint256' },
    { name: 'wallet', type: 'address' },
    { name: 'target', type: 'address' },
    { name: 'callHash', type: 'bytes32' },
    { name: 'referralCode', type: 'string' },
  ],
} as const

async function sign(by: typeof service, { swaps, ...message }: Signed): Promise<attribution.OwnSuffix> {
  const domain = { name: 'OpenEarn Attribution', version: '1' } as const
  const signature = await by.signTypedData({
    domain,
    types,
    primaryType: 'Attribution',
    message: { ...message, chainId: BigInt(message.chainId) },
  })
  const { code, actionId, referralCode } = message
  return {
    ...{ code, actionId, signature },
    ...(referralCode === '' ? {} : { referralCode }),
    ...(swaps ? { swaps } : {}),
  }
}

/** What is in the plan's last call, and what the service signed for it. */
function read(plan: Plan): { call: Hex; own: attribution.OwnSuffix; signed: Signed } | undefined {
  const { to, data } = plan.transactions[plan.transactions.length - 1]!.transaction
  const [suffix] = attribution.decode(data as Hex)
  const own = suffix && attribution.readOwnMetadata(suffix)
  if (!suffix || !own) return undefined
  const call = slice(data as Hex, 0, suffix.start)
  const { code, actionId, referralCode = '', swaps = false } = own
  const wallet = plan.request.userAddress as Hex
  const signed = {
    code,
    actionId,
    referralCode,
    chainId: plan.context.chainId,
    wallet,
    target: to as Hex,
    callHash: keccak256(call),
    swaps,
  }
  return { call, own, signed }
}

/** Pins everything of a claim or cancellation that its request leaves open, from the plan itself. */
export function pin(plan: Plan): Plan {
  const found = read(plan)
  if (!found) return plan
  const words = listWords(found.call)
  // What is taken back of a queue is named by its amount, other cancellations by the request.
  const isQueue = plan.context.vault.kind === 'maple'
  if (plan.request.type === 'claimDeposit' || (plan.request.type === 'cancelDeposit' && isQueue))
    plan.context.requestAmount = String(words[0] ?? 0n)
  else if (plan.request.type === 'cancelDeposit' && words.length > 0) plan.request.requestId = String(words[0])
  if (plan.request.type === 'withdraw' && plan.context.vault.kind === 'veda')
    plan.request.slippageBps = Number(words[2] ?? 0n)
  const at = findMinimum(plan, found.call)
  if (at !== undefined) plan.context.minimumOut = String(words[at] ?? 0n)
  return plan
}

/** Which argument of a call says the least that must come out; the caller's own minimum pins it. */
function findMinimum({ context, request }: Plan, call: Hex): number | undefined {
  if (context.vault.kind === 'erc5115' || (request.type === 'deposit' && request.protect)) return 3
  if (request.type === 'deposit' && context.vault.kind === 'veda') return 2
  return call.startsWith(syncRedeem) ? 2 : undefined
}

const syncRedeem = toFunctionSelector('syncRedeem(uint256,address,uint256)')

const listWords = (call: Hex): bigint[] =>
  Array.from({ length: Math.floor((size(call) - 4) / 32) }, (_, i) => BigInt(slice(call, 4 + 32 * i, 36 + 32 * i)))

export const withWord = (call: Hex, at: number, word: string): Hex =>
  `0x${call.slice(2, 10 + 64 * at)}${word}${call.slice(10 + 64 * at + 64)}`

/** transfer, transferFrom, approve, setOperator, mint, withdraw: calls a vault has that nobody asked for. */
const strangeSelectors = ['a9059cbb', '23b872dd', '095ea7b3', '558a7297', '94bf804d', 'b460af94']

/** Calls like the plan's own that do something else; each will be signed as if it had been asked for. */
function listWrongCalls(plan: Plan, call: Hex): [name: string, call: Hex][] {
  const words = listWords(call)
  const isLeast = (at: number) => findMinimum(plan, call) === at
  const changed = words.flatMap((word, at): [string, Hex][] => {
    const isAddress = word > 2n ** 80n && word < 2n ** 160n
    const numbers = isLeast(at) ? [word - 1n, 1n, 0n] : [word + 1n, word - 1n, word * 2n, 0n, maxUint256]
    return [
      ...numbers
        .filter((value) => BigInt.asUintN(256, value) !== word)
        .map((value): [string, Hex] => ['an argument', withWord(call, at, toWord(value))]),
      ...(isAddress ? [plan.context.vault.asset, plan.context.vault.address, attacker] : [])
        .filter((address) => BigInt(address) !== word)
        .map((address): [string, Hex] => ['an address', withWord(call, at, addressWord(address))]),
      ...(isAddress ? [160n, 255n] : []).map((bit): [string, Hex] => [
        'dirty upper bits',
        withWord(call, at, toWord(word | (1n << bit))),
      ]),
    ]
  })
  return [
    ...changed,
    ...strangeSelectors.map((selector): [string, Hex] => ['another function', `0x${selector}${call.slice(10)}`]),
    ...['0x00', `0x${'00'.repeat(32)}`, `0x${addressWord(attacker)}`].map((more): [string, Hex] => [
      'bytes after the arguments',
      concat([call, more as Hex]),
    ]),
    ['bytes before the call', concat(['0x00', call])],
    ['the last byte missing', slice(call, 0, size(call) - 1)],
    ['no call at all', '0x'],
  ]
}

/** A suffix with the members of ours in a form the service does not write. */
export function writeOtherwise({ code, actionId, signature }: attribution.OwnSuffix, more: object): Hex {
  const bytes = (hex: Hex) => Uint8Array.from(Buffer.from(hex.slice(2), 'hex'))
  const item = encodeCbor({ a: code, m: { g: bytes(signature), i: bytes(actionId) }, ...more })
  const marker = Uint8Array.from(Buffer.from('8021'.repeat(8), 'hex'))
  return `0x${Buffer.from(concatBytes(item, Uint8Array.of(item.length >> 8, item.length & 255, 2), marker)).toString('hex')}`
}

/** The plan with another last call or suffix, signed by the service's own key as if it had been asked for. */
export async function resign(
  plan: Plan,
  change: (call: Hex) => Hex,
  suffix: Partial<Pick<Signed, 'code' | 'referralCode' | 'actionId'>> = {},
  by = service,
): Promise<Plan> {
  const { call, signed } = read(plan)!
  const wrong = change(call)
  const own = await sign(by, { ...signed, ...suffix, callHash: keccak256(wrong) })
  const forged = structuredClone(plan)
  forged.transactions[forged.transactions.length - 1]!.transaction.data = concat([wrong, attribution.encode(own)])
  return forged
}

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** The other signature of the same key and message (high s). */
function malleate(signature: Hex): Hex {
  const s = toWord(order - BigInt(slice(signature, 32, 64)))
  return concat([slice(signature, 0, 32), `0x${s}`, slice(signature, 64) === '0x1b' ? '0x1c' : '0x1b'])
}

/** Every forgery of a plan. All but those said to be a stranger's carry a signature of the service's own key. */
export async function forge(plan: Plan): Promise<Forgery[]> {
  const found = read(plan)
  if (!found) return []
  const { call, own, signed } = found
  const forgeries: Forgery[] = []
  const whole = concat([call, attribution.encode(own)])
  const add = (name: string, ...parts: Hex[]) => {
    const data = concat(parts)
    // Nothing is lost of a call that has no arguments.
    if (data !== whole) forgeries.push({ name: `signed: ${name}`, data })
  }
  for (const [name, wrong] of listWrongCalls(plan, call)) {
    const suffix = await sign(service, { ...signed, callHash: keccak256(wrong) })
    add(name, wrong, attribution.encode(suffix))
  }
  const others: [string, Partial<Signed>][] = [
    ['another distributor', { code: 'other' }],
    ['another distributor', { code: 'ACME' }],
    ['another distributor', { code: 'acme2' }],
    ['another action', { actionId: `0x${'11'.repeat(16)}` }],
    ['another referral code', { referralCode: 'thief' }],
    ['another referral code', { referralCode: own.referralCode === undefined ? 'x' : '' }],
  ]
  for (const [name, change] of others)
    add(name, call, attribution.encode(await sign(service, { ...signed, ...change })))
  const elsewhere: [string, Partial<Signed>][] = [
    ['for another chain', { chainId: 1 }],
    ['for another wallet', { wallet: attacker }],
    ['for another target', { target: attacker }],
    ['for another call', { callHash: keccak256('0x') }],
    ['for another distributor', { code: 'other' }],
    ['for another action', { actionId: `0x${'22'.repeat(16)}` }],
  ]
  for (const [name, change] of elsewhere) {
    const { signature } = await sign(service, { ...signed, ...change })
    add(name, call, attribution.encode({ ...own, signature }))
  }
  add('by a stranger', call, attribution.encode(await sign(stranger, signed)))
  add('high s', call, attribution.encode({ ...own, signature: malleate(own.signature) }))
  for (const v of ['0x00', '0x01', '0x1d'] as const)
    add('another v', call, attribution.encode({ ...own, signature: concat([slice(own.signature, 0, 64), v]) }))
  const mine = attribution.encode(own)
  const foreign = attribution.encode({ codes: ['baseapp'] })
  add('twice', call, mine, mine)
  add('a foreign one inside', call, foreign, mine)
  add('a foreign one outside', call, mine, foreign)
  add('written otherwise', call, writeOtherwise(own, { w: 'wallet' }))
  add('written otherwise', call, writeOtherwise(own, { s: ['other'] }))
  add('cut', call, slice(mine, 0, size(mine) - 1))
  add('alone', mine)
  add('without the call', concat([slice(call, 0, 4), mine]))
  return forgeries
}
