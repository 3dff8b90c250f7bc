import type { types } from '@openearn/sdk'
import type { ReactNode } from 'react'
import { Num } from '../ui/Num.js'

type SumProps = { title: string; name: string; sum: types.NativeAndUsd; symbol: string }

/** A sum in the vault's asset, and in US dollars. */
export function Sum({ title, name, sum, symbol }: SumProps): ReactNode {
  return (
    <div className="tile">
      <dt className="muted small">{title}</dt>
      <dd>
        <Num value={sum.native} as="tokens" name={`${name}.native`} symbol={symbol} />
      </dd>
      <dd className="muted small">
        <Num value={sum.usd} as="usd" name={`${name}.usd`} none="no price" />
      </dd>
    </div>
  )
}
