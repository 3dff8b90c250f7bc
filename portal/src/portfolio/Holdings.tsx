import type { types } from '@openearn/sdk'
import { cutName } from '@openearn/widget/parts'
import type { ReactNode } from 'react'
import { useChain } from '../portal.js'
import { Age } from '../ui/Age.js'
import { Link } from '../ui/Link.js'
import { Long } from '../ui/Long.js'
import { Empty } from '../ui/Notice.js'
import { Num } from '../ui/Num.js'

type Portfolio = types.GetWalletPortfolioResult['portfolio']
type Row = {
  key: string
  /** The pool, by the members of the item. */
  id: string
  name: string
  kind: string
  opportunityId: string | null
  amounts: Amount[]
  usd: string | null
}
/** `name`: its member of the item. */
type Amount = { amount: string; symbol: string; name: string }

const kinds: Readonly<Record<types.PortfolioItem['type'], string>> = {
  yield: 'Shares of a vault',
  'pending-deposit': 'Deposit that waits',
  'claimable-deposit': 'Deposit to claim',
  'pending-withdraw': 'Withdrawal that waits',
  lending: 'Lending',
  reward: 'Reward',
}

/** The positions and tokens of a wallet, and their sum. */
export function Holdings({ portfolio }: { portfolio: Portfolio }): ReactNode {
  const { totalUsd, wallets } = portfolio.holdings
  const positions = wallets.flatMap(({ protocols }) => protocols).flatMap(toRows)
  const tokens = wallets.flatMap((each) => each.tokens)
  const asOf = wallets.flatMap((each) => each.asOf)
  const errors = wallets.flatMap((each) => each.errors)
  return (
    <section className="card" aria-labelledby="holdings">
      <div className="between">
        <h2 id="holdings">Holdings</h2>
        <span className="big">
          <Num value={totalUsd} as="usd" name="holdings.totalUsd" />
        </span>
      </div>
      {positions.length + tokens.length === 0 && <Empty title="This wallet holds nothing that the service knows." />}
      <Long items={positions}>{(shown) => <Positions rows={shown} />}</Long>
      {tokens.length > 0 && <h3>Tokens</h3>}
      <Long items={tokens}>{(shown) => <Tokens rows={shown} />}</Long>
      {errors.map(({ source, chainId, error }) => (
        <p key={`${source} ${chainId} ${error}`} className="notice small" dir="auto">
          Not complete: {cutName(source, 60)} {chainId}: {cutName(error, 200)}
        </p>
      ))}
      {asOf.map(({ chainId, blockNumber, timestamp }) => (
        <p key={chainId} className="muted small" data-id={`${chainId} ${timestamp}`}>
          Chain {chainId} at block <Num value={blockNumber} as="count" name="blockNumber" />,{' '}
          <Age name="timestamp" at={timestamp} />.
        </p>
      ))}
    </section>
  )
}

const toAmounts = (list: string, tokens: readonly { amount: string; symbol: string }[]): Amount[] =>
  tokens.map(({ amount, symbol }, at) => ({ amount, symbol, name: `detail.${list}.${at}.amount` }))

function toRows({ name, portfolio_item_list }: types.ProtocolHoldings): Row[] {
  return portfolio_item_list.map((item) => {
    const { supply_token_list, borrow_token_list, reward_token_list } = item.detail
    const amounts = [
      ...toAmounts('supply_token_list', supply_token_list),
      ...toAmounts('reward_token_list', reward_token_list),
      ...toAmounts('borrow_token_list', borrow_token_list).map((each) => ({ ...each, amount: `-${each.amount}` })),
    ]
    const isPriced = [...supply_token_list, ...reward_token_list].every(({ value_usd }) => value_usd !== null)
    return {
      key: `${item.type} ${item.pool.chain} ${item.pool.id} ${item.name}`,
      id: `${item.type} ${item.pool.id}`,
      ...{ name: item.detail.description || item.name || name, kind: kinds[item.type], amounts },
      ...{ opportunityId: item.opportunity_id, usd: isPriced ? item.stats.net_usd_value : null },
    }
  })
}

function Positions({ rows }: { rows: readonly Row[] }): ReactNode {
  return (
    <ul className="plain-list">
      {rows.map(({ key, id, name, kind, opportunityId, amounts, usd }) => (
        <li key={key} className="between" data-id={id}>
          <span className="names">
            <bdi className="strong">
              {opportunityId ? (
                <Link to={`opportunities/${opportunityId}`}>{cutName(name, 80)}</Link>
              ) : (
                cutName(name, 80)
              )}
            </bdi>
            <span className="muted small">{kind}</span>
          </span>
          <span className="values">
            {amounts.map(({ amount, symbol, name: member }) => (
              <Num key={member} value={amount} as="tokens" name={member} symbol={cutName(symbol, 16)} />
            ))}
            <span className="muted small">
              <Num value={usd} as="usd" name="stats.net_usd_value" none="no price" />
            </span>
          </span>
        </li>
      ))}
    </ul>
  )
}

function Tokens({ rows }: { rows: readonly types.TokenHolding[] }): ReactNode {
  return (
    <ul className="plain-list">
      {rows.map((each) => (
        <li
          key={`${each.chainId} ${each.address} ${each.isNative}`}
          className="between"
          data-id={`${each.chainId} ${each.address} ${each.isNative}`}
        >
          <span className="names">
            <bdi className="strong">{cutName(each.symbol, 16)}</bdi>
            <ChainName chainId={each.chainId} />
          </span>
          <span className="values">
            <Num value={each.amount} as="tokens" name="amount" />
            <span className="muted small">
              <Num value={each.valueUsd} as="usd" name="valueUsd" none="no price" />
            </span>
          </span>
        </li>
      ))}
    </ul>
  )
}

function ChainName({ chainId }: { chainId: number }): ReactNode {
  return <bdi className="muted small">{cutName(useChain(chainId).name, 40)}</bdi>
}
