import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Hex, hexToBytes, recoverAddress, toHex } from 'viem'
import { privateKeyToAccount, sign as signWith } from 'viem/accounts'
import { afterEach, describe, expect, it } from 'vitest'
import { patient } from '../../../contracts/test/patience.js'
import { seededKey } from '../../test/seed.js'
import { systemClock } from '../kernel/clock.js'
import { createOutbound, type Outbound } from '../kernel/outbound.js'
import { createKeySigner, createRemoteSigner, SignerFailed } from './signer.js'

const key = seededKey()
const { address } = privateKeyToAccount(key)
const digest = hexToBytes(`0x${'5a'.repeat(32)}`)
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

const stops: (() => void)[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

type Asked = { digest: Hex; address: string }

/** A signer that answers what `answer` says; undefined never. */
async function startSigner(answer: (asked: Asked) => Promise<string> | string | undefined, status = 200) {
  const seen: (Asked & { token: string | undefined })[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const asked = JSON.parse(Buffer.concat(chunks).toString()) as Asked
    seen.push({ ...asked, token: request.headers.authorization })
    const text = await answer(asked)
    if (text !== undefined) response.writeHead(status).end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/sign`, seen }
}

function open(url: string, token?: string) {
  const outbound = createOutbound(systemClock)
  // Nobody waits for backoff here; a signer that is silent is left at once.
  const impatient: Outbound = {
    fetchText: (request) => outbound.fetchText({ ...request, timeoutMs: patient(300), retries: 0 }),
  }
  return createRemoteSigner({ url, address, token }, { outbound: impatient, clock: systemClock })
}

const signed = async (hash: Hex, privateKey = key) => signWith({ hash, privateKey })
const answer = (signature: string) => JSON.stringify({ signature })

describe('a signer elsewhere', () => {
  it('is asked for a digest by one POST, with its token, and its signature is the one the key itself makes', async () => {
    const signer = await startSigner(async (asked) => {
      const { r, s, v } = await signed(asked.digest)
      return answer(`${r}${s.slice(2)}${toHex(v ?? 0n).slice(2)}`)
    })
    const remote = open(signer.url, 'secret')
    const signature = await remote.sign(digest)
    expect(remote.address).toBe(address.toLowerCase())
    expect(await recoverAddress({ hash: digest, signature })).toBe(address)
    expect(signer.seen).toEqual([{ digest: toHex(digest), address: address.toLowerCase(), token: 'Bearer secret' }])
    const { r, s, v } = await signed(toHex(digest))
    const local = createKeySigner(key, () => hexToBytes(`${r}${s.slice(2)}${toHex(v ?? 0n).slice(2)}` as Hex))
    expect(toHex(await local.sign(digest))).toBe(toHex(signature))
  })

  it.each(['64 bytes', 'v 0 or 1', 'the larger s'])(
    'may answer %s, as a KMS does: it is brought to the one form',
    async (form) => {
      const { url } = await startSigner(async (asked) => {
        const { r, s, yParity } = await signed(asked.digest)
        if (form === '64 bytes') return answer(`${r}${s.slice(2)}`)
        if (form === 'v 0 or 1') return answer(`${r}${s.slice(2)}0${yParity}`)
        return answer(`${r}${toHex(order - BigInt(s), { size: 32 }).slice(2)}`)
      })
      const signature = await open(url).sign(digest)
      expect(signature).toHaveLength(65)
      expect([27, 28]).toContain(signature[64])
      expect(BigInt(toHex(signature.subarray(32, 64)))).toBeLessThanOrEqual(order / 2n)
      expect(await recoverAddress({ hash: digest, signature })).toBe(address)
    },
  )

  it.each<[string, (asked: Asked) => Promise<string> | string | undefined, number]>([
    ['is silent', () => undefined, 200],
    ['answers 503', () => 'busy', 503],
    ['refuses', () => 'no', 403],
    ['signs with another key', async (asked) => flatten(await signed(asked.digest, seededKey())), 200],
    ['signs another digest', async () => flatten(await signed(`0x${'01'.repeat(32)}`)), 200],
    ['answers zeros', () => answer(`0x${'00'.repeat(65)}`), 200],
    ['answers what is no point', () => answer(`0x${'ff'.repeat(65)}`), 200],
    ['answers too little', () => answer('0x1234'), 200],
    ['answers no JSON', () => '<html>', 200],
    ['answers null', () => 'null', 200],
    ['answers more than it should', () => answer(`0x${'00'.repeat(65_000)}`), 200],
  ])('that %s is a SignerFailed, never a signature', async (_, say, status) => {
    const { url } = await startSigner(say, status)
    await expect(open(url).sign(digest)).rejects.toBeInstanceOf(SignerFailed)
  })

  it('is not blamed for a fault of ours', async () => {
    const broken: Outbound = { fetchText: () => Promise.reject(new TypeError('ours')) }
    const remote = createRemoteSigner(
      { url: 'http://127.0.0.1:1/', address, token: undefined },
      { outbound: broken, clock: systemClock },
    )
    await expect(remote.sign(digest)).rejects.toThrow(TypeError)
  })

  it('that is gone is not asked again for a while', async () => {
    const remote = open('http://127.0.0.1:1/')
    for (let n = 0; n < 5; n++) await expect(remote.sign(digest)).rejects.toMatchObject({ cause: { kind: 'network' } })
    await expect(remote.sign(digest)).rejects.toMatchObject({ name: 'SignerFailed', cause: { kind: 'open' } })
  })
})

const flatten = ({ r, s, v }: { r: Hex; s: Hex; v?: bigint | undefined }) =>
  answer(`${r}${s.slice(2)}${toHex(v ?? 27n).slice(2)}`)
