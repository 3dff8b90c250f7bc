import { cutName } from '@openearn/widget/parts'
import type { ReactNode } from 'react'
import { Num } from '../ui/Num.js'
import { Title } from '../ui/Title.js'
import type { Job } from './lists.js'
import { Commands, Fact, Facts, Head, Part, Since, Why } from './parts.js'

/** A job that was due for longer than this has no process. */
const overdueSecondsMax = 60

function stateOf({ failedSince, overdueSeconds, isRunning }: Job): string {
  if (failedSince !== null) return 'fails'
  if (overdueSeconds > overdueSecondsMax) return 'overdue'
  return isRunning ? 'at work' : 'waits for its turn'
}

const isWell = ({ failedSince, overdueSeconds }: Job) => failedSince === null && overdueSeconds <= overdueSecondsMax

/** The work that runs again and again. */
export function JobsPage(): ReactNode {
  return (
    <>
      <Title text="Jobs">The work that runs again and again, of the processes that serve these chains.</Title>
      <Part
        name="jobs"
        title="Jobs"
        isWell={isWell}
        idOf={({ name }) => name}
        none="No job has run yet: start `openearn watch` or `openearn start`."
      >
        {(job, list) => (
          <>
            <Head state={stateOf(job)} isWell={isWell(job)}>
              {cutName(job.name, 80)}
            </Head>
            <Why text={job.error} />
            <Facts>
              <Fact title="Runs since one ended well">
                <Num value={job.attempts} as="count" name="attempts" />
              </Fact>
              <Fact title="Fails since">
                <Since name="failedSince" at={job.failedSince} list={list} />
              </Fact>
              <Fact title="Seconds overdue">
                <Num value={job.overdueSeconds} as="count" name="overdueSeconds" />
              </Fact>
            </Facts>
            <Commands lines={isWell(job) ? [] : ['openearn doctor']} />
          </>
        )}
      </Part>
    </>
  )
}
