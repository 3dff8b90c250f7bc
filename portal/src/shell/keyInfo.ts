import { useEarn } from '@openearn/react'
import { type EarnError, getKey, type types } from '@openearn/sdk'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useKey } from './key.js'

/** GetKey: of whom the key is that the pages call the API with, and what is used of it. It costs nothing. */
export function useKeyInfo(): UseQueryResult<types.Key, EarnError> {
  const { earn } = useEarn()
  const { own } = useKey()
  return useQuery<types.Key, EarnError>({
    queryKey: ['portal', 'key', own],
    queryFn: ({ signal }) => getKey(earn, {}, { signal }),
    ...{ staleTime: 0, retry: false },
  })
}
