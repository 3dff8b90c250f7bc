import { expect, it } from 'vitest'
import { listJobs } from './jobs.js'
import { allRoles } from './work.js'

it('the jobs of `commit` and `solve` are those that a key signs for; all others are of `jobs`, and none is of `watch`', () => {
  const jobs = listJobs({ capabilitySeconds: 60, committer: {} as never, orderBooks: () => ({}) as never })
  const namesOf = (role: string) => jobs.flatMap((job) => ((job.role ?? 'jobs') === role ? [job.name] : []))
  expect(namesOf('commit')).toEqual(['roots of streams', 'transactions of our own'])
  expect(namesOf('solve')).toEqual(['orders'])
  expect(namesOf('watch')).toEqual([])
  expect([...allRoles].flatMap(namesOf)).toHaveLength(jobs.length)
  // Without its key the process still looks, under a name of its own.
  const keyless = listJobs({ capabilitySeconds: 60 }).filter(({ role }) => role === 'commit')
  expect(keyless.map(({ name }) => name)).toEqual(['roots of streams, without a key'])
})
