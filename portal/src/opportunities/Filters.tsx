import { useEarn } from '@openearn/react'
import { cutName } from '@openearn/widget/parts'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { go, toPath } from '../place.js'
import { filtersQuery } from './queries.js'
import { countFilters, type Filter, type SortBy, sorts, toSort, withFilters, withoutFilters } from './query.js'

/** How long after the last key a search is read: a typed word is one call. */
const restMs = 200

type Props = { query: URLSearchParams }
type Option = { value: string; label: string }

const set = (query: URLSearchParams, changes: Readonly<Record<string, string | undefined>>) =>
  go(toPath('', withFilters(query, changes)), { replace: true })

/** The form above the list: each change is a change of the URL. */
export function Filters({ query }: Props): ReactNode {
  const { earn } = useEarn()
  const { data } = useQuery(filtersQuery(earn))
  const { sortBy, sortOrder } = toSort(query)
  const count = countFilters(query)
  const chains = data?.chains.map(({ chainId, name }) => ({ value: `${chainId}`, label: name }))
  const tokens = data?.depositTokenSymbols.map(({ symbol }) => ({ value: symbol, label: symbol }))
  const curators = data?.curators.map(({ id, name }) => ({ value: id, label: name }))
  const tags = data?.tags.map(({ code, name }) => ({ value: code, label: name }))
  const options = (Object.entries(sorts) as [SortBy, string][]).map(([value, label]) => ({ value, label }))
  return (
    <search className="filters" aria-label="Opportunities">
      <div className="bar">
        <Search query={query} />
        <Choice label="Token" all="All tokens" name="depositTokenSymbols" options={tokens} query={query} />
        <Choice label="Chain" all="All chains" name="chainIds" options={chains} query={query} />
        <label>
          <span className="label">Sort by</span>
          <select value={sortBy} onChange={({ target }) => set(query, { sortBy: target.value, sortOrder: undefined })}>
            {options.map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <button
          type="button"
          className="order"
          aria-label={
            sortOrder === 'asc' ? 'Least first; press for greatest first' : 'Greatest first; press for least first'
          }
          onClick={() => set(query, { sortBy, sortOrder: sortOrder === 'asc' ? 'desc' : 'asc' })}
        >
          {sortOrder === 'asc' ? '↑' : '↓'}
        </button>
      </div>
      <More>
        <div className="bar">
          <Choice label="Curator" all="All curators" name="curatorId" options={curators} query={query} />
          <Choice label="Tag" all="All tags" name="tags" options={tags} query={query} />
          <NumberField label="TVL from, $" name="tvlMin" query={query} />
          <NumberField label="Rewards APR from, %" name="minApr" query={query} />
          <Tick label="Deposits open" name="depositEnabled" query={query} />
          <Tick label="Takes other tokens" name="routedSwapEnabled" query={query} />
          <Tick label="Featured" name="featured" query={query} />
        </div>
      </More>
      {count > 0 && (
        <p className="small">
          {count === 1 ? 'One filter is set. ' : `${count} filters are set. `}
          <button type="button" className="plain" onClick={() => go(toPath('', withoutFilters(query)))}>
            Remove filters
          </button>
        </p>
      )}
    </search>
  )
}

/** The filters that few readers need: they are drawn when they are opened. */
function More({ children }: { children: ReactNode }): ReactNode {
  const [isOpen, setOpen] = useState(false)
  return (
    <details className="more" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>More filters</summary>
      {isOpen && children}
    </details>
  )
}

/** A value that is typed: the URL follows after a rest, and the field follows a URL that changed elsewhere. */
function useTyped(query: URLSearchParams, name: Filter) {
  const shown = query.get(name) ?? ''
  const [typed, setTyped] = useState(shown)
  const [last, setLast] = useState(shown)
  if (last !== shown) {
    setLast(shown)
    setTyped(shown)
  }
  useEffect(() => {
    if (typed === shown) return undefined
    const timer = setTimeout(() => set(query, { [name]: typed }), restMs)
    return () => clearTimeout(timer)
  }, [typed, shown, name, query])
  return [typed, setTyped] as const
}

function Search({ query }: Props): ReactNode {
  const [typed, setTyped] = useTyped(query, 'search')
  return (
    <label className="wide">
      <span className="label">Search</span>
      <input
        type="search"
        placeholder="Name, token or address"
        value={typed}
        maxLength={100}
        onChange={({ target }) => setTyped(target.value)}
      />
    </label>
  )
}

function NumberField({ label, name, query }: Props & { label: string; name: Filter }): ReactNode {
  const [typed, setTyped] = useTyped(query, name)
  return (
    <label>
      <span className="label">{label}</span>
      <input inputMode="decimal" value={typed} maxLength={20} onChange={({ target }) => setTyped(target.value)} />
    </label>
  )
}

type ChoiceProps = Props & { label: string; all: string; name: Filter; options: readonly Option[] | undefined }

function Choice({ label, all, name, options = [], query }: ChoiceProps): ReactNode {
  const chosen = query.get(name) ?? ''
  const isListed = chosen === '' || options.some(({ value }) => value === chosen)
  return (
    <label>
      <span className="label">{label}</span>
      <select value={chosen} onChange={({ target }) => set(query, { [name]: target.value })}>
        <option value="">{all}</option>
        {!isListed && <option value={chosen}>{cutName(chosen, 40)}</option>}
        {options.map(({ value, label: text }) => (
          <option key={value} value={value}>
            {cutName(text, 40)}
          </option>
        ))}
      </select>
    </label>
  )
}

function Tick({ label, name, query }: Props & { label: string; name: Filter }): ReactNode {
  return (
    <label className="tick">
      <input
        type="checkbox"
        checked={query.get(name) === 'true'}
        onChange={({ target }) => set(query, { [name]: target.checked ? 'true' : undefined })}
      />
      <span>{label}</span>
    </label>
  )
}
