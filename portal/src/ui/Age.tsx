import { type ReactNode, useEffect, useState } from 'react'
import { usePortal } from '../portal.js'

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

/** How long ago something was. */
export function Age({ at }: { at: string | null | undefined }): ReactNode {
  const { figures } = usePortal()
  const now = useNow()
  const ms = at ? Date.parse(at) : Number.NaN
  if (Number.isNaN(ms)) return <span className="muted">never</span>
  return (
    <time className="figure" dateTime={at ?? undefined} title={figures.time(ms)}>
      {figures.age(ms, now)}
    </time>
  )
}
