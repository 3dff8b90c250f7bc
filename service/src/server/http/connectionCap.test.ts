import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { capConnections, createProxyMatch } from './connectionCap.js'

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

async function listen(config: Parameters<typeof capConnections>[1]) {
  const server = createServer((_request, response) => response.end('served'))
  capConnections(server, config)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ends.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** Opens a connection and asks; what it is told first. */
function ask(port: number) {
  const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'))
  socket.on('error', () => undefined)
  const said = new Promise<string>((resolve) => {
    socket.once('data', (chunk) => resolve(String(chunk)))
    socket.once('close', () => resolve('closed'))
  })
  return { socket, said }
}

describe('connections of one address', () => {
  it('beyond the cap are refused with 429 in four members and closed; one that goes makes room', async () => {
    const port = await listen({ connectionsPerAddress: 3, trustedProxies: [] })
    const held = Array.from({ length: 3 }, () => ask(port))
    for (const { said } of held) expect(await said).toMatch(/^HTTP\/1.1 200/)
    const refused = await ask(port).said
    expect(refused).toMatch(/^HTTP\/1.1 429 Too Many Requests\r\n/)
    expect(refused).toMatch(/\r\nRetry-After: 1\r\n/)
    expect(JSON.parse(refused.split('\r\n\r\n')[1] ?? '')).toMatchObject({
      ...{ code: 429, status: 'RESOURCE_EXHAUSTED', context: { limit: 'ip' } },
    })
    held[0]?.socket.destroy()
    await expect.poll(() => ask(port).said).toMatch(/^HTTP\/1.1 200/)
  })

  it('are not counted for a proxy that is trusted, nor for loopback where no cap was set', async () => {
    for (const config of [
      { connectionsPerAddress: 1, trustedProxies: ['127.0.0.1'] },
      { connectionsPerAddress: undefined, trustedProxies: [] },
      { connectionsPerAddress: 0, trustedProxies: [] },
    ]) {
      const port = await listen(config)
      const asked = Array.from({ length: 3 }, () => ask(port))
      for (const { said } of asked) expect(await said).toMatch(/^HTTP\/1.1 200/)
    }
  })

  it.each([
    [['10.0.0.1'], '10.0.0.1', true],
    [['10.0.0.1'], '::ffff:10.0.0.1', true],
    [['10.0.0.0/8'], '10.9.9.9', true],
    [['10.0.0.0/8'], '11.0.0.1', false],
    [['loopback'], '::1', true],
    [['uniquelocal'], '192.168.3.4', true],
    [['fc00::/7'], 'fd00::1', true],
    [[], '127.0.0.1', false],
    [['10.0.0.1'], 'nonsense', false],
  ])('know of %j that %s is a proxy: %s', (proxies, ip, expected) => {
    expect(createProxyMatch(proxies)(ip)).toBe(expected)
  })
})
