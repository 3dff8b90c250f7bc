import type { ReactNode } from 'react'
import { useOnline } from './online.js'

/** Says that the browser has no network. */
export function OfflineBanner(): ReactNode {
  const isOnline = useOnline()
  if (isOnline) return null
  return (
    <p className="banner" role="status">
      You are offline. Figures are those that were read last.
    </p>
  )
}
