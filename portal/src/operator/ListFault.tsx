import { cutName } from '@openearn/widget/parts'
import type { ReactNode } from 'react'
import { useOnline } from '../shell/online.js'
import type { ListError } from './lists.js'

/** A list that could not be read, and why. With `retry` the operator may ask again. */
export function ListFault({ error, retry }: { error: ListError; retry?: () => void }): ReactNode {
  const isOnline = useOnline()
  return (
    <div className="notice bad" role="alert">
      <p className="strong">{titleOf(error, isOnline)}</p>
      <p dir="auto">{isOnline ? cutName(error.message, 300) : 'The page goes on when the network is back.'}</p>
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  )
}

function titleOf({ status }: ListError, isOnline: boolean): string {
  if (!isOnline) return 'You are offline'
  if (status === 401) return 'The token is not accepted'
  if (status === 403) return 'This address of the listener is not known'
  if (status === 429) return 'Too many wrong tokens'
  if (status === 0) return 'The service does not answer'
  return 'This could not be read'
}
