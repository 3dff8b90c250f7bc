import type { JobStatus } from './storeJobs.js'

/** How long a job may be due without a process that works on it, and how often it may fail in a row. */
const overdueSecondsMax = 60
const attemptsMax = 5
const namedMax = 5

/** Whether the jobs run, for the doctor. */
export function describeJobs(jobs: readonly JobStatus[]): { well: boolean; detail: string; advice: string } {
  const overdue = jobs.filter(({ overdueSeconds }) => overdueSeconds > overdueSecondsMax)
  const failing = jobs.filter(({ attempts, failedSince }) => failedSince !== null && attempts >= attemptsMax)
  // A run that is under way counts as an attempt; one that ended its process left no other word.
  const dying = jobs.filter(({ attempts, failedSince }) => failedSince === null && attempts >= attemptsMax)
  const running = jobs.filter(({ isRunning }) => isRunning).length
  const tell = (of: readonly JobStatus[], say: (job: JobStatus) => string) =>
    of.length === 0 ? [] : [`${of.slice(0, namedMax).map(say).join('; ')}${of.length > namedMax ? '; …' : ''}`]
  return {
    well: overdue.length + failing.length + dying.length === 0,
    detail: [
      jobs.length === 0 ? 'none has run yet' : `${jobs.length}, ${running} at work`,
      ...tell(overdue, ({ name, overdueSeconds }) => `"${name}" is due for ${Math.round(overdueSeconds)} s`),
      ...tell(failing, ({ name, attempts, error }) => `"${name}" failed ${attempts} times in a row: ${error}`),
      ...tell(dying, ({ name, attempts }) => `"${name}" was begun ${attempts} times and never ended`),
    ].join('; '),
    advice: 'start `openearn watch` if nothing runs the jobs; else see its log for the ones that fail',
  }
}
