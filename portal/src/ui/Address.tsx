import { cutHex } from '@openearn/widget/parts'
import { type ReactNode, useState } from 'react'
import { Link, Outside } from './Link.js'

/** An address or a hash, cut; a press copies the whole. `url`: where an explorer shows it; `to`: the portal's own page of it. */
export function Address({ text, url, to }: { text: string; url?: string; to?: string }): ReactNode {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
  }
  return (
    <span className="address">
      <code title={text}>
        {to ? <Link to={to}>{cutHex(text)}</Link> : url ? <Outside url={url}>{cutHex(text)}</Outside> : cutHex(text)}
      </code>
      {/* Pages without https may not write there. */}
      {'clipboard' in navigator && (
        <button type="button" className="copy" aria-label={`Copy ${text}`} onClick={() => void copy()}>
          {isCopied ? 'Copied' : 'Copy'}
        </button>
      )}
    </span>
  )
}

/** The page of an explorer; none where the chain names no explorer. */
export const explored = (explorerUrl: string, kind: 'address' | 'tx', text: string) =>
  explorerUrl ? { url: `${explorerUrl.replace(/\/+$/, '')}/${kind}/${text}` } : {}
