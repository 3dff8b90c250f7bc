import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { decodeSuffix, formatActionId } from '@openearn/attribution'
import { type Hex, hexToBytes, toHex } from 'viem'
import { sign } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { attributionAccount, keyOf } from '../../../test/actionWorld.js'
import { type DepositWorld, openDepositWorld } from '../../../test/depositWorld.js'
import type { Answer } from '../../../test/harness.js'
import { seededKey } from '../../../test/seed.js'

type Behaviour = 'well' | 'silent' | 'down' | 'another key' | 'another digest'

let server: Server
let behaviour: Behaviour
let refusing: DepositWorld
let falling: DepositWorld

/** A signer of attributions that is at times slow, down, or signs something else. */
async function startSigner(): Promise<string> {
  const { key } = await keyOf(9)
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { digest } = JSON.parse(Buffer.concat(chunks).toString()) as { digest: Hex }
    if (behaviour === 'silent') return
    if (behaviour === 'down') return response.writeHead(503).end()
    const hash: Hex = behaviour === 'another digest' ? `0x${'01'.repeat(32)}` : digest
    const privateKey = behaviour === 'another key' ? seededKey() : key
    const { r, s, v } = await sign({ hash, privateKey })
    response.end(JSON.stringify({ signature: `${r}${s.slice(2)}${toHex(v ?? 27n).slice(2)}` }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

beforeAll(async () => {
  const attributionSigner = { url: await startSigner(), address: attributionAccount.address, token: undefined }
  const config = { attributionKey: undefined, attributionSigner }
  // Every plan of this one is verified, so that none without a signature passes unseen.
  refusing = await openDepositWorld({ config })
  falling = await openDepositWorld({ config: { ...config, unsignedFallback: true }, verifyPlans: false })
}, 60_000)
afterAll(async () => {
  await refusing?.world.close()
  await falling?.world.close()
  server?.closeAllConnections()
  server?.close()
})
beforeEach(async () => {
  behaviour = 'well'
  await refusing.renew()
  await falling.renew()
})

/** What our suffix of a plan says. */
function suffixOf(plan: Answer): { appCode?: string; metadata: ReadonlyMap<string, unknown> } {
  const suffix = decodeSuffix(hexToBytes(plan.body.transactions.at(-1).transaction.data))
  if (suffix?.status !== 'ok' || suffix.schemaId !== 2) throw new Error('no suffix')
  const metadata = suffix.metadata as ReadonlyMap<string, unknown>
  return suffix.appCode === undefined ? { metadata } : { appCode: suffix.appCode, metadata }
}

describe('a signer of attributions elsewhere', () => {
  it('signs plans as a key of this process would, and what they do is credited', async () => {
    const plan = await refusing.deposit()
    expect(plan.status).toBe(200)
    expect(suffixOf(plan).metadata.get('g')).toHaveLength(65)
    await refusing.world.send(plan, account(1))
  })

  it.each<Behaviour>(['down', 'another key', 'another digest', 'silent'])(
    'that is %s: a plan is a 503 with Retry-After, or is built without a signature where the operator said so; never wrong',
    async (how) => {
      behaviour = how
      const refused = await refusing.deposit()
      expect([refused.status, refused.headers['retry-after'], refused.body.status]).toEqual([503, '5', 'UNAVAILABLE'])
      expect(refused.body.error).toBe('attributions cannot be signed right now; try again shortly')
      expect(refused.text).not.toMatch(/127\.0\.0\.1/)
      const unsigned = await falling.deposit({ referralCode: 'friend-1' })
      expect(unsigned.status).toBe(200)
      const suffix = suffixOf(unsigned)
      expect([...suffix.metadata.keys()].sort()).toEqual(['i', 'r'])
      expect(suffix).toMatchObject({ appCode: falling.world.distributorId })
      expect(formatActionId(suffix.metadata.get('i') as Uint8Array)).toBe(unsigned.body.actionId)
      await falling.world.send(unsigned, account(1))
    },
  )

  it('that is down refuses plans of a distributor whose unsigned deposits do not count, whatever was said', async () => {
    const { earn, distributorId, refresh } = falling.world
    await earn.db`insert into distributor_settings values (${distributorId}, true, 'epoch')`
    await refresh()
    behaviour = 'down'
    expect((await falling.deposit()).status).toBe(503)
  })
})
