import { type Address, erc20Abi, type Hex, hashTypedData, pad, parseSignature, serializeCompactSignature } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { goneNode } from '../../../test/actionWorld.js'
import { type OrderWorld, openOrderWorld } from '../../../test/chain/orderWorld.js'
import type { Answer } from '../../../test/harness.js'
import { readVectors } from '../../../test/vectors.js'

const usd = 10n ** 6n
const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const { smartAccountFixtures: fixtures } = readVectors('siwe.json')
const unknown = '01890a5d-ac96-774b-bcce-b302099a8057'

let world: OrderWorld
beforeAll(async () => {
  world = await openOrderWorld()
  // Enough for every order of this file: what an order takes of it is not asked for again.
  await allow(world.user.address, 1_000_000n * usd)
})
afterAll(() => world.world.close())

const allow = (owner: Address, amount: bigint) => asWallet(owner, 'approve', [world.settlement.relayer, amount])

async function asWallet(owner: Address, functionName: 'approve' | 'transfer', args: readonly [Address, bigint]) {
  const { client, done } = world.world.anvil
  await client.impersonateAccount({ address: owner })
  await client.setBalance({ address: owner, value: 10n ** 20n })
  const call = { address: world.tokenIn, abi: erc20Abi, functionName, args, account: owner } as const
  await done(client.writeContract(call as never))
}

/** A wallet that is a contract: it says yes to what its owner signs, or to everything. */
async function contractWallet(address: Address, bytecode: Hex, owner?: Address): Promise<Address> {
  const { client } = world.world.anvil
  await client.setCode({ address, bytecode })
  if (owner) await client.setStorageAt({ address, index: 0, value: pad(owner) })
  await world.world.mint(world.tokenIn, address, 10_000n * usd)
  await allow(address, 10_000n * usd)
  return address
}

describe('200', () => {
  it('opens an order, and the same signature again answers its present state, in either form and once it is filled', async () => {
    const built = await world.build({ amountIn: '5000000' })
    const { orderId, orderUid, settlement, cancellation, expiresAt, quote } = built.body
    const signature = await world.sign(built)
    // The settlement contract knows v 27 and 28 alone; some wallets say 0 and 1.
    const flipped = `${signature.slice(0, -2)}${signature.endsWith('1b') ? '00' : '01'}`.toUpperCase().replace('X', 'x')
    const opened = await world.submit(orderId.toUpperCase(), flipped)
    expect(opened.status, opened.text).toBe(200)
    expect(opened.body).toEqual({
      ...{ orderId, status: 'open', userAddress: world.user.address, chainId: world.world.chainId },
      ...{ tokenIn: world.tokenIn, tokenOut: world.tokenOut, amountIn: '5000000', minAmountOut: quote.minAmountOut },
      ...{ filledIn: '0', filledOut: '0', txHashes: [], distributorId: 'acme', error: null, expiresAt },
      ...{ createdAt: '2026-11-20T12:00:00Z', updatedAt: '2026-11-20T12:00:00Z', orderUid, settlement, cancellation },
      attempts: [],
    })
    const [kept] = await world.world.earn.db<{ signature: string; scheme: string; venue: string }[]>`
      select hex_text(signature) as signature, scheme, venue from swap_orders where id = ${orderId}`
    expect(kept).toEqual({ signature, scheme: 'eip712', venue: 'local' })
    for (const form of [signature, flipped]) expect((await world.submit(orderId, form)).body).toEqual(opened.body)
    const { transactionHash } = await world.settlement.settle(built, kept?.signature as Hex)
    await world.world.sync()
    const filled = { status: 'filled', filledIn: '5000000', filledOut: quote.minAmountOut, txHashes: [transactionHash] }
    expect((await world.submit(orderId, signature)).body).toMatchObject(filled)
  })

  it('takes the signature of an order that is filled in half from a wallet that holds the other half', async () => {
    const owner = account(8)
    const terms = { userAddress: owner.address, amountIn: '10000000', partiallyFillable: true }
    const built = await world.build(terms)
    await world.world.mint(world.tokenIn, owner.address, 10n * usd)
    await allow(owner.address, 10n * usd)
    const signature = await world.sign(built, owner)
    await world.settlement.settle(built, signature, { part: 5n * usd })
    expect(await world.world.balance(world.tokenIn, owner.address)).toBe(5n * usd)
    const opened = await world.submit(built.body.orderId, signature)
    expect(opened.status, opened.text).toBe(200)
  })

  it('takes what the contract of a wallet confirms, as the settlement contract then does', async () => {
    const owner = account(3)
    const wallet = await contractWallet(pad('0xc0ffee', { size: 20 }), fixtures.deployedBytecode.Wallet, owner.address)
    const built = await world.build({ userAddress: wallet, amountIn: '5000000' })
    const signature = await world.sign(built, owner)
    const opened = await world.submit(built.body.orderId, signature)
    expect(opened.body, opened.text).toMatchObject({ status: 'open' })
    const { status } = await world.settlement.settle(built, signature, { scheme: 'eip1271' })
    expect(status).toBe('success')
    // An empty signature is one, where the wallet says so.
    const always = await contractWallet(pad('0xa11', { size: 20 }), '0x631626ba7e60e01b5f5260205ff3')
    const other = await world.build({ userAddress: always, amountIn: '5000000' })
    expect((await world.submit(other.body.orderId, '0x')).status).toBe(200)
    expect((await world.settlement.settle(other, '0x', { scheme: 'eip1271' })).status).toBe('success')
  })
})

