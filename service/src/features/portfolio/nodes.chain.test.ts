import { type Abi, type Address, erc20Abi, erc4626Abi, type Hex, numberToHex } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { chainSettings, openWorld, type World, type WorldVault } from '../../../test/actionWorld.js'
import { type Fault, startBadNode } from '../../../test/chain/badNode.js'
import { only } from '../../../test/chain/faultWorld.js'
import { type Earn, openEarn } from '../../../test/harness.js'
import type { PortfolioBody } from './index.js'

const unit = 10n ** 6n
const alice = account(1)
const bob = account(2)
/** A second chain with the same contracts. */
const soundId = 2
let world: World
let earn: Earn
let url: string
let bad: Awaited<ReturnType<typeof startBadNode>>
let sound: Awaited<ReturnType<typeof startBadNode>>
let dollar: Address
let vault: WorldVault

type Header = { number: Hex; hash: Hex; timestamp: Hex }

beforeAll(async () => {
  world = await openWorld()
  dollar = await world.token({ pegUsd: '1' })
  vault = await world.vault(dollar)
  await world.mint(dollar, alice.address, 1_000n * unit)
  await world.write(dollar, erc20Abi, 'approve', [vault.address, 2n ** 255n], alice)
  await world.sync()
  const { db, target } = world.earn
  await db`insert into chains (chain_id, name, slug) values (${soundId}, 'Sound', 'sound')`
  await db`
    insert into tokens (chain_id, address, decimals, symbol, name)
    select ${soundId}, address, decimals, symbol, name from tokens where address = ${dollar.toLowerCase()}`
  await db`
    insert into price_observations (chain_id, address, price_usd, source, observed_at, rank)
    select ${soundId}, address, price_usd, source, observed_at, rank from price_observations`
  bad = await startBadNode(world.anvil.url)
  sound = await startBadNode(world.anvil.url)
  sound.state.fault = only(['eth_chainId'], ({ id }) => ({ id, result: numberToHex(soundId) }))
  earn = await openEarn({
    now: '2026-11-20T12:00:00Z',
    chains: [chainSettings(bad.url), { ...chainSettings(sound.url), chainId: soundId, name: 'Sound' }],
    // It is the world's, which closes it.
    database: { db, target, close: async () => undefined },
  })
  url = await earn.service.publicApp.listen({ port: 0, host: '127.0.0.1' })
}, 60_000)
afterAll(async () => {
  await earn?.close()
  await Promise.all([bad?.stop(), sound?.stop()])
  await world?.close()
})
afterEach(() => {
  bad.state.fault = undefined
})

/** The newest block as the node words it. */
async function header(): Promise<Header> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getBlockByNumber', params: ['latest', false] })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(world.anvil.url, { method: 'POST', headers, body })
  return ((await answer.json()) as { result: Header }).result
}

const numberOf = ({ number }: Header) => Number(number)

/** The node's newest block is another than the chain's. */
const headIs = (change: (truth: Header) => Header): Fault =>
  only(['eth_getBlockByNumber'], ({ id, params }, { result }) =>
    params[0] === 'latest' ? { id, result: change(result as Header) } : undefined,
  )

/** The portfolio over HTTP, as whoever asks a poll later; what was kept is forgotten. */
async function ask(address: string = bob.address) {
  earn.clock.advance(5_000)
  earn.ctx.catalogue.answers.forget()
  const response = await fetch(`${url}/v2/wallet/${address}/portfolio`, { headers: { 'x-api-key': earn.publishable } })
  expect(response.status).toBe(200)
  const { portfolio } = (await response.json()) as PortfolioBody
  const [wallet] = portfolio.holdings.wallets
  if (!wallet) throw new Error('there is one wallet')
  const of = (chainId: number) => ({
    held: wallet.tokens.find((token) => token.chainId === chainId && token.address === dollar)?.amountRaw,
    asOf: wallet.asOf.find((block) => block.chainId === chainId),
    errors: wallet.errors.filter(({ source, chainId: own }) => own === chainId && source === 'rpc'),
  })
  return { watched: of(world.chainId), sound: of(soundId), totalUsd: wallet.totalUsd }
}

/** The chain beside is told whole, at its newest block. */
async function expectSound(told: Awaited<ReturnType<typeof ask>>['sound']): Promise<void> {
  const held = await world.balance(dollar, bob.address)
  const newest = await header()
  expect(told).toMatchObject({ held: String(held), errors: [], asOf: { blockHash: newest.hash } })
}

