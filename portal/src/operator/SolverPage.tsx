import type { ReactNode } from 'react'
import { Address } from '../ui/Address.js'
import { Num } from '../ui/Num.js'
import { Title } from '../ui/Title.js'
import type { Settlement } from './lists.js'
import { Coins, Commands, Fact, Facts, Head, Part, Since, Why } from './parts.js'
import { heldTexts } from './SendingPage.js'

const isWell = ({ held, outcome, state }: Settlement) =>
  held === null && (outcome ?? state) !== 'reverted' && (outcome ?? state) !== 'failed'

/** The settlements of swap orders: those that are open, and what became of the others. */
export function SolverPage(): ReactNode {
  return (
    <>
      <Title text="Solver">Settlements of swap orders that this installation pays the gas of.</Title>
      <Part
        name="settlements"
        title="Settlements"
        isWell={isWell}
        idOf={({ id }) => id}
        none="No order was settled from here."
      >
        {(row, list) => <SettlementRow row={row} list={list} />}
      </Part>
    </>
  )
}

function SettlementRow({ row, list }: { row: Settlement; list: { at: string } }): ReactNode {
  const { id, orderId, held, outcome, state, isOpen } = row
  return (
    <>
      <Head state={held && isOpen ? heldTexts[held] : (outcome ?? state ?? 'open')} isWell={isWell(row)}>
        <code>{orderId}</code>
      </Head>
      <Why text={row.reason} />
      <Facts>
        <Fact title="Try">
          <Num value={row.attempt} as="count" name="attempt" />
        </Fact>
        <Fact title="Queued">
          <Since name="createdAt" at={row.createdAt} list={list} />
        </Fact>
        <Fact title="Cost, coins">
          <Coins value={row.cost} name="cost" />
        </Fact>
        <Fact title="May cost, coins">
          <Coins value={row.costMax} name="costMax" />
        </Fact>
        <Fact title="Owner">
          <Address text={row.owner} /> <span className="muted">{row.chainId}</span>
        </Fact>
        {row.isRisky && <Fact title="Risk">nobody vouches for its tokens</Fact>}
      </Facts>
      <Commands
        lines={[
          `openearn orders show ${orderId}`,
          ...(isOpen ? [`openearn sender cancel ${id}`, `openearn orders stop ${orderId}`] : []),
        ]}
      />
    </>
  )
}
