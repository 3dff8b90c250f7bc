import { cutName } from '@openearn/widget/parts'
import type { ReactNode } from 'react'
import { Address } from '../ui/Address.js'
import { Num } from '../ui/Num.js'
import { Title } from '../ui/Title.js'
import type { Sender, Transaction } from './lists.js'
import { Coins, Commands, Fact, Facts, Head, Part, Since, Why } from './parts.js'

/** A transaction of our own that is open for longer needs an operator. */
const openSecondsMax = 1_800

const isStuck = (at: string | null, asOf: string) =>
  at !== null && Date.parse(asOf) - Date.parse(at) > openSecondsMax * 1_000

/** Why a queued transaction is not sent. */
export const heldTexts = {
  tooDear: 'held: it would cost more than it may',
  noFunds: 'held: its key lacks the funds',
  dayBudget: 'held: too little is left of the day',
} as const

/** The transactions that the service sends itself, by key. */
export function SendingPage(): ReactNode {
  return (
    <>
      <Title text="Sending">Transactions that this installation sends itself, and the keys it sends them with.</Title>
      <div className="stack">
        <Part
          name="senders"
          title="Keys"
          none="Nothing was ever sent from here."
          isWell={({ stopped }) => stopped === null}
          idOf={({ chainId, address }) => `${chainId} ${address}`}
        >
          {(sender, list) => <SenderRow sender={sender} list={list} />}
        </Part>
        <Part
          name="transactions"
          title="Queued and sent"
          idOf={({ id }) => id}
          none="Nothing waits: all that was sent is over."
          isWell={({ held }) => held === null}
        >
          {(row, list) => <TransactionRow row={row} list={list} />}
        </Part>
      </div>
    </>
  )
}

function SenderRow({ sender, list }: { sender: Sender; list: { at: string } }): ReactNode {
  const { chainId, address, stopped, isReleased, oldestAt, oldestId } = sender
  const isWell = stopped === null && !isStuck(oldestAt, list.at)
  const state = stopped !== null ? (isReleased ? 'released' : 'stopped') : isWell ? 'goes on' : 'stuck'
  return (
    <>
      <Head state={state} isWell={isWell}>
        <Address text={address} /> <span className="muted">{chainId}</span>
      </Head>
      <Why text={stopped ?? sender.oldestReason} />
      <Facts>
        <Fact title="Open">
          <Num value={sender.open} as="count" name="open" />
        </Fact>
        <Fact title="Oldest of them">
          {oldestAt === null ? (
            <span className="figure muted">–</span>
          ) : (
            <Since name="oldestAt" at={oldestAt} list={list} />
          )}
        </Fact>
        <Fact title="Spent in 24 h, coins">
          <Coins value={sender.spentDay} name="spentDay" /> of <Coins value={sender.spentDayMax} name="spentDayMax" />
        </Fact>
      </Facts>
      <Commands
        lines={[
          `openearn sender list --chain ${chainId}`,
          ...(stopped === null ? [] : [`openearn sender release ${address} --chain ${chainId}`]),
          ...(oldestId === null ? [] : [`openearn sender cancel ${oldestId}`]),
        ]}
      />
    </>
  )
}

function TransactionRow({ row, list }: { row: Transaction; list: { at: string } }): ReactNode {
  const { id, state, held, reason, cancelling } = row
  const isWell = held === null && !isStuck(row.createdAt, list.at)
  return (
    <>
      <Head state={held ? heldTexts[held] : cancelling ? 'is being cancelled' : state} isWell={isWell}>
        {cutName(row.purpose, 100)}
      </Head>
      <Why text={reason} />
      <Facts>
        <Fact title="Waits since">
          <Since name="createdAt" at={row.createdAt} list={list} />
        </Fact>
        <Fact title="Nonce">
          <Num value={row.nonce} as="count" name="nonce" />
        </Fact>
        <Fact title="May cost, coins">
          <Coins value={row.costMax} name="costMax" />
        </Fact>
        <Fact title="Reserved, coins">
          <Coins value={row.reserved} name="reserved" />
        </Fact>
        <Fact title="Key">
          <Address text={row.sender} /> <span className="muted">{row.chainId}</span>
        </Fact>
      </Facts>
      <Commands lines={[`openearn sender cancel ${id}`]} />
    </>
  )
}
