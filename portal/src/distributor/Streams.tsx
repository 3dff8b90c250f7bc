import { useEarn } from '@openearn/react'
import { type EarnError, getStreamClaims, getStreams, getStreamWallets, type types } from '@openearn/sdk'
import { cutName } from '@openearn/widget/parts'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useVaultNames } from '../opportunities/names.js'
import { useKeyInfo } from '../shell/keyInfo.js'
import { Address } from '../ui/Address.js'
import { Age } from '../ui/Age.js'
import { type Fact, FactList } from '../ui/FactList.js'
import { Link } from '../ui/Link.js'
import { Long } from '../ui/Long.js'
import { Empty, Fault, Loading } from '../ui/Notice.js'
import { Num } from '../ui/Num.js'
import { Units } from '../ui/Units.js'

/** Reward streams of this service: budget, accrual, the root that was committed, and the wallets. */
export function Streams(): ReactNode {
  const { earn } = useEarn()
  const { data, error, refetch } = useQuery<types.GetStreamsResult, EarnError>({
    queryKey: ['portal', 'streams'],
    queryFn: ({ signal }) => getStreams(earn, {}, { signal }),
    ...{ staleTime: 60_000, retry: false },
  })
  const { data: key } = useKeyInfo()
  const owner = key?.organization
  const isOwn = ({ orgId }: types.Stream) => orgId === owner?.id
  // The reader looks for those that his organization pays.
  const streams = (data?.streams ?? []).toSorted((a, b) => Number(isOwn(b)) - Number(isOwn(a)))
  return (
    <div className="stack">
      <p className="muted small">
        Streams of all organizations, those of the key's own first. To create one, to add to its budget or to withdraw
        from it takes a secret key: a backend does it, never a page.
      </p>
      <Fault error={error} retry={() => void refetch()} />
      {!data && !error && <Loading rows={3} label="Loading the streams" />}
      {data?.streams.length === 0 && <Empty title="There is no stream yet." />}
      <Long items={streams}>
        {(shown) =>
          shown.map((stream) => (
            <StreamCard
              key={stream.id}
              stream={stream}
              owner={owner && (isOwn(stream) ? owner.name : 'another organization')}
            />
          ))
        }
      </Long>
    </div>
  )
}

const strategies = { 'fixed-rate': 'Fixed rate', 'fixed-apr': 'Fixed APR', 'daily-budget': 'Daily budget' } as const

type CardProps = { stream: types.Stream; owner: string | undefined }

function StreamCard({ stream, owner }: CardProps): ReactNode {
  const { rewardToken, point, lastSnapshot, committedSnapshot, customArgs, totalAmount } = stream
  const decimals = rewardToken?.decimals ?? point?.decimals ?? 0
  const symbol = cutName(rewardToken?.symbol ?? point?.symbol ?? '', 16)
  const token = { decimals, symbol }
  const facts: Fact[] = [
    ['Paid by', owner ? <bdi key="owner">{cutName(owner, 60)}</bdi> : '–'],
    [
      'Budget in all',
      totalAmount === null ? (
        'none is set: it accrues at its rate'
      ) : (
        <Units key="budget" value={totalAmount} name="totalAmount" {...token} />
      ),
    ],
    ['Rate', <Rate key="rate" args={customArgs} token={token} />],
    [
      'Accrued',
      <Units key="accrued" value={lastSnapshot?.amountDistributed} name="lastSnapshot.amountDistributed" {...token} />,
    ],
    ['Wallets that earn', <Num key="users" value={lastSnapshot?.userCount} as="count" name="lastSnapshot.userCount" />],
    ['Runs since', <Age key="start" name="startTimestamp" at={stream.startTimestamp} />],
    ['Until', <End key="end" stream={stream} />],
    [
      'Newest root',
      rewardToken === undefined ? (
        'none: points are on no chain'
      ) : committedSnapshot?.rootHash ? (
        <Address key="root" text={committedSnapshot.rootHash} />
      ) : (
        'not committed yet'
      ),
    ],
  ]
  return (
    <section className="card" aria-label={`Stream of ${symbol}`} data-id={stream.id}>
      <div className="between">
        <h2>
          <bdi>{symbol}</bdi> for <Target token={customArgs.targetToken} />
        </h2>
        <span className="tags small muted">
          <span>{strategies[stream.strategy]}</span>
          {stream.claimPaused && <span className="chip">claims paused</span>}
        </span>
      </div>
      <FactList facts={facts} />
      <Opened title="Accrued by wallet">
        <Wallets id={stream.id} token={token} />
      </Opened>
      <Opened title="Claims">
        <Claims id={stream.id} token={token} isPoints={rewardToken === undefined} />
      </Opened>
    </section>
  )
}

