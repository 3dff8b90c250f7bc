'use client'

import { useClaimRewards, useRewards } from '@openearn/react'
import type { types } from '@openearn/sdk'
import type { ReactNode } from 'react'
import { useBegin } from './begin.js'
import { Fault } from './Fault.js'
import { cutName, toUnits } from './figures.js'
import { useSettings } from './settings.js'

/** The rewards that streams hold for the wallet. */
export function Rewards({ account }: { account: `0x${string}` }): ReactNode {
  const { say } = useSettings()
  const { data, error } = useRewards({ address: account })
  return (
    <section className="stack" aria-label={say('rewards')}>
      <h2>{say('rewards')}</h2>
      <Fault error={error} />
      {data?.streams.length === 0 && <p className="muted">{say('noRewards')}</p>}
      <ul className="stack">
        {data?.streams.map((each) => (
          <li key={each.streamId}>
            <Reward reward={each} account={account} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function Reward({ reward, account }: { reward: types.WalletStream; account: `0x${string}` }): ReactNode {
  const { say, figures, slot } = useSettings()
  const { begin } = useClaimRewards({ slot, review: true })
  const { start, refusal } = useBegin()
  const { stream, snapshots, streamId } = reward
  const [newest] = [...snapshots].sort((a, b) => Date.parse(b.timestamp) - Date.parse(a.timestamp))
  const units = toUnits(newest?.rewardsAccumulated)
  const { rewardToken, claimPaused } = stream
  const symbol = cutName(rewardToken?.symbol ?? stream.point?.name ?? '…', 16)
  return (
    <div className="card stack">
      <span className="figure">
        {say('reward', {
          amount: units === undefined ? '…' : figures.amount(units, rewardToken?.decimals ?? 0),
          symbol,
          date: newest ? figures.date(newest.timestamp) : '…',
        })}
      </span>
      {claimPaused && <p className="muted">{say('paused')}</p>}
      {rewardToken && !claimPaused && (
        <div>
          <button type="button" className="main" onClick={() => start(() => begin({ streamId, wallet: account }))}>
            {say('claimRewards')}
          </button>
        </div>
      )}
      {refusal}
    </div>
  )
}
