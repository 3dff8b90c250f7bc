import type { ReactNode } from 'react'
import { type Preset, presets, toRange } from './ranges.js'

type Props = {
  query: URLSearchParams
  show(changes: Readonly<Record<string, string | undefined>>): void
}

/** The ranges of a chart; one that was marked in it goes away by a press. */
export function Ranges({ query, show }: Props): ReactNode {
  const range = toRange(query)
  const isMarked = !('preset' in range)
  return (
    <fieldset className="tabs" aria-label="Range">
      {(Object.keys(presets) as Preset[]).map((each) => (
        <button
          key={each}
          type="button"
          aria-pressed={!isMarked && range.preset === each}
          onClick={() => show({ range: each, from: undefined, to: undefined })}
        >
          {each}
        </button>
      ))}
      {isMarked && (
        <button type="button" aria-pressed="true" onClick={() => show({ from: undefined, to: undefined })}>
          Whole
        </button>
      )}
    </fieldset>
  )
}