/** The vault whose holders are paid; its share's symbol where the vault is not listed. */
function Target({ token }: { token: types.Stream['customArgs']['targetToken'] }): ReactNode {
  const vault = useVaultNames().byShare(token.chain.chainId, token.address)
  if (!vault) return <bdi>{cutName(token.symbol, 24)}</bdi>
  return (
    <Link to={`opportunities/${vault.id}`}>
      <bdi>{cutName(vault.name, 60)}</bdi>
    </Link>
  )
}

/** A part that is read once it is opened. */
function Opened({ title, children }: { title: string; children: ReactNode }): ReactNode {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen && children}
    </details>
  )
}

type Token = { decimals: number; symbol: string }

function Rate({ args, token }: { args: types.Stream['customArgs']; token: Token }): ReactNode {
  const { tokensPerDay, tokensPerUSD, apr } = args
  if (tokensPerDay !== undefined)
    return (
      <>
        <Units value={`${tokensPerDay}`} name="customArgs.tokensPerDay" {...token} /> a day, shared by all
      </>
    )
  if (tokensPerUSD !== undefined)
    return (
      <>
        <Units value={`${tokensPerUSD}`} name="customArgs.tokensPerUSD" {...token} /> a day for each thousand US dollars
      </>
    )
  return (
    <>
      <Num value={apr} as="tokens" name="customArgs.apr" /> a year of each dollar
    </>
  )
}

function End({ stream: { endTimestamp, totalAmount } }: { stream: types.Stream }): ReactNode {
  if (endTimestamp) return <Age name="endTimestamp" at={endTimestamp} />
  return totalAmount === null ? 'no end is set' : 'its budget is used up'
}

function Wallets({ id, token }: { id: string; token: Token }): ReactNode {
  const { earn } = useEarn()
  const { data, error, refetch } = useQuery<types.GetStreamWalletsResult, EarnError>({
    queryKey: ['portal', 'stream wallets', id],
    queryFn: ({ signal }) => getStreamWallets(earn, { id, limit: 50 }, { signal }),
    ...{ staleTime: 60_000, retry: false },
  })
  return (
    <>
      <Fault error={error} retry={() => void refetch()} />
      <ul className="plain-list">
        {data?.data.map(({ userAddress, lastSnapshot }) => (
          <li key={userAddress} className="between" data-id={userAddress}>
            <Address text={userAddress} to={`portfolio/${userAddress}`} />
            <Units value={lastSnapshot.rewardsAccumulated} name="lastSnapshot.rewardsAccumulated" {...token} />
          </li>
        ))}
      </ul>
    </>
  )
}

/** Who has claimed, when, and in which transaction; the newest first. */
function Claims({ id, token, isPoints }: { id: string; token: Token; isPoints: boolean }): ReactNode {
  const { earn } = useEarn()
  const { data, error, refetch } = useQuery<types.GetStreamClaimsResult, EarnError>({
    queryKey: ['portal', 'stream claims', id],
    queryFn: ({ signal }) => getStreamClaims(earn, { id, limit: 50 }, { signal }),
    ...{ enabled: !isPoints, staleTime: 60_000, retry: false },
  })
  if (isPoints) return <p className="muted small">Points are on no chain, so they are not claimed.</p>
  return (
    <>
      <Fault error={error} retry={() => void refetch()} />
      {!data && !error && <Loading rows={1} label="Loading the claims" />}
      {data?.data.length === 0 && <p className="muted small">Nobody has claimed yet.</p>}
      <ul className="plain-list">
        {data?.data.map(({ userAddress, amount, txHash, blockTimestamp }) => (
          <li key={`${txHash} ${userAddress}`} className="between" data-id={`${txHash} ${userAddress}`}>
            <span className="tags small">
              <Address text={userAddress} to={`portfolio/${userAddress}`} />
              <span className="muted">
                <Age name="blockTimestamp" at={blockTimestamp} whole />
              </span>
              <Address text={txHash} />
            </span>
            <Units value={amount} name="amount" {...token} />
          </li>
        ))}
      </ul>
      {data && data.pagination.total > data.data.length && (
        <p className="muted small">The newest of them; GetStreamClaims tells all.</p>
      )}
    </>
  )
}
