import { type ReactNode, useEffect, useState } from 'react'
import { useFigures } from '../figures.js'

const everyMs = 30_000

/** The present, read again every half minute. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [])
  return now
}

type Props = {
  /** The member of the service's answer: a test compares both. */
  name: string
  at: string | null | undefined
  /** When it was read by the clock of the service; absent: by that of the browser. */
  asOf?: string
  /** The instant itself rather than how long ago it was. */
  whole?: boolean
}

/** When something was. */
export function Age({ name, at, asOf, whole = false }: Props): ReactNode {
  const figures = useFigures()
  const now = useNow()
  const ms = at ? Date.parse(at) : Number.NaN
  if (Number.isNaN(ms)) return <span className="muted">never</span>
  return (
    <time className="figure" dateTime={at ?? undefined} data-name={name} title={figures.time(ms)}>
      {whole ? figures.time(ms) : figures.age(ms, asOf === undefined ? now : Date.parse(asOf))}
    </time>
  )
}
