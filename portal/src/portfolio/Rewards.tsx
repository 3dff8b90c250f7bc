import { useRewards } from '@openearn/react'
import type { types } from '@openearn/sdk'
import { cutName, toUnits } from '@openearn/widget/parts'
import type { ReactNode } from 'react'
import { useFigures } from '../figures.js'
import { Age } from '../ui/Age.js'
import { Long } from '../ui/Long.js'
import { Empty, Fault } from '../ui/Notice.js'

/** Rewards that streams hold for a wallet that is only looked at. */
export function Rewards({ address }: { address: `0x${string}` }): ReactNode {
  const { data, error } = useRewards({ address, withSnapshots: false })
  return (
    <section className="card" aria-labelledby="rewards">
      <h2 id="rewards">Rewards</h2>
      <Fault error={error} />
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

function Reward({ reward: { stream, snapshots } }: { reward: types.WalletStream }): ReactNode {
  const figures = useFigures()
  const [newest] = snapshots
  const units = toUnits(newest?.rewardsAccumulated)
  const { rewardToken, point, customArgs } = stream
  return (
    <li className="between">
      <span className="names">
        <bdi className="strong">{cutName(rewardToken?.symbol ?? point?.name ?? '…', 24)}</bdi>
        <span className="muted small">
          for <bdi>{cutName(customArgs.targetToken.symbol, 24)}</bdi>
        </span>
      </span>
      <span className="values">
        <span className="figure">
          {units === undefined ? '–' : figures.amount(units, rewardToken?.decimals ?? point?.decimals ?? 0)}
        </span>
        {newest && (
          <span className="muted small">
            until <Age at={newest.timestamp} />
          </span>
        )}
      </span>
    </li>
  )
}
