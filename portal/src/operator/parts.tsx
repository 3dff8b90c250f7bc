import { cutName } from '@openearn/widget/parts'
import { type ReactNode, useState } from 'react'
import { useFigures } from '../figures.js'
import { Age } from '../ui/Age.js'
import { Long } from '../ui/Long.js'
import { Empty, Loading } from '../ui/Notice.js'
import { ListFault } from './ListFault.js'
import type { List, Lists } from './lists.js'
import { useList } from './session.js'

type PartProps<N extends keyof Lists> = {
  name: N
  title: string
  /** Text where there are no rows. */
  none: string
  /** Rows that need somebody come first. */
  isWell?: (row: Lists[N]) => boolean
  idOf(row: Lists[N]): string
  children(row: Lists[N], list: List<Lists[N]>): ReactNode
}

/** A list of the operator with all its states: read, being read, empty, and one that could not be read. */
export function Part<N extends keyof Lists>({ name, title, none, isWell, idOf, children }: PartProps<N>): ReactNode {
  const { data: list, error, refetch } = useList(name)
  const figures = useFigures()
  const rows = isWell ? list?.data.toSorted((a, b) => Number(isWell(a)) - Number(isWell(b))) : list?.data
  return (
    <section className="card" aria-labelledby={name}>
      <div className="between">
        <h2 id={name}>{title}</h2>
        {list && rows && (
          <span className="muted small">
            {list.limit === rows.length ? `the newest ${figures.count(rows.length)}` : figures.count(rows.length)}, read
            at <time dateTime={list.at}>{figures.time(Date.parse(list.at))}</time>
          </span>
        )}
      </div>
      {error && <ListFault error={error} retry={() => void refetch()} />}
      {!list && !error && <Loading label={`Loading ${title.toLowerCase()}`} />}
      {list && rows?.length === 0 && <Empty title={none} />}
      {list && rows && rows.length > 0 && (
        <Long items={rows}>
          {(shown) => (
            <ul className="plain-list">
              {shown.map((row) => (
                <li key={idOf(row)} data-list={name} data-id={idOf(row)} className="stack tight">
                  {children(row, list)}
                </li>
              ))}
            </ul>
          )}
        </Long>
      )}
    </section>
  )
}

type CommandHeadProps = { row: { command: string; osUser: string; at: string }; list: { at: string } }

/** Which command was run, by whom and when. */
export function CommandHead({ row: { command, osUser, at }, list }: CommandHeadProps): ReactNode {
  return (
    <div className="between">
      <code className="strong">openearn {cutName(command, 200)}</code>
      <span className="muted small" dir="auto">
        {cutName(osUser, 60)}, <Since name="at" at={at} list={list} />
      </span>
    </div>
  )
}

type HeadProps = {
  children: ReactNode
  state: string
  /** Null where it is neither well nor an alarm. */
  isWell: boolean | null
}

/** The first line of a row: what it is about, and how it is. */
export function Head({ children, state, isWell }: HeadProps): ReactNode {
  const tone = isWell === null ? '' : isWell ? 'good' : 'alarm'
  return (
    <div className="between">
      <span className="strong" dir="auto">
        {children}
      </span>
      <span className={`chip ${tone}`}>{state}</span>
    </div>
  )
}

/** Values of a row, each with its name. */
export function Facts({ children }: { children: ReactNode }): ReactNode {
  return <dl className="tiles small-tiles">{children}</dl>
}

export function Fact({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <div className="tile">
      <dt className="muted small">{title}</dt>
      <dd>{children}</dd>
    </div>
  )
}

type SinceProps = { name: string; at: string | null; list: { at: string } }

/** An instant of a list, as its age when the list was read. `name`: the member of the row. */
export const Since = ({ name, at, list }: SinceProps): ReactNode => <Age name={name} at={at} asOf={list.at} />

/** An amount of a chain's own coin, told in its smallest unit. `name`: the member of the row. */
export function Coins({ value, name }: { value: string | null; name: string }): ReactNode {
  const figures = useFigures()
  if (value === null) return <span className="figure muted">–</span>
  const digits = value.padStart(19, '0')
  return (
    <data className="figure" value={value} data-name={name} title={value}>
      {figures.tokens(`${digits.slice(0, -18)}.${digits.slice(-18)}`)}
    </data>
  )
}

/** A text of a row that may be long; nothing where there is none. */
export function Why({ text }: { text: string | null }): ReactNode {
  if (text === null || text === '') return null
  return (
    <p className="small" dir="auto">
      {cutName(text, 500)}
    </p>
  )
}

/** The commands for what there is to do with a row. Words in capitals are for the operator to fill in. */
export function Commands({ lines }: { lines: readonly string[] }): ReactNode {
  if (lines.length === 0) return null
  return (
    <details>
      <summary>{lines.length === 1 ? 'Command' : 'Commands'}</summary>
      <ul className="stack tight">
        {lines.map((line) => (
          <Line key={line} text={line} />
        ))}
      </ul>
    </details>
  )
}

function Line({ text }: { text: string }): ReactNode {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
  }
  return (
    <li className="command">
      <code>{text}</code>
      {/* Pages without https may not write there. */}
      {'clipboard' in navigator && (
        <button type="button" className="copy" aria-label={`Copy ${text}`} onClick={() => void copy()}>
          {isCopied ? 'Copied' : 'Copy'}
        </button>
      )}
    </li>
  )
}
