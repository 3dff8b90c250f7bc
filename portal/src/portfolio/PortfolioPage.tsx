import { usePortfolio } from '@openearn/react'
import { type FormEvent, type ReactNode, useState } from 'react'
import { go } from '../place.js'
import { usePortal } from '../portal.js'
import { Address } from '../ui/Address.js'
import { Empty, Fault, Loading } from '../ui/Notice.js'
import { Title } from '../ui/Title.js'
import { Activity } from './Activity.js'
import { Earnings } from './Earnings.js'
import { Holdings } from './Holdings.js'
import { Own } from './Own.js'
import { Requests } from './Requests.js'
import { Rewards } from './Rewards.js'

/** A wallet: of the URL, or the connected one. */
export function PortfolioPage({ address, query }: { address: string | undefined; query: URLSearchParams }): ReactNode {
  const { account } = usePortal().wallet
  const shown = address ?? account
  const isOwn = shown !== undefined && shown.toLowerCase() === account?.toLowerCase()
  return (
    <>
      <Title text="Portfolio">Shares, earnings, requests and rewards of a wallet.</Title>
      <Look address={address} />
      {shown === undefined ? (
        <Empty title="No wallet is shown.">Connect one, or write an address.</Empty>
      ) : (
        <Shown key={shown} address={shown} isOwn={isOwn} query={query} />
      )}
    </>
  )
}

function Look({ address = '' }: { address: string | undefined }): ReactNode {
  const [text, setText] = useState(address)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const next = text.trim()
    go(next === '' ? 'portfolio' : `portfolio/${encodeURIComponent(next)}`)
  }
  return (
    <form className="bar" onSubmit={submit} aria-label="Wallet">
      <label className="wide">
        <span className="label">Wallet</span>
        <input
          value={text}
          maxLength={120}
          spellCheck={false}
          autoComplete="off"
          placeholder="The connected wallet"
          onChange={({ target }) => setText(target.value)}
        />
      </label>
      <button type="submit">Show</button>
    </form>
  )
}

type ShownProps = { address: string; isOwn: boolean; query: URLSearchParams }

function Shown({ address, isOwn, query }: ShownProps): ReactNode {
  const { data, error, refetch } = usePortfolio({ address })
  const evm = /^0x[0-9a-f]{40}$/i.test(address) ? (address as `0x${string}`) : undefined
  if (error?.code === 400) return <Empty title="This is not the address of a wallet." />
  return (
    <div className="stack">
      <p className="small muted">
        Wallet <Address text={address} />
      </p>
      {isOwn && evm && <Own account={evm} />}
      <Fault error={error} retry={() => void refetch()} />
      {!data && !error && <Loading rows={4} label="Loading the portfolio" />}
      {data && <Holdings portfolio={data.portfolio} />}
      {data && <Earnings rows={data.portfolio.productsEarnings} address={address} query={query} />}
      {!isOwn && evm && <Requests address={evm} />}
      {!isOwn && evm && <Rewards address={evm} />}
      {evm && <Activity address={evm} query={query} />}
    </div>
  )
}
