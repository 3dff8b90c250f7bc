'use client'

import { useJoin } from '@openearn/react'
import type { ReactNode } from 'react'
import { useBegin } from './begin.js'
import { useSettings } from './settings.js'

/** The step before a first deposit. */
export function LinkFirst({ account, chainId }: { account: `0x${string}`; chainId: number }): ReactNode {
  const { say, slot, distributorId } = useSettings()
  const { begin } = useJoin({ slot, review: true })
  const { start, refusal } = useBegin()
  return (
    <>
      <p>{say('linkFirst')}</p>
      <button
        type="button"
        className="main"
        onClick={() => start(() => begin({ wallet: account, chainId, distributorId }))}
      >
        {say('link')}
      </button>
      {refusal}
    </>
  )
}
