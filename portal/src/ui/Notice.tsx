import type { EarnError } from '@openearn/sdk'
import { cutName } from '@openearn/widget/parts'
import type { ReactNode } from 'react'
import { useOnline } from '../shell/online.js'

/** Rows that stand where content will be. */
export function Loading({ rows = 3, label = 'Loading' }: { rows?: number; label?: string }): ReactNode {
  return (
    <div className="loading" role="status" aria-label={label}>
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} className="bone" />
      ))}
    </div>
  )
}

/** There is nothing, and why. */
export function Empty({ title, children }: { title: string; children?: ReactNode }): ReactNode {
  return (
    <div className="empty">
      <p className="strong">{title}</p>
      {children && <div className="muted">{children}</div>}
    </div>
  )
}

/** Something could not be read. With `retry` the reader may ask again. */
export function Fault({ error, retry }: { error: EarnError | Error | null; retry?: () => void }): ReactNode {
  const isOnline = useOnline()
  if (!error) return null
  return (
    <div className="notice bad" role="alert">
      <p className="strong">{titleOf(error, isOnline)}</p>
      <p dir="auto">{adviceOf(error, isOnline)}</p>
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  )
}

const codeOf = (error: Error): number | undefined => ('code' in error ? Number(error.code) : undefined)

function titleOf(error: Error, isOnline: boolean): string {
  if (!isOnline) return 'You are offline'
  const code = codeOf(error)
  if (code === 401) return 'The key of this page is no longer accepted'
  if (code === 429) return 'The budget of this page is used up for now'
  if (code === 0) return 'The service does not answer'
  return 'This could not be read'
}

function adviceOf(error: Error, isOnline: boolean): string {
  if (!isOnline) return 'The page goes on when the network is back.'
  if (codeOf(error) === 401)
    return 'It was revoked or has expired. What was sent to a chain is not affected; ask the operator for a new key.'
  if (codeOf(error) === 429) {
    const seconds = (error as EarnError).retryAfter
    return seconds ? `It is renewed in ${Math.ceil(seconds / 60)} minutes.` : 'Try again later.'
  }
  return cutName(error.message, 300)
}

/** A figure that the service does not give, and its reason in plain words. */
export function Withheld({ error }: { error: EarnError }): ReactNode {
  return (
    <div className="notice">
      <p className="strong" dir="auto">
        Withheld: {cutName(toSentence(error), 300)}
      </p>
      {error.reason && reasonTexts[error.reason] && <p>{reasonTexts[error.reason]}</p>}
      <p className="muted small">
        A figure is withheld rather than shown where what it rests on is missing, old or unclear.
      </p>
    </div>
  )
}

/** Whether an error says that a figure is withheld, rather than that something failed. */
export const isWithheld = ({ code, reason }: EarnError): boolean =>
  code === 412 || (reason !== undefined && reason in reasonTexts)

/** The service's own sentence: an error of the client begins with the operation and its status. */
const toSentence = ({ message }: EarnError): string => message.replace(/^\w+: \d+ \w+ /, '')

/** How the figure comes back. */
const reasonTexts: Readonly<Record<string, string>> = {
  INDEXING_NOT_STARTED:
    'It is shown once the service has readings that measure it. Where no source of its growth is set for the range, the operator has to name one in the catalogue.',
  INDEXING_STALLED: 'It is shown again once the service has a newer reading that can be trusted.',
  PROTOCOL_UNSUPPORTED: 'This kind of vault tells no growth that can be trusted, so it stays away.',
}
