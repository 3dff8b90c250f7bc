import { expect, it } from 'vitest'
import { openEarn } from '../../../test/harness.js'

/** Where the policy of a page lets its workers be, by the host that its reader wrote. */
async function readWorkers(hosts: readonly string[], publicUrl?: string): Promise<string[][]> {
  const earn = await openEarn({ config: { portalKey: 'pk_live_0', ...(publicUrl === undefined ? {} : { publicUrl }) } })
  const told: string[][] = []
  for (const host of hosts) {
    const { headers } = await earn.service.publicApp.inject({ url: '/portal/', headers: { host } })
    const policy = String(headers['content-security-policy']).split('; ')
    told.push(policy.filter((each) => each.startsWith('worker-src ')).flatMap((each) => each.split(' ').slice(1)))
    expect([host, policy.length]).toEqual([host, 12])
  }
  await earn.close()
  return told
}

const file = /\/portal\/files\/warm\.worker-[\w-]{8}\.js$/
const homesOf = (workers: readonly string[]) => workers.map((each) => each.replace(file, ''))

it('lets a page make a worker of its one file, by the name that its reader wrote and by that of the service', async () => {
  const publicUrl = 'https://earn.example/api'
  const told = await readWorkers(['earn.example', 'inner:4020', '127.0.0.1:4020'], publicUrl)
  expect(told.map(homesOf)).toEqual([
    ...[
      [publicUrl, 'earn.example'],
      [publicUrl, 'inner:4020'],
      [publicUrl, '127.0.0.1:4020'],
    ],
  ])
  expect(told.flat().every((each) => file.test(each))).toBe(true)
})

it('takes nothing but a name of a host into the policy, and its own origin where a policy has no form for the name', async () => {
  const names = ["x.example;script-src 'unsafe-inline'", 'x.example, *', 'x.example *', '*', "'unsafe-eval'"]
  for (const workers of await readWorkers(names, 'https://earn.example'))
    expect(homesOf(workers)).toEqual(['https://earn.example'])
  expect(await readWorkers(['[::1]:4020'], 'http://[::1]:4020')).toEqual([["'self'"]])
})
