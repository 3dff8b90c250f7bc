import { signDigest } from '@openearn/attribution'
import { type Hex, parseEther, parseGwei } from 'viem'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { fakeClock } from '../../src/kernel/clock.js'
import { silentLog } from '../../src/kernel/log.js'
import type { RpcRequest } from '../../src/rpc/rpc.js'
import { createSender, findOutgoing, recordOutgoing, type SenderOptions } from '../../src/rpc/sender/index.js'
import { signOutgoing } from '../../src/rpc/sender/signed.js'
import { createKeySigner, type Signer } from '../../src/rpc/signer.js'
import { openTestDatabase, type TestDatabase } from '../database.js'
import { seededBytes, seededKey, seededRandom } from '../seed.js'
import { createKeyNode, type KeyNode } from './keyNode.js'
import { createNodes } from './lies.js'

/** A key on a node in memory, new for each test, and what the tests of a sender do with it. */

export const chainId = 31_337
export const target = `0x${'77'.repeat(20)}`
/** Gas limit of a call, and what it reserves at the node's first base fee with room for it to double. */
export const callGas = 75_000n
export const callReserve = callGas * parseGwei('21')

export let test: TestDatabase
export let clock: ReturnType<typeof fakeClock>
export let key: Hex
export let signer: Signer
export let node: KeyNode
let nodes: ((request: RpcRequest) => Promise<unknown>)[]

/** Opens a database for the tests of a file, and a key and its node for each of them. Called once in each file, as files share this module. */
export function openKeyWorld(): void {
  beforeAll(async () => {
    test = await openTestDatabase()
  })
  afterAll(() => test?.close())
  beforeEach(() => {
    key = seededKey()
    signer = createKeySigner(key, signDigest)
    clock = fakeClock('2026-01-01T00:00:00Z')
    start()
  })
}

export function start(given: { balance?: bigint; count?: number; l1Fee?: bigint } = {}): void {
  node = createKeyNode(signer.address, {
    ...{ random: seededRandom(), balance: parseEther('10'), count: 0, l1Fee: 0n },
    ...given,
  })
  nodes = [node.request]
}

export const open = (
  over: Partial<Omit<SenderOptions, 'caps'>> & {
    spending?: bigint
    confirmations?: number
    reorgRecheckSeconds?: number
  } = {},
) => {
  const { spending = parseEther('10'), confirmations = 2, reorgRecheckSeconds = 0, ...options } = over
  const chain = {
    ...{ chainId, name: 'Test', rpcUrls: [], nativeSymbol: 'ETH', headUrls: [], entryPoints: [] },
    ...{ confirmations, finalityDepth: 64, pollIntervalMs: 1_000, reorgRecheckSeconds, rpc: createNodes(nodes) },
  }
  const caps = { gasPrice: parseGwei('500'), spending }
  return createSender({ db: test.db, clock, log: silentLog }, { chain, signer, caps, ...options })
}

export async function queue(over: { value?: bigint; costMax?: bigint; data?: Hex } = {}): Promise<string> {
  const id = seededBytes()
    .toString('hex')
    .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5')
  clock.advance(1)
  const outgoing = {
    id,
    chainId,
    sender: signer.address,
    to: target,
    value: 0n,
    costMax: parseEther('1'),
    purpose: 'a test',
  }
  await recordOutgoing(test.db, { data: `0x${id.slice(0, 8)}`, ...outgoing, ...over }, clock.now())
  return id
}
export const find = (id: string) => findOutgoing(test.db, id)
export const states = async (...ids: string[]) => Promise.all(ids.map(async (id) => (await find(id))?.state))

/** Rounds of a block and a look each. */
export async function run(sender: { step(): Promise<void> }, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    node.mine(1)
    clock.advance(12_000)
    await sender.step()
  }
}

/** The same node, which tells something else where a change says so. */
export const telling =
  (change: (method: string, told: unknown, params: readonly unknown[]) => unknown) =>
  async (request: RpcRequest): Promise<unknown> =>
    change(request.method, await node.request(request), (request.params ?? []) as unknown[])

export async function sendAsStranger(): Promise<void> {
  const transaction = { chainId, nonce: node.count(), to: target, data: '0x57', value: 0n, gasLimit: 90_000n }
  const { raw } = await signOutgoing(signer, {
    ...transaction,
    fees: { maxFee: parseGwei('200'), tip: parseGwei('50') },
  })
  await node.request({ method: 'eth_sendRawTransaction', params: [raw] })
}

/** Other nodes from here on, the first of which is asked. */
export function setNodes(next: typeof nodes): void {
  nodes = next
}
/** Another key from here on. */
export function setSigner(next: Signer): void {
  signer = next
}