/** Submits, and shows that the refusal changed nothing. */
async function refusedSubmit(orderId: string, signature: string, says: RegExp, reason?: string): Promise<Answer> {
  const before = await world.kept()
  const answer = await world.submit(orderId, signature)
  expect(answer.status, answer.text).toBe(400)
  expect(answer.body.error).toMatch(says)
  expect(answer.body.reason).toBe(reason)
  expect(answer.body.context.retryable).toBe(false)
  expect(await world.kept()).toEqual(before)
  return answer
}

describe('400 INVALID_ARGUMENT', () => {
  it('refuses another signer, and a signature of another chain, another settlement or an altered order', async () => {
    const built = await world.build()
    const { orderId, typedData } = built.body
    const notHers = new RegExp(`not one of ${world.user.address} over this order.*sign the typedData`)
    await refusedSubmit(orderId, await world.sign(built, account(2)), notHers)
    const { domain, message } = typedData
    const others = [
      { ...typedData, domain: { ...domain, chainId: 1 } },
      { ...typedData, domain: { ...domain, verifyingContract: world.tokenIn } },
      { ...typedData, domain: { ...domain, version: 'v1' } },
      ...Object.entries({
        ...{
          sellToken: world.weth,
          buyToken: world.weth,
          receiver: account(2).address,
          sellAmount: '1',
          buyAmount: '1',
        },
        ...{ validTo: message.validTo + 1, appData: pad('0x1'), feeAmount: '1', kind: 'buy', partiallyFillable: true },
        ...{ sellTokenBalance: 'external', buyTokenBalance: 'internal' },
      }).map(([name, value]) => ({ ...typedData, message: { ...message, [name]: value } })),
    ]
    expect(new Set(others.map(hashTypedData)).size).toBe(15)
    for (const other of others) await refusedSubmit(orderId, await world.user.signTypedData(other), notHers)
    await refusedSubmit(orderId, await world.user.signMessage({ message: JSON.stringify(message) }), notHers)
  })

  it('refuses the malleable twin, the compact form, and what is no signature', async () => {
    const built = await world.build()
    const { orderId } = built.body
    const signature = await world.sign(built)
    const { r, s, yParity } = parseSignature(signature)
    const twin = (curveOrder - BigInt(s)).toString(16).padStart(64, '0')
    await refusedSubmit(orderId, `${r}${twin}${yParity === 0 ? '1c' : '1b'}`, /larger of its two values of s/)
    const compact = serializeCompactSignature({ r, yParityAndS: toCompact(s, yParity) })
    await refusedSubmit(orderId, compact, /compact form.*65 bytes/)
    for (const bytes of ['0x', '0x12', `${signature}00`, signature.slice(0, -4), `0x${'00'.repeat(65)}`])
      await refusedSubmit(orderId, bytes, /not one of/)
    for (const text of ['', 'yes', signature.slice(2), `${signature}0`]) await refusedSubmit(orderId, text, /signature/)
    await refusedSubmit('not a uuid', signature, /orderId/)
    const failing = await contractWallet(pad('0xbad', { size: 20 }), '0xfe')
    const other = await world.build({ userAddress: failing })
    await refusedSubmit(other.body.orderId, '0x12', /contract of the wallet did not confirm/)
  })

  it('refuses where the balance or the allowance is too small, and names the approval', async () => {
    const poor = account(4)
    const built = await world.build({ userAddress: poor.address, amountIn: '1000' })
    const { orderId } = built.body
    const signature = await world.sign(built, poor)
    const broke = await refusedSubmit(orderId, signature, /^insufficient token balance$/, 'INSUFFICIENT_BALANCE')
    expect(broke.body.context).toMatchObject({ balance: '0', amount: '1000' })
    await world.world.mint(world.tokenIn, poor.address, 1_000n)
    await allow(poor.address, 999n)
    const { relayer } = world.settlement
    const says = new RegExp(`${relayer} may take 999 of ${world.tokenIn} and needs 1000: send the approvals`)
    const short = await refusedSubmit(orderId, signature, says, 'INSUFFICIENT_ALLOWANCE')
    expect(short.body.context).toMatchObject({
      ...{ token: world.tokenIn, spender: relayer, allowance: '999', amount: '1000' },
    })
    await world.settlement.approve(built, poor)
    expect((await world.submit(orderId, signature)).status).toBe(200)
  })

  it('refuses an order that was cancelled, or filled elsewhere, before it was submitted', async () => {
    const cancelled = await world.build()
    const { to, data } = cancelled.body.cancellation
    const { client, done } = world.world.anvil
    await done(client.sendTransaction({ account: world.user, to, data }))
    await refusedSubmit(cancelled.body.orderId, await world.sign(cancelled), /cancelled on the chain; build another/)
    const filled = await world.build()
    await world.settlement.settle(filled, await world.sign(filled))
    await refusedSubmit(filled.body.orderId, await world.sign(filled), /filled already/)
  })

  it('refuses an order of a settlement contract that was replaced', async () => {
    const built = await world.build()
    await world.settlement.configure({ settlement: world.tokenIn.toLowerCase() as Address })
    await refusedSubmit(built.body.orderId, await world.sign(built), /no longer settled; build another/)
    await world.settlement.configure()
  })

  it('refuses an order that has expired, by the clock and by the time of its chain', async () => {
    const { earn, anvil } = world.world
    const built = await world.build({ validForSeconds: 60 })
    const signature = await world.sign(built)
    const { orderId, expiresAt } = built.body
    const later = await world.build({ validForSeconds: 600 })
    const restore = earn.clock.now()
    earn.clock.set(new Date(Date.parse(expiresAt) + 1))
    await refusedSubmit(orderId, signature, /expired; build another/, 'QUOTE_EXPIRED')
    earn.clock.set(restore)
    const snapshot = await anvil.client.snapshot()
    await anvil.client.setNextBlockTimestamp({ timestamp: BigInt(Date.parse(later.body.expiresAt) / 1_000 + 1) })
    await anvil.client.mine({ blocks: 1 })
    await refusedSubmit(later.body.orderId, await world.sign(later), /expired; build another/, 'QUOTE_EXPIRED')
    await anvil.client.revert({ id: snapshot })
  })
})

