import type { types } from '@openearn/sdk'
import type { ReactNode } from 'react'
import { useFigures } from '../figures.js'
import { Address } from '../ui/Address.js'
import { Num } from '../ui/Num.js'
import type { Inputs } from './series.js'

type Props = {
  vault: types.Opportunity
  input: Inputs
  method: types.GetOpportunityHistoricalAPYResult['method']
  title: string
}

const formulas: Readonly<Record<string, string>> = {
  APY: '(to ÷ from) ^ (365 days ÷ interval) − 1',
  APR: '(to ÷ from − 1) × (365 days ÷ interval)',
}

/** The inputs of the point that the reader looks at: enough to recompute it by hand. */
export function Formula({ vault, input, method, title }: Props): ReactNode {
  const figures = useFigures()
  const readings = [input.from, input.to]
  // One reading a column: the numbers of a reading are long, and stand below each other on a narrow screen too.
  const rows: readonly { title: string; tell(reading: types.Reading): ReactNode }[] = [
    {
      title: 'Block',
      tell: ({ blockNumber, blockHash }) => (
        <>
          <Num value={blockNumber} as="count" name="blockNumber" /> <Address text={blockHash} />
        </>
      ),
    },
    {
      title: 'Time',
      tell: ({ timestamp }) => (
        <time dateTime={timestamp} data-name="timestamp">
          {figures.time(Date.parse(timestamp))}
        </time>
      ),
    },
    {
      title: 'Share price',
      tell: ({ sharePrice }) => (
        <data className="figure" value={`${sharePrice}`} data-name="sharePrice">
          {sharePrice}
        </data>
      ),
    },
    { title: 'Assets', tell: ({ totalAssets }) => <Num value={totalAssets} as="count" name="totalAssets" /> },
    { title: 'Shares', tell: ({ totalSupply }) => <Num value={totalSupply} as="count" name="totalSupply" /> },
  ]
  return (
    <details className="formula">
      <summary>How this point is computed</summary>
      <p data-id={`${input.from.blockHash} ${input.to.blockHash}`}>
        <code>{formulas[title]}</code>, where from and to are share prices read at two blocks,{' '}
        <Num value={input.seconds} as="count" name="effectiveIntervalSeconds" /> seconds apart.
      </p>
      <table>
        <thead>
          <tr>
            <td />
            <th scope="col">from</th>
            <th scope="col">to</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ title, tell }) => (
            <tr key={title}>
              <th scope="row">{title}</th>
              {readings.map((reading) => (
                <td key={reading.blockHash} data-id={reading.blockHash}>
                  {tell(reading)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p className="muted small" data-id={vault.id}>
        Assets and shares are counted in their smallest units: the asset has{' '}
        <Num value={vault.baseToken.decimals} as="count" name="baseToken.decimals" /> decimals, the share{' '}
        <Num value={vault.receiptToken.decimals} as="count" name="receiptToken.decimals" />.
      </p>
      <p className="muted small">
        Method <bdi>{method.id}</bdi>, version <bdi>{method.version}</bdi>, source <bdi>{method.source}</bdi>.
      </p>
    </details>
  )
}
