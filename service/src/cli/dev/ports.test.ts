import { createServer } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../kernel/clock.js'
import { findFreePort, waitUntilFree } from './ports.js'

const host = '127.0.0.1'
afterEach(() => vi.restoreAllMocks())

describe('waiting for a port that a process which is ending still holds', () => {
  it('takes no time where the port is free, and none where any port will do', async () => {
    const sleep = vi.spyOn(systemClock, 'sleep').mockResolvedValue()
    await waitUntilFree(host, await findFreePort())
    await waitUntilFree(host, 0)
    expect(sleep).not.toHaveBeenCalled()
  })

  it('goes on until the port is free, or a hundred looks found it taken', async () => {
    const holder = createServer().listen({ host, port: 0 })
    await new Promise((resolve) => holder.once('listening', resolve))
    const { port } = holder.address() as { port: number }
    const sleep = vi.spyOn(systemClock, 'sleep').mockResolvedValue()
    await waitUntilFree(host, port)
    expect(sleep).toHaveBeenCalledTimes(100)
    sleep.mockReset().mockImplementation(async () => {
      if (sleep.mock.calls.length === 3) await new Promise((resolve) => holder.close(resolve))
    })
    await waitUntilFree(host, port)
    expect(sleep).toHaveBeenCalledTimes(3)
  })
})
