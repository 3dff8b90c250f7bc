import type { types } from '@openearn/sdk'
import { cutName } from '@openearn/widget/parts'
import { memo, type ReactNode } from 'react'
import { useFigures } from '../figures.js'
import { useChain } from '../portal.js'
import { Avatar } from '../ui/Avatar.js'
import { Link } from '../ui/Link.js'
import { Num } from '../ui/Num.js'
import { Sparkline } from './Sparkline.js'

/** A row of the list; on a small screen a card. */
export const OpportunityRow = memo(({ vault }: { vault: types.Opportunity }): ReactNode => {
  const { name, curator, baseToken, deltas, meta, freshness, featured } = vault
  const chain = useChain(vault.chainId)
  const isPriced = freshness.analyticsAt !== null
  return (
    <li className="row" data-id={vault.id}>
      <Link to={`opportunities/${vault.id}`} className="vault">
        <span className="cell who">
          <Avatar name={baseToken.symbol || name} />
          <span className="names">
            <bdi className="strong">{cutName(name, 80)}</bdi>
            <span className="muted small tags">
              <bdi>{cutName(baseToken.symbol, 16)}</bdi>
              <bdi>{cutName(chain.name, 24)}</bdi>
              {curator && <bdi>{cutName(curator.name, 32)}</bdi>}
              {featured && <span className="chip good">Featured</span>}
              {!meta.depositEnabled && <span className="chip">Deposits closed</span>}
              {meta.asyncDeposit && <span className="chip">Two steps</span>}
            </span>
          </span>
        </span>
        <span className="cell">
          <span className="label">APY</span>
          <Num value={deltas?.apy.current} as="percent" name="deltas.apy.current" none="withheld" />
        </span>
        <span className="cell">
          <span className="label">Rewards APR</span>
          <Num value={vault.estimatedApr} as="percent" name="estimatedApr" />
        </span>
        <span className="cell">
          <span className="label">TVL</span>
          <Num value={isPriced ? vault.tvl : null} as="usd" name="tvl" none="no price" />
        </span>
        <span className="cell">
          <span className="label">Depositors</span>
          <Num value={deltas?.lps.current} as="count" name="deltas.lps.current" />
        </span>
        <span className="cell way">
          <span className="label">TVL, 7 days</span>
          <Sparkline movement={deltas?.tvl} />
          <Moved value={deltas?.tvl.d7} />
        </span>
      </Link>
    </li>
  )
})

function Moved({ value }: { value: number | null | undefined }): ReactNode {
  const figures = useFigures()
  if (value === null || value === undefined) return <span className="figure muted">–</span>
  return (
    <data
      className={`figure ${value > 0 ? 'up' : value < 0 ? 'down' : 'muted'}`}
      value={`${value}`}
      data-name="deltas.tvl.d7"
      title={figures.usdExact(value)}
    >
      {figures.usdMoved(value)}
    </data>
  )
}
