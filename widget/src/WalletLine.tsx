'use client'

import type { ReactNode } from 'react'
import { cutHex, cutName } from './figures.js'
import { useSettings } from './settings.js'
import { useAnnounced, type useDiscovered } from './wallets.js'

type Own = ReturnType<typeof useDiscovered>

/** The connected wallet, or the ways to connect one. `own`: the wallets of the browser, where the app gives none. */
export function WalletLine({
  own,
  onConnect,
}: {
  own: Own | undefined
  onConnect: (() => void) | undefined
}): ReactNode {
  const { account, say } = useSettings()
  if (account)
    return (
      <div className="row between small">
        <span className="muted">{say('wallet', { address: cutHex(account) })}</span>
        {own && (
          <button type="button" onClick={own.disconnect}>
            {say('disconnect')}
          </button>
        )}
      </div>
    )
  if (own) return <Announced own={own} />
  return onConnect ? (
    <button type="button" className="main" onClick={onConnect}>
      {say('connectOwn')}
    </button>
  ) : null
}

function Announced({ own: { connect, error } }: { own: Own }): ReactNode {
  const { say } = useSettings()
  const wallets = useAnnounced()
  return (
    <div className="stack">
      {wallets.length === 0 && <p className="muted small">{say('noWallet')}</p>}
      <div className="row">
        {wallets.map(({ info, provider }) => (
          <button key={info.uuid} type="button" className="main" onClick={() => void connect(provider)}>
            {say('connect', { name: cutName(info.name) })}
          </button>
        ))}
      </div>
      {error !== undefined && (
        <p role="alert" className="alert">
          {say('notConnected', { message: cutName(messageOf(error), 200) })}
        </p>
      )}
    </div>
  )
}

const messageOf = (error: unknown): string => {
  const { message } = (error ?? {}) as { message?: unknown }
  return typeof message === 'string' ? message : String(error)
}
