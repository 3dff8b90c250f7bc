import { cutName } from '@openearn/widget/parts'
import { type FormEvent, type ReactNode, useState } from 'react'
import { Form, Lookup } from '../attribution/AttributionPage.js'
import { toChecks } from '../attribution/words.js'
import { go } from '../place.js'
import { Link } from '../ui/Link.js'
import { Empty } from '../ui/Notice.js'
import { Title } from '../ui/Title.js'
import { KeyPanel } from './KeyPanel.js'
import { Ledger } from './Ledger.js'
import { Metrics } from './Metrics.js'
import { Streams } from './Streams.js'

const views = {
  metrics: 'Figures',
  ledger: 'Ledger',
  streams: 'Streams',
  check: 'Check an integration',
  key: 'Key',
} as const
type View = keyof typeof views

const isView = (text: string): text is View => Object.hasOwn(views, text)

/** The pages of a distributor: `distributor/{builder code}/{view}`. */
export function DistributorPage({
  code,
  view = 'metrics',
  query,
}: {
  code: string | undefined
  view: string | undefined
  query: URLSearchParams
}): ReactNode {
  return (
    <>
      <Title text={code ? cutName(code, 60) : 'Distributors'}>
        {code
          ? 'What this builder code brought, by verified entries alone.'
          : 'A builder code names who brought a deposit. It is public.'}
      </Title>
      <Choose code={code} />
      {code && (
        <>
          <nav className="tabs sections" aria-label="Of the distributor">
            {(Object.entries(views) as [View, string][]).map(([each, title]) => (
              <Link
                key={each}
                to={`distributor/${encodeURIComponent(code)}/${each}`}
                aria-current={each === view ? 'page' : undefined}
              >
                {title}
              </Link>
            ))}
          </nav>
          {isView(view) ? <Shown code={code} view={view} query={query} /> : <Empty title="There is no such view." />}
        </>
      )}
    </>
  )
}

function Choose({ code = '' }: { code: string | undefined }): ReactNode {
  const [text, setText] = useState(code)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const next = text.trim()
    if (next) go(`distributor/${encodeURIComponent(next)}`)
  }
  return (
    <form className="bar lookup" onSubmit={submit} aria-label="Distributor">
      <label className="wide">
        <span className="label">Builder code</span>
        <input
          value={text}
          maxLength={100}
          spellCheck={false}
          autoComplete="off"
          onChange={({ target }) => setText(target.value)}
        />
      </label>
      <button type="submit">Show</button>
    </form>
  )
}

function Shown({ code, view, query }: { code: string; view: View; query: URLSearchParams }): ReactNode {
  if (view === 'metrics') return <Metrics code={code} query={query} />
  if (view === 'ledger') return <Ledger code={code} query={query} />
  if (view === 'streams') return <Streams />
  if (view === 'key') return <KeyPanel />
  return <Check code={code} query={query} />
}

/** The steps of an integration for one transaction: the first that was not taken is what is missing. */
function Check({ code, query }: { code: string; query: URLSearchParams }): ReactNode {
  return (
    <>
      <Form query={query} path={`distributor/${encodeURIComponent(code)}/check`} />
      <Lookup query={query}>
        {(found) => {
          const checks = toChecks(found, code)
          const missing = checks.find(({ isMet }) => !isMet)
          return (
            <section className="card stack" aria-labelledby="checks">
              <h2 id="checks">{missing ? 'Something is missing' : `It is credited to ${cutName(code, 60)}`}</h2>
              <ol className="checks">
                {checks.map(({ text, isMet }) => (
                  <li key={text} className={isMet ? 'met' : 'unmet'} dir="auto">
                    <span className="mark-word">{isMet ? 'Yes' : 'No'}</span> {cutName(text, 160)}
                  </li>
                ))}
              </ol>
              {found.calldata?.problems.map((problem) => (
                <p key={problem} className="notice" dir="auto">
                  {cutName(problem, 300)}
                </p>
              ))}
              <p className="small">
                <Link to={`attribution?tx=${found.txHash}&chainId=${found.chainId ?? ''}`}>
                  All that is known of this transaction
                </Link>
              </p>
            </section>
          )
        }}
      </Lookup>
    </>
  )
}
