import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Earn, openEarn } from '../../../test/harness.js'
import { isMember } from '../../features/membership/index.js'
import { fakeClock } from '../../kernel/clock.js'
import { devAccount } from './anvil.js'
import { deployerIndex } from './deploy.js'
import { joinDeployer } from './join.js'

let earn: Earn
beforeAll(async () => {
  earn = await openEarn()
})
afterAll(() => earn.close())

it('a devnet starts on a busy machine: its own account joins though its service refuses for a while', async () => {
  let refused = 0
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    if (refused < 5) {
      refused += 1
      response.writeHead(503).end('{"error":"the service is overloaded"}')
      return
    }
    const headers = Object.fromEntries(
      Object.entries(request.headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
    )
    const [method, url, payload] = [request.method as 'POST', request.url ?? '', Buffer.concat(parts)]
    const answer = await earn.service.publicApp.inject({ method, url, headers, payload })
    response.writeHead(answer.statusCode).end(answer.rawPayload)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = server.address() as AddressInfo
    const { db } = earn.service.ctx
    await joinDeployer({ db, clock: fakeClock('2026-11-20T12:00:00Z') }, `http://127.0.0.1:${port}`, earn.publishable)
    expect(refused).toBe(5)
    expect(await isMember(db, 'evm', devAccount(deployerIndex).address.toLowerCase())).toBe(true)
  } finally {
    await new Promise((resolve) => server.close(resolve))
  }
})
