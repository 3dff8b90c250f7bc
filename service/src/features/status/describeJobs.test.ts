import { expect, it } from 'vitest'
import { describeJobs } from './describeJobs.js'
import type { JobStatus } from './storeJobs.js'

const job = (name: string, given: Partial<JobStatus> = {}): JobStatus => ({
  ...{ name, isRunning: false, attempts: 0, failedSince: null, error: '', overdueSeconds: 0 },
  ...given,
})

it('jobs are well while they are due for a minute at most and fail less than five times in a row', () => {
  expect(describeJobs([])).toMatchObject({ well: true, detail: 'none has run yet' })
  const some = [job('a', { isRunning: true, attempts: 1 }), job('b', { overdueSeconds: 60 })]
  expect(
    describeJobs([...some, job('c', { attempts: 4, failedSince: new Date(0), error: 'no answer' })]),
  ).toMatchObject({
    well: true,
    detail: '3, 1 at work',
  })
})

it('names the jobs that nobody runs, that fail, and that end their process', () => {
  const jobs = [
    job('late', { overdueSeconds: 61.4 }),
    job('failing', { attempts: 5, failedSince: new Date(0), error: 'no answer' }),
    job('deadly', { attempts: 7 }),
  ]
  for (const one of jobs) expect(describeJobs([one]).well).toBe(false)
  expect(describeJobs(jobs).detail).toBe(
    '3, 0 at work; "late" is due for 61 s; "failing" failed 5 times in a row: no answer; "deadly" was begun 7 times and never ended',
  )
})

it('names five of many', () => {
  const jobs = Array.from({ length: 7 }, (_, index) => job(`job ${index}`, { overdueSeconds: 100 }))
  expect(describeJobs(jobs).detail).toMatch(/"job 4" is due for 100 s; …$/)
})
