import { useRewards } from '@openearn/react'
import type { types } from '@openearn/sdk'
import { cutName } from '@openearn/widget/parts'
import type { ReactNode } from 'react'
import { Age } from '../ui/Age.js'
import { Long } from '../ui/Long.js'
import { Empty, Fault } from '../ui/Notice.js'
import { Units } from '../ui/Units.js'

/** Rewards that streams hold for a wallet that is only looked at. */
export function Rewards({ address }: { address: `0x${string}` }): ReactNode {
  const { data, error, refetch } = useRewards({ address, withSnapshots: false })
  return (
    <section className="card" aria-labelledby="rewards">
      <h2 id="rewards">Rewards</h2>
      <Fault error={error} retry={() => void refetch()} />
      {data?.streams.length === 0 && <Empty title="No reward of this wallet is known." />}
      <Long items={data?.streams ?? []}>
        {(shown) => (
          <ul className="plain-list">
            {shown.map((each) => (
              <Reward key={each.streamId} reward={each} />
            ))}
          </ul>
        )}
      </Long>
    </section>
  )
}

function Reward({ reward: { stream, streamId, snapshots } }: { reward: types.WalletStream }): ReactNode {
  const [newest] = snapshots
  const { rewardToken, point, customArgs } = stream
  return (
    <li className="between" data-id={streamId}>
      <span className="names">
        <bdi className="strong">{cutName(rewardToken?.symbol ?? point?.name ?? '…', 24)}</bdi>
        <span className="muted small">
          for <bdi>{cutName(customArgs.targetToken.symbol, 24)}</bdi>
        </span>
      </span>
      <span className="values">
        <Units
          value={newest?.rewardsAccumulated}
          decimals={rewardToken?.decimals ?? point?.decimals ?? 0}
          name="snapshots.rewardsAccumulated"
        />
        {newest && (
          <span className="muted small">
            until <Age name="snapshots.timestamp" at={newest.timestamp} />
          </span>
        )}
      </span>
    </li>
  )
}
