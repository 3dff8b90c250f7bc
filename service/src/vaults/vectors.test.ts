import {
  type AbiFunction,
  type Address,
  decodeEventLog,
  encodeFunctionData,
  getAddress,
  type Hex,
  numberToHex,
  parseAbi,
  parseAbiItem,
  toEventSelector,
  toFunctionSelector,
} from 'viem'
import { describe, expect, it } from 'vitest'
import { readVectors } from '../../test/vectors.js'
import type { Read } from '../rpc/multicall.js'
import { listEvents, type RequestOffer, type Vault } from './kind.js'
import { erc4626, interfaceIds } from './kinds/erc4626.js'
import { erc7540 } from './kinds/erc7540.js'
import { lagoon } from './kinds/lagoon.js'
import { vaultKinds } from './kinds.js'

type Item = { signature: string; declaration: string; selector?: Hex; topic?: Hex }
type File = {
  groups: Record<string, { functions?: Item[]; events?: (Item & Record<string, Hex>)[] }>
  interfaceIds: Record<string, { computed: Hex }>
  calldata: { name: string; declaration: string; args: unknown[]; data: Hex }[]
  logs: { name: string; declaration: string; topics: Hex[]; data: Hex; decoded: Record<string, unknown> }[]
}
const file = readVectors('erc4626-7540-selectors.json') as File
const wallet: Address = '0x1111111111111111111111111111111111111111'
const at: Address = '0x2222222222222222222222222222222222222222'
const vault: Vault = {
  chainId: 1,
  address: at,
  asset: '0x3333333333333333333333333333333333333333',
  assetDecimals: 6,
  receiptToken: at,
  receiptDecimals: 18,
}
const calldata = (name: string): Hex => {
  const found = file.calldata.find((vector) => vector.name === name)
  if (!found) throw new Error(`no calldata vector ${name}`)
  return found.data
}
/** What a read leads to when nothing answers, or when everything answers `word`. */
const silent = <T>(read: Read<T>): T => read.answer(read.reads.map(() => undefined))
const all = <T>(read: Read<T>, word: bigint): T => read.answer(read.reads.map(() => numberToHex(word, { size: 32 })))
const callOf = (offer: RequestOffer) => (offer.refusal === undefined ? offer.call.data : offer.refusal)

describe('the selectors', () => {
  const functions = Object.values(file.groups).flatMap((group) => group.functions ?? [])
  const events = Object.values(file.groups).flatMap((group) => group.events ?? [])

  it('of every function are those of its declaration', () => {
    expect(functions.length).toBe(146)
    for (const { declaration, selector } of functions)
      expect(
        toFunctionSelector(parseAbiItem(declaration.replace(' pure ', ' view ')) as AbiFunction),
        declaration,
      ).toBe(selector)
  })

  it('of every event are those of its declaration', () => {
    expect(events.length).toBe(44)
    for (const event of events) {
      const topic = event['topic0'] ?? event.topic ?? event['hash']
      expect(toEventSelector(event.declaration), event.declaration).toBe(topic)
    }
  })

  it('of the interfaces we ask for are the published ones', () => {
    expect(interfaceIds).toEqual({
      asyncDeposit: file.interfaceIds['ERC-7540 async deposit']?.computed,
      asyncRedeem: file.interfaceIds['ERC-7540 async redeem']?.computed,
      cancelDeposit: file.interfaceIds['ERC-7887 cancel deposit']?.computed,
    })
  })

  it('of the events our kinds emit are among them', () => {
    const known = new Set(events.map(({ declaration }) => toEventSelector(declaration)))
    // ERC-5115, stakes with a window and queues of Maple are not among the vectors.
    const others = ['erc5115', 'window-stake', 'maple']
    const own = vaultKinds.filter(({ name }) => !others.includes(name))
    expect(own.length).toBe(vaultKinds.length - others.length)
    for (const kind of own)
      for (const event of listEvents(kind))
        expect(known.has(toEventSelector(event)), `${kind.name} ${event.name}`).toBe(true)
  })
})

describe('calldata', () => {
  it.each(file.calldata.map((vector) => [vector.name, vector] as const))(
    'is encoded as published: %s',
    (_name, vector) => {
      const abi = parseAbi([vector.declaration])
      const args = vector.args.map(toArgument)
      expect(encodeFunctionData({ abi, args } as never)).toBe(vector.data)
    },
  )

  const deposit = { vault, wallet, tokenIn: vault.asset, amount: 1_000_000n, slippageBps: 50 }
  const withdraw = { vault, wallet, shares: 10n ** 18n, tokenOut: vault.asset, slippageBps: 50 }
  const request = { vault, wallet, requestIds: [0n], requestId: undefined }

  it('of our kinds is the published one', () => {
    expect(silent(erc4626.plans.deposit(deposit)).call.data).toBe(calldata('ERC-4626 deposit'))
    expect(silent(erc4626.plans.withdraw(withdraw)).call.data).toBe(calldata('ERC-4626 redeem'))
    for (const kind of [erc7540, lagoon]) {
      expect(silent(kind.plans.deposit(deposit)).call.data).toBe(calldata('ERC-7540 requestDeposit'))
      expect(silent(kind.plans.withdraw(withdraw)).call.data).toBe(calldata('ERC-7540 requestRedeem'))
      expect(callOf(all(kind.plans.claimDeposit!(request), 1_000_000n))).toBe(calldata('ERC-7540 claim via deposit(3)'))
    }
    expect(callOf(all(erc7540.plans.cancelDeposit!(request), 1n))).toBe(calldata('ERC-7887 cancelDepositRequest'))
    expect(callOf(all(lagoon.plans.cancelDeposit!(request), 1n))).toBe(calldata('Lagoon cancelRequestDeposit()'))
  })

  it('is not built for a vault that does not answer', () => {
    expect(silent(erc4626.plans.deposit(deposit)).closed).toBeDefined()
    expect(silent(erc4626.plans.withdraw(withdraw)).closed).toBeDefined()
    expect(callOf(silent(erc7540.plans.claimDeposit!(request)))).toBe('NOTHING_PENDING')
    expect(callOf(silent(erc7540.plans.cancelDeposit!(request)))).toBe('NOTHING_PENDING')
  })
})

describe('logs', () => {
  it.each(file.logs.map((log) => [log.name, log] as const))('are decoded as published: %s', (_name, log) => {
    const known = vaultKinds.flatMap(listEvents)
    const ours = known.some((event) => toEventSelector(event) === log.topics[0])
    const abi = ours ? known : parseAbi([log.declaration])
    const { args } = decodeEventLog({ abi, topics: log.topics as [Hex, ...Hex[]], data: log.data })
    const read = Object.fromEntries(Object.entries(args ?? {}).map(([name, value]) => [name, toText(value)]))
    const expected = Object.fromEntries(Object.entries(log.decoded).map(([name, value]) => [name, toText(value)]))
    expect(read).toEqual(expected)
  })
})

function toText(value: unknown): unknown {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value) ? getAddress(value) : String(value)
}

function toArgument(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toArgument)
  return typeof value === 'string' && /^[0-9]+$/.test(value) ? BigInt(value) : value
}