describe('403 PERMISSION_DENIED and 404 NOT_FOUND', () => {
  it('refuses a key of another distributor, and finds no order of nobody or of another organization', async () => {
    const { earn } = world.world
    const built = await world.build()
    const { orderId } = built.body
    const signature = await world.sign(built)
    const before = await world.kept()
    const bound = await earn.key({ kind: 'publishable', distributorId: await earn.distributor('other') })
    expect((await world.submit(orderId, signature, { key: bound })).status).toBe(403)
    const foreign = await earn.key({ kind: 'publishable', organizationId: await earn.organization() })
    expect((await world.submit(orderId, signature, { key: foreign })).status).toBe(404)
    expect((await world.submit(unknown, signature)).status).toBe(404)
    expect(await world.kept()).toEqual(before)
  })
})

describe('409 CONFLICT', () => {
  it('takes one signature: another is refused, also of two that come at once', async () => {
    const { orderId, built } = await world.open({ amountIn: '1000000' })
    const before = await world.kept()
    const again = await world.submit(orderId, await world.sign(built, account(2)))
    expect(again).toMatchObject({ status: 409, body: { error: /another signature; GetSwapOrderStatus/ } })
    expect(await world.kept()).toEqual(before)
    const always = await contractWallet(pad('0xa12', { size: 20 }), '0x631626ba7e60e01b5f5260205ff3')
    const other = await world.build({ userAddress: always })
    const both = await Promise.all(['0x01', '0x02'].map((bytes) => world.submit(other.body.orderId, bytes)))
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
  })
})

describe('503 UNAVAILABLE', () => {
  it('says so where the chain cannot be asked, and takes the order when it can again', async () => {
    const built = await world.build({ amountIn: '1000' })
    const { orderId } = built.body
    await world.settlement.approve(built, world.user)
    const signature = await world.sign(built)
    const before = await world.kept()
    const gone = await world.world.withNode(
      () => goneNode(),
      () => world.submit(orderId, signature),
    )
    expect(gone.status).toBe(503)
    expect(await world.kept()).toEqual(before)
    expect((await world.submit(orderId, signature)).status).toBe(200)
  })
})

function toCompact(s: Hex, yParity: number): Hex {
  return `0x${(BigInt(s) | (BigInt(yParity) << 255n)).toString(16).padStart(64, '0')}`
}
