import type { types } from '@openearn/sdk'
import type { ReactNode } from 'react'
import { useFigures } from '../figures.js'
import { Address } from '../ui/Address.js'
import { Num } from '../ui/Num.js'
import type { Inputs } from './series.js'

type Props = { input: Inputs; method: types.GetOpportunityHistoricalAPYResult['method']; title: string }

const formulas: Readonly<Record<string, string>> = {
  APY: '(to ÷ from) ^ (365 days ÷ interval) − 1',
  APR: '(to ÷ from − 1) × (365 days ÷ interval)',
}

/** The inputs of the point that the reader looks at: enough to recompute it by hand. */
export function Formula({ input, method, title }: Props): ReactNode {
  return (
    <details className="formula">
      <summary>How this point is computed</summary>
      <p data-id={`${input.from.blockHash} ${input.to.blockHash}`}>
        <code>{formulas[title]}</code>, where from and to are share prices read at two blocks,{' '}
        <Num value={input.seconds} as="count" name="effectiveIntervalSeconds" /> seconds apart.
      </p>
      <div className="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Reading</th>
              <th scope="col">Block</th>
              <th scope="col">Time</th>
              <th scope="col">Share price</th>
              <th scope="col">Assets, smallest unit</th>
              <th scope="col">Shares, smallest unit</th>
            </tr>
          </thead>
          <tbody>
            {(['from', 'to'] as const).map((each) => (
              <Row key={each} name={each} reading={input[each]} />
            ))}
          </tbody>
        </table>
      </div>
      <p className="muted small">
        Method <bdi>{method.id}</bdi>, version <bdi>{method.version}</bdi>, source <bdi>{method.source}</bdi>.
      </p>
    </details>
  )
}

function Row({ name, reading }: { name: string; reading: types.Reading }): ReactNode {
  const figures = useFigures()
  return (
    <tr data-id={reading.blockHash}>
      <th scope="row">{name}</th>
      <td>
        <Num value={reading.blockNumber} as="count" name="blockNumber" /> <Address text={reading.blockHash} />
      </td>
      <td>
        <time dateTime={reading.timestamp} data-name="timestamp">
          {figures.time(Date.parse(reading.timestamp))}
        </time>
      </td>
      <td>
        <data className="figure" value={`${reading.sharePrice}`} data-name="sharePrice">
          {reading.sharePrice}
        </data>
      </td>
      <td>
        <Num value={reading.totalAssets} as="count" name="totalAssets" />
      </td>
      <td>
        <Num value={reading.totalSupply} as="count" name="totalSupply" />
      </td>
    </tr>
  )
}
