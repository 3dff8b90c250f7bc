import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Earn, openEarn } from '../../../test/harness.js'
import { appUrl, isOpen, join } from '../../../test/membership.js'
import { createTonWallet, type TonVersion } from '../../../test/wallets.js'

const now = '2026-11-20T12:00:00Z'
const at = Date.parse(now) / 1000
const host = 'app.example.com'

/** The TON network is out of reach of a test: this answers `runGetMethod` as TON Center does. */
let center: Server
let centerAnswer: { status: number; body: unknown } = { status: 500, body: {} }
let earn: Earn
beforeAll(async () => {
  center = createServer((_request, response) => {
    response.writeHead(centerAnswer.status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(centerAnswer.body))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => center.once('listening', resolve))
  const { port } = center.address() as AddressInfo
  earn = await openEarn({ config: { tonProofEnabled: true, tonUrl: `http://127.0.0.1:${port}/api/v2` } })
})
beforeEach(() => earn.clock.set(now))
afterAll(async () => {
  await earn.close()
  await new Promise((resolve) => center.close(resolve))
})

async function ask(address: string, on = earn): Promise<{ message: string; nonce: string }> {
  const answer = await on.call('CreateMembershipAgreement', { body: { address, walletEcosystem: 'ton', url: appUrl } })
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}

const send = (address: string, nonce: string, answer: unknown, on = earn) => {
  const signature = typeof answer === 'string' ? answer : JSON.stringify(answer)
  return join(on, { address, walletEcosystem: 'ton', nonce, signature })
}

describe('CreateMembership 200 for TON', () => {
  it.each<TonVersion>(['v1r1', 'v2r2', 'v3r1', 'v3r2', 'v4r2', 'v5r1'])(
    'takes signData of a %s wallet',
    async (version) => {
      const wallet = createTonWallet(version)
      const { message, nonce } = await ask(wallet.address)
      const answer = await send(wallet.address, nonce, wallet.signData(message, host, at))
      expect([answer.status, answer.body]).toEqual([200, { isMember: true, error: '' }])
    },
  )

  it('takes the base64 of the JSON, and ton_proof over the nonce where the operator lets it in', async () => {
    const [first, second] = [createTonWallet(), createTonWallet()]
    const agreement = await ask(first.address)
    const json = JSON.stringify(first.signData(agreement.message, host, at))
    expect((await send(first.address, agreement.nonce, Buffer.from(json).toString('base64'))).status).toBe(200)
    const { nonce } = await ask(second.address)
    expect((await send(second.address, nonce, second.signProof(nonce, host, at))).status).toBe(200)
  })

  it('knows one wallet by its raw address and its friendly spellings', async () => {
    const { friendly, ...wallet } = createTonWallet()
    const { message, nonce } = await ask(friendly.toString())
    const answer = wallet.signData(message, host, at)
    expect((await send(friendly.toString({ bounceable: false }), nonce, answer)).status).toBe(200)
    const spellings = [wallet.address, wallet.address.toUpperCase()]
    for (const bounceable of [true, false])
      for (const urlSafe of [true, false]) spellings.push(friendly.toString({ bounceable, urlSafe }))
    for (const address of spellings) {
      const { body } = await earn.call('GetMembership', { query: { address, walletEcosystem: 'ton' } })
      expect(body, address).toEqual({ isMember: true })
    }
  })

  it('asks the chain for the key of a wallet that does not send its state', async () => {
    const wallet = createTonWallet()
    const { message, nonce } = await ask(wallet.address)
    const { walletStateInit: _state, ...answer } = wallet.signData(message, host, at)
    centerAnswer = { status: 200, body: { ok: true, result: { exit_code: 11, stack: [] } } }
    expect((await send(wallet.address, nonce, answer)).status).toBe(400)
    const tell = (...item: string[]) => {
      centerAnswer = { status: 200, body: { ok: true, result: { exit_code: 0, stack: [item] } } }
    }
    // What is no number is no key, whatever it ends in.
    for (const item of [
      ['num', '0x'],
      ['num', `+0x${wallet.publicKey}`],
      ['num', `0x1${wallet.publicKey}`],
      ['slice', `0x${wallet.publicKey}`],
    ]) {
      tell(...item)
      const refused = await send(wallet.address, nonce, answer)
      expect(refused.body.error, item.join(' ')).toContain('cannot be told')
    }
    tell('num', `0x${wallet.publicKey}`)
    expect((await send(wallet.address, nonce, answer)).status).toBe(200)
  })
})

describe('CreateMembership 400 for TON', () => {
  it('refuses every answer that is not this wallet’s over this agreement for this application now, and uses up nothing', async () => {
    const [wallet, thief] = [createTonWallet(), createTonWallet()]
    const { message, nonce } = await ask(wallet.address)
    const good = wallet.signData(message, host, at)
    const other = await ask(wallet.address)
    const refused: [string, unknown][] = [
      ['another wallet', thief.signData(message, host, at)],
      ['the state of another wallet', { ...good, walletStateInit: thief.walletStateInit }],
      ['the key of another wallet', { ...good, publicKey: thief.publicKey }],
      ['another application', wallet.signData(message, 'evil.example.com', at)],
      ['another domain than the one signed', { ...wallet.signData(message, 'evil.example.com', at), domain: host }],
      ['the wrong byte order', wallet.signData(message, host, at, { littleEndian: true })],
      ['another text', wallet.signData(`${message} `, host, at)],
      ['the text of another nonce', wallet.signData(other.message, host, at)],
      ['a signature older than 15 minutes', wallet.signData(message, host, at - 901)],
      ['a signature of the future', wallet.signData(message, host, at + 61)],
      ['another time than the one signed', { ...good, timestamp: at - 1 }],
      ['ton_proof over another nonce', wallet.signProof(other.nonce, host, at)],
      ['ton_proof taken for signData', { ...wallet.signProof(nonce, host, at), type: 'signData' }],
      ['signData taken for ton_proof', { ...good, type: 'ton_proof', payload: undefined }],
      ['an unknown type', { ...good, type: 'raw' }],
      ['a list', []],
      ['junk', 'junk'],
    ]
    for (const [what, answer] of refused) expect((await send(wallet.address, nonce, answer)).status, what).toBe(400)
    expect(await isOpen(earn, nonce)).toBe(true)
    expect((await send(wallet.address, nonce, good)).status).toBe(200)
  })

  it('refuses ton_proof unless the operator lets it in, and test-only addresses off a test network', async () => {
    const plain = await openEarn()
    try {
      const wallet = createTonWallet()
      const { nonce } = await ask(wallet.address, plain)
      const answer = await send(wallet.address, nonce, wallet.signProof(nonce, host, at), plain)
      expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining('sign it with signData')])
      const address = wallet.friendly.toString({ testOnly: true })
      const { status } = await plain.call('GetMembership', { query: { address, walletEcosystem: 'ton' } })
      expect(status).toBe(400)
    } finally {
      await plain.close()
    }
  })

  it('lets test-only addresses in on a test network', async () => {
    const testnet = await openEarn({ config: { tonTestnet: true } })
    try {
      const address = createTonWallet().friendly.toString({ testOnly: true })
      const { body } = await testnet.call('GetMembership', { query: { address, walletEcosystem: 'ton' } })
      expect(body).toEqual({ isMember: false })
    } finally {
      await testnet.close()
    }
  })
})

describe('CreateMembership 503 for TON', () => {
  it('says when to try again while the chain that knows the key does not answer', async () => {
    const wallet = createTonWallet()
    const { message, nonce } = await ask(wallet.address)
    const { walletStateInit: _state, ...answer } = wallet.signData(message, host, at)
    for (const trouble of [
      { status: 500, body: {} },
      { status: 200, body: { ok: false } },
    ]) {
      centerAnswer = trouble
      const { status, headers } = await send(wallet.address, nonce, answer)
      expect(status).toBe(503)
      expect(Number(headers['retry-after'])).toBeGreaterThan(0)
    }
    expect(await isOpen(earn, nonce)).toBe(true)
  })
})
