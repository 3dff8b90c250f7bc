import type { types } from '@openearn/sdk'
import type { ReactNode } from 'react'
import { useFigures } from '../figures.js'
import { Address } from '../ui/Address.js'
import type { Inputs } from './series.js'

type Props = { input: Inputs; method: types.GetOpportunityHistoricalAPYResult['method']; title: string }

const formulas: Readonly<Record<string, string>> = {
  APY: '(to ÷ from) ^ (365 days ÷ interval) − 1',
  APR: '(to ÷ from − 1) × (365 days ÷ interval)',
}

/** The inputs of the point that the reader looks at: enough to recompute it by hand. */
export function Formula({ input, method, title }: Props): ReactNode {
  const figures = useFigures()
  return (
    <details className="formula">
      <summary>How this point is computed</summary>
      <p>
        <code>{formulas[title]}</code>, where from and to are share prices read at two blocks,{' '}
        {figures.count(input.seconds)} seconds apart.
      </p>
      <div className="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Reading</th>
              <th scope="col">Block</th>
              <th scope="col">Time</th>
              <th scope="col">Share price</th>
              <th scope="col">Assets</th>
              <th scope="col">Shares</th>
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
        Method {method.id}, version {method.version}, source {method.source}.
      </p>
    </details>
  )
}

function Row({ name, reading }: { name: string; reading: types.Reading }): ReactNode {
  const figures = useFigures()
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>
        {figures.count(reading.blockNumber)} <Address text={reading.blockHash} />
      </td>
      <td>{figures.time(Date.parse(reading.timestamp))}</td>
      <td className="figure">{reading.sharePrice}</td>
      <td className="figure">{figures.count(reading.totalAssets)}</td>
      <td className="figure">{figures.count(reading.totalSupply)}</td>
    </tr>
  )
}
