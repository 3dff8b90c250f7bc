import { cutHex, cutName } from '@openearn/widget/parts'
import { type ReactNode, useRef } from 'react'
import { usePortal } from '../portal.js'
import { Link } from '../ui/Link.js'

/** The wallet: connected, or the ways to connect one. */
export function Menu(): ReactNode {
  const { wallet } = usePortal()
  const dialog = useRef<HTMLDialogElement>(null)
  const close = () => dialog.current?.close()
  const { account, wallets, error, connect, disconnect } = wallet
  return (
    <>
      <button type="button" className={account ? '' : 'main'} onClick={() => dialog.current?.showModal()}>
        {account ? <code>{cutHex(account)}</code> : 'Connect'}
      </button>
      <dialog ref={dialog} className="sheet" aria-label="Wallet">
        <div className="stack">
          <h2>Wallet</h2>
          {account ? (
            <>
              <code className="whole">{account}</code>
              <div className="actions">
                <Link to="portfolio" className="button" onClickCapture={close}>
                  Portfolio
                </Link>
                <button
                  type="button"
                  onClick={() => {
                    disconnect()
                    close()
                  }}
                >
                  Disconnect
                </button>
              </div>
            </>
          ) : (
            <>
              {wallets.length === 0 && <p className="muted">No wallet was found in this browser.</p>}
              {wallets.map((each) => (
                <button key={each.info.uuid} type="button" onClick={() => void connect(each).then(close)}>
                  {cutName(each.info.name, 40)}
                </button>
              ))}
              <p className="muted small">A wallet is asked for nothing but its address until you begin something.</p>
            </>
          )}
          {error !== undefined && (
            <p role="alert" className="bad">
              The wallet shows no account: {cutName(textOf(error), 200)}
            </p>
          )}
          <button type="button" className="plain" onClick={close}>
            Close
          </button>
        </div>
      </dialog>
    </>
  )
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