describe('a chain whose node lags', () => {
  it('is told as of its block and named, the rest is right, and nothing is named once it has caught up', async () => {
    await world.mint(dollar, bob.address, 5n * unit)
    const old = await header()
    await world.mint(dollar, bob.address, 2n * unit)
    await world.anvil.client.mine({ blocks: 20 })
    await world.sync()
    bad.state.fault = headIs(() => old)
    const behind = await ask()
    const derived = numberOf(await header())
    expect(behind.watched).toEqual({
      held: String(5n * unit),
      asOf: expect.objectContaining({ blockNumber: numberOf(old), blockHash: old.hash }),
      errors: [
        {
          ...{ chainId: world.chainId, source: 'rpc' },
          error: `Devnet is told as of block ${numberOf(old)}: its node is behind block ${derived}, which is derived`,
        },
      ],
    })
    await expectSound(behind.sound)
    expect(behind.totalUsd).toBe('12')
    bad.state.fault = undefined
    const after = await ask()
    expect(after).toMatchObject({ watched: { held: String(7n * unit), errors: [] }, totalUsd: '14' })
  })

  it('is not named within the blocks a confirmation takes, where the wallet has no entry in them', async () => {
    await world.anvil.client.mine({ blocks: 1 })
    const old = await header()
    await world.anvil.client.mine({ blocks: 1 })
    await world.sync()
    bad.state.fault = headIs(() => old)
    const { watched } = await ask()
    expect(watched).toMatchObject({ errors: [], asOf: { blockHash: old.hash } })
  })

  it('is named where it lacks an entry of the wallet that is derived, be it the newest block', async () => {
    const old = await header()
    await world.write(vault.address, erc4626Abi as Abi, 'deposit', [unit, alice.address], alice)
    await world.sync()
    expect(numberOf(await header())).toBe(numberOf(old) + 1)
    bad.state.fault = headIs(() => old)
    expect((await ask(alice.address)).watched.errors).toMatchObject([{ source: 'rpc' }])
    expect((await ask(bob.address)).watched.errors).toEqual([])
  })
})

describe('a chain whose node hangs', () => {
  it.each([
    ['at its newest block', 'eth_getBlockByNumber'],
    ['at what is held', 'eth_call'],
  ])('%s is named within the deadline, and the rest is right', async (_name, method) => {
    bad.state.fault = only([method], () => 'hang')
    const told = await ask()
    expect(told.watched).toEqual({
      ...{ held: undefined, asOf: undefined },
      errors: [expect.objectContaining({ chainId: world.chainId, source: 'rpc' })],
    })
    await expectSound(told.sound)
  })
})

describe('a chain whose node lies about the block', () => {
  const shifted = (value: Hex, by: bigint) => numberToHex(BigInt(value) + by)
  const heads: [string, (truth: Header) => Header][] = [
    ['its time', (truth) => ({ ...truth, timestamp: shifted(truth.timestamp, -1n) })],
    ['a number too high', (truth) => ({ ...truth, number: shifted(truth.number, 1_000_000n) })],
    ['a number too low', (truth) => ({ ...truth, number: shifted(truth.number, -5n) })],
    ['a hash no block has', (truth) => ({ ...truth, hash: `0x${'5'.repeat(64)}` })],
  ]
  it.each(heads)('%s is named, nothing of it is told, and the rest is right', async (_name, change) => {
    bad.state.fault = headIs(change)
    const told = await ask()
    expect(told.watched).toEqual({
      ...{ held: undefined, asOf: undefined },
      errors: [expect.objectContaining({ chainId: world.chainId, source: 'rpc' })],
    })
    await expectSound(told.sound)
  })

  /** What the reader answers begins with the number and the time of the block it runs in. */
  const readerSees = (number: bigint, timestamp: bigint): Fault =>
    only(['eth_call'], ({ id }, { result }) => {
      const text = String(result)
      const word = (at: number, by: bigint) =>
        (BigInt(`0x${text.slice(2 + at * 64, 66 + at * 64)}`) + by).toString(16).padStart(64, '0')
      return { id, result: `0x${word(0, number)}${word(1, timestamp)}${text.slice(130)}` }
    })

  it('is named where it answers of another block than was asked, and the rest is right', async () => {
    bad.state.fault = readerSees(1n, 12n)
    const told = await ask()
    expect(told.watched).toMatchObject({ held: undefined, asOf: undefined, errors: [{ chainId: world.chainId }] })
    await expectSound(told.sound)
  })

  it('is believed where contracts see the number of another chain, and the header of the hash does not', async () => {
    bad.state.fault = readerSees(1_000n, 0n)
    const { watched } = await ask()
    const { hash } = await header()
    expect(watched).toMatchObject({ held: String(7n * unit), errors: [], asOf: { blockHash: hash } })
    expect(bad.calls.get('eth_getBlockByHash')).toBeGreaterThan(0)
  })
})
