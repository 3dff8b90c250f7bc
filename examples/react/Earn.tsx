import {
  type FlowHandle,
  useClaim,
  useDeposit,
  useEarn,
  useJoin,
  useOpportunities,
  usePortfolio,
  useRequests,
} from '@openearn/react'
import { getMembership, type types } from '@openearn/sdk'
import { type Flow, isLast } from '@openearn/sdk/flows'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { parseUnits } from 'viem'
import { distributorId } from './settings.js'

type Wallet = `0x${string}`

/** A flow as its user sees it: each request of the wallet is read before it is signed. */
function Follow({ handle, title }: { handle: FlowHandle<Flow, never>; title: string }) {
  const { flow, needs, error, say, forget } = handle
  if (!flow) return error ? <p role="alert">{String(error)}</p> : null
  return (
    <section aria-label={title}>
      <h2>
        {title}: <output>{flow.status}</output>
      </h2>
      <ol>
        {flow.sentences?.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ol>
      {flow.trusts === 'service' && <p>The addresses of vault and contracts are the service’s word.</p>}
      {flow.problem && <p role="alert">{flow.problem.text}</p>}
      {needs && (
        <button type="button" onClick={() => say(needs)}>
          {needs === 'again' ? 'Ask the wallet again' : 'Go to the wallet'}
        </button>
      )}
      <button type="button" onClick={forget}>
        {isLast(flow) ? 'Close' : 'Stop'}
      </button>
    </section>
  )
}

/** A first deposit needs a membership, which the wallet signs. */
function Join({ wallet }: { wallet: Wallet }) {
  const { earn } = useEarn()
  const join = useJoin({ review: true })
  const { data } = useQuery({
    queryKey: ['member', wallet],
    queryFn: () => getMembership(earn, { address: wallet, walletEcosystem: 'evm' }),
  })
  if (data?.isMember || join.flow?.status === 'member') return null
  return (
    <>
      <button type="button" disabled={!data} onClick={() => join.begin({ wallet, distributorId })}>
        Link this wallet
      </button>
      <Follow handle={join} title="Membership" />
    </>
  )
}

function Vault({ vault, wallet }: { vault: types.Opportunity; wallet: Wallet }) {
  const [text, setText] = useState('')
  const { name, id: opportunityId, estimatedApr, baseToken } = vault
  const deposit = useDeposit({ slot: `deposit ${opportunityId} ${wallet}`, review: true })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const amount = parseUnits(text, baseToken.decimals)
    deposit.begin({ opportunityId, userAddress: wallet, tokenIn: baseToken.address, amount, distributorId })
  }
  return (
    <li>
      <form onSubmit={submit}>
        <bdi>{name}</bdi>, {estimatedApr.toLocaleString(undefined, { maximumFractionDigits: 2 })} % a year
        <label>
          {' '}
          Amount in {baseToken.symbol}{' '}
          <input value={text} onChange={(event) => setText(event.target.value)} required pattern="\d+(\.\d+)?" />
        </label>
        <button type="submit">Deposit</button>
      </form>
      <Follow handle={deposit} title={`Deposit into ${name}`} />
    </li>
  )
}

/** Deposits that wait for their vault; those that it has settled can be claimed. */
function Requests({ wallet }: { wallet: Wallet }) {
  const { data } = useRequests({ address: wallet })
  const claim = useClaim({ review: true })
  const open = data?.requests.filter(({ state, kind }) => kind === 'deposit' && /pending|claimable/.test(state)) ?? []
  return (
    <>
      {open.map(({ requestId, opportunityId, state, assets, distributorId: brought }) => (
        <p key={`${opportunityId} ${requestId}`}>
          {assets} units are {state}{' '}
          {state === 'claimable' && (
            <button
              type="button"
              onClick={() =>
                claim.begin({ opportunityId, userAddress: wallet, distributorId: brought ?? distributorId })
              }
            >
              Claim
            </button>
          )}
        </p>
      ))}
      <Follow handle={claim} title="Claim" />
    </>
  )
}

export function Earn({ wallet }: { wallet: Wallet }) {
  const { data, error, hasNextPage, fetchNextPage } = useOpportunities()
  const { data: portfolio } = usePortfolio({ address: wallet })
  return (
    <>
      <p>
        <code>{wallet}</code> holds {portfolio ? `$${portfolio.portfolio.holdings.totalUsd}` : '…'}
      </p>
      <Join wallet={wallet} />
      <Requests wallet={wallet} />
      {error && <p role="alert">{error.message}</p>}
      <ul>
        {data?.items.map((vault) => (
          <Vault key={vault.id} vault={vault} wallet={wallet} />
        ))}
      </ul>
      {hasNextPage && (
        <button type="button" onClick={() => fetchNextPage()}>
          More
        </button>
      )}
    </>
  )
}
