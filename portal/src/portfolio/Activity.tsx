import { useEarn, useOpportunity } from '@openearn/react'
import { type EarnError, getWalletActivity, type types } from '@openearn/sdk'
import { cutName } from '@openearn/widget/parts'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { toPath, withQuery } from '../place.js'
import { useChain } from '../portal.js'
import { Address, explored } from '../ui/Address.js'
import { Age } from '../ui/Age.js'
import { Link } from '../ui/Link.js'
import { Empty, Fault, Loading } from '../ui/Notice.js'
import { Num } from '../ui/Num.js'
import { Pager } from '../ui/Pager.js'

type Row = types.GetWalletActivityResult['activity'][number]

/** Verified deposits and withdrawals of a wallet, and the code that each carries. */
export function Activity({ address, query }: { address: `0x${string}`; query: URLSearchParams }): ReactNode {
  const { earn } = useEarn()
  const page = Math.max(1, Math.trunc(Number(query.get('page') ?? 1)) || 1)
  const { data, error, refetch } = useQuery<types.GetWalletActivityResult, EarnError>({
    queryKey: ['openearn', 'activity', address.toLowerCase(), page],
    queryFn: ({ signal }) => getWalletActivity(earn, { addresses: address, page }, { signal }),
    placeholderData: keepPreviousData,
    ...{ staleTime: 30_000, retry: false },
  })
  const toPage = (next: number) =>
    toPath(`portfolio/${address}`, withQuery(query, { page: next === 1 ? undefined : `${next}` }))
  return (
    <section className="card" aria-labelledby="activity">
      <h2 id="activity">Deposits and withdrawals</h2>
      <Fault error={error} retry={() => void refetch()} />
      {!data && !error && <Loading rows={3} />}
      {data?.activity.length === 0 && <Empty title="No deposit or withdrawal of this wallet is verified." />}
      <ul className="plain-list">
        {data?.activity.map((row) => (
          <Entry key={row.id} row={row} />
        ))}
      </ul>
      {data && data.pagination.totalPages > 1 && <Pager {...data.pagination} toPage={toPage} />}
    </section>
  )
}

/** Rows of one vault share one read of it. */
function VaultLink({ id }: { id: string }): ReactNode {
  const { data } = useOpportunity({ id })
  return (
    <Link to={`opportunities/${id}`}>
      <bdi>{data ? cutName(data.name, 60) : 'vault'}</bdi>
    </Link>
  )
}

export function Entry({ row }: { row: Row }): ReactNode {
  const { explorerUrl } = useChain(row.chainId)
  return (
    <li className="between" data-id={row.id}>
      <span className="names">
        <span className="strong">{row.interaction === 'deposit' ? 'Deposit' : 'Withdrawal'}</span>
        <span className="muted small tags">
          <Age name="blockTimestamp" at={row.blockTimestamp} whole />
          <VaultLink id={row.opportunityId} />
          <span>
            brought by <bdi>{cutName(row.distributorId, 40)}</bdi>
          </span>
          <span>
            of <Address text={row.walletAddress} to={`portfolio/${row.walletAddress}`} />
          </span>
          <Address text={row.txHash} {...explored(explorerUrl, 'tx', row.txHash)} />
        </span>
      </span>
      <span className="values">
        <Num value={row.amountToken} as="tokens" name="amountToken" symbol={cutName(row.tokenSymbol ?? '', 16)} />
        <span className="muted small">
          <Num value={row.amountInUsd} as="usd" name="amountInUsd" none="no price" />
        </span>
      </span>
    </li>
  )
}
