import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../kernel/clock.js'
import { silentLog } from '../kernel/log.js'
import { defaultVetoSeconds, startJobs } from './jobs.js'
import type { ServiceContext } from './operations.js'

describe('startJobs', () => {
  it('runs many jobs at once, goes on after one that fails, stops them all, and gives node no reason to warn', async () => {
    const warnings: Error[] = []
    const hear = (warning: Error) => warnings.push(warning)
    process.on('warning', hear)
    onTestFinished(() => void process.off('warning', hear))
    const ran = new Set<string>()
    const jobs = Array.from({ length: 30 }, (_, index) => ({
      name: `job ${index}`,
      everySeconds: 60,
      run: async () => {
        ran.add(`job ${index}`)
        if (index === 0) throw new Error('once')
      },
    }))
    const ctx = { clock: systemClock, log: silentLog, chains: new Map() } as unknown as ServiceContext
    const running = startJobs(ctx, jobs)
    // All of them are waiting for their next turn after two turns of the loop; warnings are told in one of their own.
    for (let turns = 0; turns < 3; turns++) await new Promise(setImmediate)
    await running.stop()
    expect(ran.size).toBe(30)
    expect(warnings).toEqual([])
  })

  it('runs a job of each chain by itself: one whose node hangs keeps no other waiting, and a stop waits for it', async () => {
    const ran: number[] = []
    let answer: (value?: unknown) => void = () => undefined
    const hanging = new Promise((resolve) => {
      answer = resolve
    })
    const job = {
      ...{ name: 'each', everySeconds: 0.001, eachChain: true },
      run: async ({ chains }: Pick<ServiceContext, 'chains'>) => {
        for (const chainId of chains.keys()) {
          ran.push(chainId)
          if (chainId === 1) await hanging
        }
      },
    }
    const chains = new Map([1, 2, 3].map((chainId) => [chainId, { chainId, rpc: { as: () => ({}) } }]))
    const ctx = { clock: systemClock, log: silentLog, chains } as unknown as ServiceContext
    const running = startJobs(ctx, [job])
    while (ran.filter((chainId) => chainId === 3).length < 3) await new Promise(setImmediate)
    expect(ran.filter((chainId) => chainId === 1)).toHaveLength(1)
    let isOver = false
    const stopped = running.stop().then(() => {
      isOver = true
    })
    for (let turns = 0; turns < 3; turns++) await new Promise(setImmediate)
    expect(isOver).toBe(false)
    answer()
    await stopped
  })
})

it('a root waits an hour for a veto wherever a chain beside the devnet is served', () => {
  expect(defaultVetoSeconds([31337])).toBe(0)
  expect(defaultVetoSeconds([31337, 1])).toBe(3_600)
  expect(defaultVetoSeconds([1])).toBe(3_600)
})
