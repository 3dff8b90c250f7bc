import { useEarn } from '@openearn/react'
import { type EarnClient, type EarnError, listInteractions, type types } from '@openearn/sdk'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { toPath, withQuery } from '../place.js'
import { Entry } from '../portfolio/Activity.js'
import { Empty, Fault, Loading } from '../ui/Notice.js'
import { Pager } from '../ui/Pager.js'
import { toCsv } from './csv.js'

type Row = types.ListInteractionsResult['data'][number]

/** Most entries of a file that a page makes; whole ledgers are `openearn export`’s. */
const rowsMax = 10_000

/** Verified deposits and withdrawals of a builder code, and all of them as a file. */
export function Ledger({ code, query }: { code: string; query: URLSearchParams }): ReactNode {
  const { earn } = useEarn()
  const page = Math.max(1, Math.trunc(Number(query.get('page') ?? 1)) || 1)
  const { data, error, refetch } = useQuery<types.ListInteractionsResult, EarnError>({
    queryKey: ['portal', 'ledger', code, page],
    queryFn: ({ signal }) => listInteractions(earn, { distributorId: code, page }, { signal }),
    placeholderData: keepPreviousData,
    ...{ staleTime: 30_000, retry: false },
  })
  if (error?.code === 404) return <Empty title="Nothing is known of this builder code." />
  const path = `distributor/${encodeURIComponent(code)}/ledger`
  const toPage = (next: number) => toPath(path, withQuery(query, { page: next === 1 ? undefined : `${next}` }))
  return (
    <section className="card" aria-labelledby="ledger">
      <div className="between">
        <h2 id="ledger">Ledger</h2>
        {data?.pagination && data.pagination.total > 0 && <Save code={code} earn={earn} />}
      </div>
      <Fault error={error} retry={() => void refetch()} />
      {!data && !error && <Loading rows={4} label="Loading the ledger" />}
      <p className="muted small">
        Every deposit that is credited to the code, and every withdrawal of what it brought, newest first.
      </p>
      {data?.data.length === 0 && <Empty title="No entry is here." />}
      <ul className="plain-list">
        {data?.data.map((row) => (
          <Entry key={row.id} row={row} />
        ))}
      </ul>
      {data?.pagination && <Pager {...data.pagination} toPage={toPage} />}
    </section>
  )
}

function Save({ code, earn }: { code: string; earn: EarnClient }): ReactNode {
  const [state, setState] = useState<{ text: string; isBad?: boolean; isBusy?: boolean }>()
  const save = async () => {
    setState({ text: 'Reading …', isBusy: true })
    try {
      const rows = await readAll(earn, code, (count) => setState({ text: `${count} entries are read …`, isBusy: true }))
      offer(`${code.replace(/[^\w-]/g, '_')}.csv`, toCsv(rows))
      setState({
        text:
          rows.length >= rowsMax
            ? `The newest ${rowsMax} entries; all are in \`openearn export\`.`
            : `${rows.length} entries.`,
      })
    } catch (error) {
      setState({ text: error instanceof Error ? error.message.slice(0, 200) : String(error), isBad: true })
    }
  }
  return (
    <span className="actions">
      {state && (
        <span role={state.isBad ? 'alert' : 'status'} className={state.isBad ? 'bad small' : 'muted small'}>
          {state.text}
        </span>
      )}
      <button type="button" disabled={state?.isBusy === true} onClick={() => void save()}>
        Save as CSV
      </button>
    </span>
  )
}

async function readAll(earn: EarnClient, code: string, tell: (count: number) => void): Promise<Row[]> {
  const rows: Row[] = []
  for (let page = 1; rows.length < rowsMax; page++) {
    const { data, pagination } = await listInteractions(earn, { distributorId: code, page, limit: 100 })
    rows.push(...data)
    tell(rows.length)
    if (!pagination || page >= pagination.totalPages) break
  }
  return rows
}

/** Gives the browser a file to save. */
function offer(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
