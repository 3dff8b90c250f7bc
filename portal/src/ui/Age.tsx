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

/** How long ago something was. `asOf`: when it was read by the clock of the service; absent: by that of the browser. */
export function Age({ at, asOf }: { at: string | null | undefined; asOf?: string }): ReactNode {
  const figures = useFigures()
  const now = useNow()
  const ms = at ? Date.parse(at) : Number.NaN
  if (Number.isNaN(ms)) return <span className="muted">never</span>
  return (
    <time className="figure" dateTime={at ?? undefined} title={figures.time(ms)}>
      {figures.age(ms, asOf === undefined ? now : Date.parse(asOf))}
    </time>
  )
}
