import type { types } from '@openearn/sdk'
import { cutName } from '@openearn/widget/parts'
import type { ReactNode } from 'react'
import { useChain } from '../portal.js'
import { Address, explored } from '../ui/Address.js'
import { Age } from '../ui/Age.js'
import { type Fact, FactList } from '../ui/FactList.js'
import { Outside } from '../ui/Link.js'
import { Num } from '../ui/Num.js'

/** The terms of a vault. */
export function Facts({ vault }: { vault: types.Opportunity }): ReactNode {
  const { meta, baseToken, receiptToken, curator, incentives, freshness } = vault
  const { explorerUrl, name } = useChain(vault.chainId)
  const facts: Fact[] = [
    ['Chain', <bdi key="chain">{cutName(name, 40)}</bdi>],
    [
      'Vault',
      <Address key="vault" text={vault.vaultAddress} {...explored(explorerUrl, 'address', vault.vaultAddress)} />,
    ],
    ['Kind', <code key="kind">{cutName(vault.kind, 40)}</code>],
    ['Deposits in', <Tokens key="tokens" tokens={vault.depositTokens} />],
    ['Base asset', <Token key="base" token={baseToken} explorerUrl={explorerUrl} />],
    ['Receipt token', <Token key="receipt" token={receiptToken} explorerUrl={explorerUrl} />],
    ['Least deposit', <Num key="least" value={vault.minDepositAmountUsd} as="usd" name="minDepositAmountUsd" />],
    [
      'Least withdrawal',
      <Num
        key="out"
        value={vault.minWithdrawAmount}
        as="tokens"
        name="minWithdrawAmount"
        symbol={cutName(receiptToken.symbol, 16)}
      />,
    ],
    [
      'Deposits',
      <State key="in" isOpen={meta.depositEnabled} isAsync={meta.asyncDeposit} reason={meta.depositDisabledReason} />,
    ],
    [
      'Withdrawals',
      <State
        key="w"
        isOpen={meta.withdrawEnabled}
        isAsync={meta.asyncWithdraw}
        reason={meta.withdrawalDisabledReason}
      />,
    ],
    ['Figures of', <Age key="age" name="freshness.analyticsAt" at={freshness.analyticsAt} />],
  ]
  if (curator)
    facts.push([
      'Curator',
      <Outside key="curator" url={curator.landingUrl}>
        <bdi>{cutName(curator.name, 60)}</bdi>
      </Outside>,
    ])
  return (
    <section className="card" aria-labelledby="terms">
      <h2 id="terms">Terms</h2>
      <FactList facts={facts} id={vault.id} />
      {incentives.length > 0 && <Incentives list={incentives} />}
    </section>
  )
}

function Token({ token, explorerUrl }: { token: types.Token; explorerUrl: string }): ReactNode {
  return (
    <span className="token">
      <bdi>{cutName(token.symbol, 16)}</bdi>{' '}
      <Address text={token.address} {...explored(explorerUrl, 'address', token.address)} />
    </span>
  )
}

const shownTokens = 20

function Tokens({ tokens }: { tokens: readonly types.Token[] }): ReactNode {
  const more = tokens.length - shownTokens
  return (
    <span className="tags">
      {tokens.slice(0, shownTokens).map(({ symbol, address }) => (
        <bdi key={address}>{cutName(symbol, 16)}</bdi>
      ))}
      {more > 0 && <span>and {more} more</span>}
    </span>
  )
}

function State({ isOpen, isAsync, reason }: { isOpen: boolean; isAsync: boolean; reason: string }): ReactNode {
  if (!isOpen) return <span dir="auto">Closed{reason && `: ${cutName(reason, 200)}`}</span>
  return <span>{isAsync ? 'Open, in two steps: a request, then a claim' : 'Open'}</span>
}

function Incentives({ list }: { list: readonly types.Incentive[] }): ReactNode {
  return (
    <>
      <h3>Rewards</h3>
      <ul className="plain-list">
        {list.map((each) => (
          <li key={each.id} className="between" data-id={each.id}>
            <span className="names">
              <bdi className="strong">{cutName(each.name, 60)}</bdi>
              <span className="muted small" dir="auto">
                {cutName(each.rewardTypeName || each.rewardType, 40)}
                {each.description && `, ${cutName(each.description, 200)}`}
              </span>
            </span>
            <Num value={each.apr} as="percent" name="apr" none="not a rate" />
          </li>
        ))}
      </ul>
    </>
  )
}
