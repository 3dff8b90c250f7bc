'use client'

import type { EarnError } from '@openearn/sdk'
import type { ReactNode } from 'react'
import { cutName } from './figures.js'
import { useSettings } from './settings.js'

/** Why something could not be read. */
export function Fault({ error }: { error: EarnError | null }): ReactNode {
  const { say } = useSettings()
  if (!error) return null
  return (
    <p role="alert" className="alert">
      {error.code === 401 ? say('revoked') : say('unreachable', { message: cutName(error.message, 300) })}
    </p>
  )
}
