'use client'

import { useEarn, useJoin } from '@openearn/react'
import { getMembership } from '@openearn/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useSettings } from './settings.js'

/** Whether a wallet is linked; undefined until it is known. */
export function useMembership(account: `0x${string}`): { isMember: boolean | undefined } {
  const { slot } = useSettings()
  const { earn } = useEarn()
  const { flow } = useJoin({ slot, review: true })
  const queries = useQueryClient()
  const queryKey = ['openearn', 'member', account.toLowerCase()]
  const { data } = useQuery({
    queryKey,
    queryFn: ({ signal }) => getMembership(earn, { address: account, walletEcosystem: 'evm' }, { signal }),
    retry: false,
    staleTime: 600_000,
  })
  const hasJoined = flow?.status === 'member'
  // It stays known when the flow is closed.
  useEffect(() => {
    if (hasJoined) queries.setQueryData(['openearn', 'member', account.toLowerCase()], { isMember: true })
  }, [hasJoined, queries, account])
  return { isMember: hasJoined || data?.isMember }
}
