import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Anvil, account, startAnvil } from '../../../../contracts/test/anvil.js'
import { chainSettings } from '../../../test/actionWorld.js'
import { type Earn, openEarn } from '../../../test/harness.js'
import { appUrl, createWallet, isOpen, join } from '../../../test/membership.js'
import { deploySafeWorld, type SafeWorld } from '../../../test/safe.js'

let anvil: Anvil
let earn: Earn
let safes: SafeWorld
let salt = 0n

beforeAll(async () => {
  anvil = await startAnvil({ timestamp: 1_795_000_000 })
  safes = await deploySafeWorld(anvil.deploy)
  const dead = { ...chainSettings('http://127.0.0.1:1'), chainId: 10, name: 'Dead chain' }
  earn = await openEarn({ chains: [chainSettings(anvil.url), dead] })
})
afterAll(async () => {
  await earn.close()
  await anvil.stop()
})

const planSafe = () => safes.plan(account(3), salt++)

async function ask(address: string, chainId: number): Promise<{ message: string; nonce: string }> {
  const body = { address, walletEcosystem: 'evm', url: appUrl, chainId }
  return (await earn.call('CreateMembershipAgreement', { body })).body
}

const send = (address: string, nonce: string, signature: Hex) =>
  join(earn, { address, walletEcosystem: 'evm', nonce, signature })

describe('CreateMembership 200', () => {
  it('takes a deployed Safe by the signature of its owner', async () => {
    const safe = planSafe()
    await anvil.done(anvil.client.sendTransaction(safe.creation))
    const { message, nonce } = await ask(safe.address, 31337)
    const answer = await send(safe.address, nonce, await safe.signText(message))
    expect([answer.status, answer.body]).toEqual([200, { isMember: true, error: '' }])
  })

  it('takes a Safe that is not deployed yet, and does not deploy it', async () => {
    const safe = planSafe()
    const { message, nonce } = await ask(safe.address, 31337)
    const signature = await safe.signText(message)
    expect((await send(safe.address, nonce, signature)).status).toBe(400)
    expect((await send(safe.address, nonce, safe.wrap(signature))).status).toBe(200)
    expect(await anvil.client.getCode({ address: safe.address })).toBeUndefined()
  })

  it('takes a wrapped signature of a Safe that was deployed meanwhile', async () => {
    const safe = planSafe()
    const { message, nonce } = await ask(safe.address, 31337)
    const signature = safe.wrap(await safe.signText(message))
    await anvil.done(anvil.client.sendTransaction(safe.creation))
    expect((await send(safe.address, nonce, signature)).status).toBe(200)
  })
})

describe('CreateMembership 400 INVALID_ARGUMENT', () => {
  it('refuses for a Safe: a stranger’s signature, the owner’s own, one for another Safe; and uses up nothing', async () => {
    const [safe, other] = [planSafe(), planSafe()]
    await anvil.done(anvil.client.sendTransaction(safe.creation))
    const { message, nonce } = await ask(safe.address, 31337)
    const stranger = { ...safe, owner: account(4) }
    const signatures = [
      await stranger.owner.signMessage({ message }),
      await safe.owner.signMessage({ message }),
      await other.signText(message),
      safe.wrap(await other.signText(message)),
      other.wrap(await other.signText(message)),
      '0x' as const,
      `0x${'6492'.repeat(16)}` as const,
    ]
    for (const signature of signatures) expect((await send(safe.address, nonce, signature)).status).toBe(400)
    expect(await isOpen(earn, nonce)).toBe(true)
    expect((await send(safe.address, nonce, await safe.signText(message))).status).toBe(200)
  })

  it('refuses a contract wallet on a chain that is not configured', async () => {
    const safe = planSafe()
    await anvil.done(anvil.client.sendTransaction(safe.creation))
    const { message, nonce } = await ask(safe.address, 8453)
    expect((await send(safe.address, nonce, await safe.signText(message))).status).toBe(400)
  })
})

describe('CreateMembership 503 UNAVAILABLE', () => {
  it('says when to try again while the chain of a contract wallet does not answer, and uses up nothing', async () => {
    const safe = planSafe()
    const { message, nonce } = await ask(safe.address, 10)
    const answer = await send(safe.address, nonce, await safe.signText(message))
    expect([answer.status, answer.body.status]).toEqual([503, 'UNAVAILABLE'])
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
    expect(await isOpen(earn, nonce)).toBe(true)
  })

  it('does not concern a wallet that signs with its own key', async () => {
    const wallet = createWallet()
    const { message, nonce } = await ask(wallet.address, 10)
    expect((await send(wallet.address, nonce, await wallet.signMessage({ message }))).status).toBe(200)
  })
})
