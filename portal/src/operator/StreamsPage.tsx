import { cutName } from '@openearn/widget/parts'
import type { ReactNode } from 'react'
import { Address } from '../ui/Address.js'
import { Num } from '../ui/Num.js'
import { Title } from '../ui/Title.js'
import type { Stream } from './lists.js'
import { Commands, Fact, Facts, Head, Part, Since, Why } from './parts.js'

/** The steps of a stream by the word of its command. */
const steps = {
  snapshots: 'snapshotComputationPaused',
  trees: 'merkleTreeComputationPaused',
  commits: 'hashCommitmentPaused',
  claims: 'claimPaused',
} as const

const pausedOf = (stream: Stream) => Object.entries(steps).flatMap(([word, flag]) => (stream[flag] ? [word] : []))
const isWell = (stream: Stream) => stream.alarm === null && stream.doubted === null && pausedOf(stream).length === 0

/** Streams of which a root awaits a veto or its commit, and those that an operator has to look at. */
export function StreamsPage(): ReactNode {
  return (
    <>
      <Title text="Streams">
        Roots that await a veto or their commit, roots in doubt, alarms, and steps that are paused.
      </Title>
      <Part
        name="streams"
        title="Awaiting"
        isWell={isWell}
        idOf={({ id }) => id}
        none="No root awaits anything: all are on their chains."
      >
        {(stream, list) => <StreamRow stream={stream} list={list} />}
      </Part>
    </>
  )
}

function StreamRow({ stream, list }: { stream: Stream; list: { at: string } }): ReactNode {
  const { id, chainId, alarm, standing, root, commit, isVetoable, doubted } = stream
  const state = alarm !== null ? 'alarm' : doubted ? 'root in doubt' : (standing ?? 'no snapshot yet')
  const paused = pausedOf(stream)
  return (
    <>
      <Head state={state} isWell={isWell(stream)}>
        <code>{id}</code> <span className="muted">{chainId}</span>
      </Head>
      <Why text={alarm} />
      {doubted && (
        <p className="small bad" dir="auto">
          The root <Address text={doubted.root} /> was counted again and is another by{' '}
          {cutName(doubted.sources.join(', '), 200)}: <Since name="doubted.at" at={doubted.at} list={list} />.
        </p>
      )}
      {paused.length > 0 && <p className="small bad">Paused: {paused.join(', ')}.</p>}
      <Facts>
        <Fact title="Snapshot">
          <Since name="snapshotAt" at={stream.snapshotAt} list={list} />
        </Fact>
        <Fact title="Veto until">
          {stream.vetoUntil === null ? (
            <span className="figure muted">–</span>
          ) : (
            <Since name="vetoUntil" at={stream.vetoUntil} list={list} />
          )}
        </Fact>
        <Fact title="Allocated, smallest unit">
          <Num value={stream.total} as="count" name="total" />
        </Fact>
        <Fact title="Root">{root === null ? <span className="figure muted">–</span> : <Address text={root} />}</Fact>
        {commit && <Fact title="Its commit">{commit.state}</Fact>}
      </Facts>
      <Why text={commit?.reason ?? null} />
      <Commands
        lines={[
          `openearn streams files ${id}`,
          ...(doubted ? [`openearn streams watch-root ${id}`] : []),
          ...(isVetoable ? [`openearn streams veto ${id}`] : []),
          ...(commit && !isVetoable ? [`openearn sender cancel ${commit.id}`] : []),
          ...paused.map((word) => `openearn streams resume ${id} ${word}`),
          ...(paused.includes('commits') ? [] : [`openearn streams pause ${id} commits`]),
        ]}
      />
    </>
  )
}
