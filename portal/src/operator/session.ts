import { QueryCache, QueryClient, type UseQueryResult, useQuery } from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import { type List, ListError, type Lists, readList } from './lists.js'

/** How often a page reads its lists again. */
const everyMs = 15_000

/** The token that the operator typed, and what was read with it. Both are gone with the page, or when it is closed. */
export type Session = { token: string; queries: QueryClient }

export const SessionContext = createContext<Session | undefined>(undefined)

/** `onRefused` hears why the token is not accepted any more. */
export function openSession(token: string, onRefused: (error: ListError) => void): Session {
  const hear = (error: Error) => {
    if (error instanceof ListError && error.status === 401) onRefused(error)
  }
  return { token, queries: new QueryClient({ queryCache: new QueryCache({ onError: hear }) }) }
}

/** A list of the operator, read again while the page is open. @throws Error outside of a session. */
export function useList<N extends keyof Lists>(name: N): UseQueryResult<List<Lists[N]>, ListError> {
  const session = useContext(SessionContext)
  if (!session) throw new Error('lists are read within a session')
  return useQuery<List<Lists[N]>, ListError>({
    queryKey: [name],
    queryFn: () => readList(name, session.token),
    refetchInterval: everyMs,
    retry: false,
    networkMode: 'always',
  })
}
