'use client'

import { type ReactNode, useState } from 'react'
import { useSettings } from './settings.js'

/** Begins flows, and says so where another of its kind is under way: `begin` of a flow is false then. */
export function useBegin(): { start(begin: () => boolean): void; refusal: ReactNode } {
  const { say } = useSettings()
  const [isRefused, setRefused] = useState(false)
  return {
    start: (begin) => setRefused(!begin()),
    refusal: isRefused && (
      <p role="alert" className="alert">
        {say('working')}
      </p>
    ),
  }
}
