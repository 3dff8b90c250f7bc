import { describe, expect, it } from 'vitest'
import { silentLog } from '../kernel/log.js'
import { createShutdown, Stopping } from './shutdown.js'

describe('stopping', () => {
  it('closes what was opened, last in, first out, once', async () => {
    const closed: string[] = []
    const shutdown = createShutdown(silentLog)
    for (const name of ['database', 'watcher', 'listener']) shutdown.add(name, async () => void closed.push(name))
    await Promise.all([shutdown.stop(), shutdown.stop()])
    expect(closed).toEqual(['listener', 'watcher', 'database'])
    expect(shutdown.signal.aborted).toBe(true)
  })

  it('goes on when a part fails to close', async () => {
    const closed: string[] = []
    const shutdown = createShutdown(silentLog)
    shutdown.add('first', () => void closed.push('first'))
    shutdown.add('broken', () => {
      throw new Error('broken')
    })
    await shutdown.stop()
    expect(closed).toEqual(['first'])
  })

  it('closes what is opened too late, and tells its opener to give up', async () => {
    const closed: string[] = []
    const shutdown = createShutdown(silentLog)
    const { promise, release } = openGate()
    shutdown.add('slow', () => promise)
    const stopped = shutdown.stop()
    expect(() => shutdown.add('late', () => void closed.push('late'))).toThrow(Stopping)
    release()
    await stopped
    expect(closed).toEqual(['late'])
  })

  it('has stopped only when what is opened too late is closed too', async () => {
    const shutdown = createShutdown(silentLog)
    const [slow, late] = [openGate(), openGate()]
    let isStopped = false
    shutdown.add('slow', () => slow.promise)
    const stopped = shutdown.stop().then(() => {
      isStopped = true
    })
    expect(() => shutdown.add('late', () => late.promise)).toThrow(Stopping)
    slow.release()
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(isStopped).toBe(false)
    late.release()
    await stopped
    expect(isStopped).toBe(true)
  })
})

function openGate() {
  const gate: { release?: () => void } = {}
  const promise = new Promise<void>((resolve) => {
    gate.release = resolve
  })
  return { promise, release: () => gate.release?.() }
}
