import { useEarnStatus } from '@openearn/react'
import type { types } from '@openearn/sdk'
import { cutName } from '@openearn/widget/parts'
import type { ReactNode } from 'react'
import { useVaultNames } from '../opportunities/names.js'
import { Address } from '../ui/Address.js'
import { Age } from '../ui/Age.js'
import { Link } from '../ui/Link.js'
import { Long } from '../ui/Long.js'
import { Fault, Loading } from '../ui/Notice.js'
import { Num } from '../ui/Num.js'
import { Title } from '../ui/Title.js'
import { states } from './states.js'

type Status = types.GetIndexingStatusResult

/** How far the service follows each chain and vault. */
export function StatusPage(): ReactNode {
  const { data, error, refetch } = useEarnStatus()
  return (
    <>
      <Title text="Status">How far each chain and vault is followed. Figures rest on nothing else.</Title>
      <Fault error={error} retry={() => void refetch()} />
      {!data && !error && <Loading rows={4} label="Loading the status" />}
      {data && (
        <div className="stack">
          {data.chains.map((chain) => (
            <Chain key={chain.chainId} chain={chain} />
          ))}
          <Vaults vaults={data.vaults} />
          <Signers signers={data.attributionSigners} />
        </div>
      )}
    </>
  )
}

function Chain({ chain }: { chain: Status['chains'][number] }): ReactNode {
  const { name, chainId, state, updatedAt } = chain
  const figures = [
    ['Newest block', 'headBlock', chain.headBlock],
    ['Read up to', 'indexedBlock', chain.indexedBlock],
    ['Final up to', 'finalizedBlock', chain.finalizedBlock],
    ['Blocks behind', 'lagBlocks', chain.lagBlocks],
    ['Seconds behind', 'lagSeconds', chain.lagSeconds],
    ['Reorganisations, 24 h', 'reorgs24h', chain.reorgs24h],
  ] as const
  return (
    <section className="card" aria-label={name} data-id={chainId}>
      <div className="between">
        <h2>
          <bdi>{cutName(name, 60)}</bdi> <span className="muted small">{chainId}</span>
        </h2>
        <span className={`chip ${state === 'live' ? 'good' : ''}`}>{states[state] ?? state}</span>
      </div>
      <dl className="tiles small-tiles">
        {figures.map(([title, member, value]) => (
          <div key={member} className="tile">
            <dt className="muted small">{title}</dt>
            <dd>
              <Num value={value} as="count" name={member} />
            </dd>
          </div>
        ))}
      </dl>
      <p className="muted small">
        Heard of <Age name="updatedAt" at={updatedAt} />. A block is final some time after it is read: that is no lag.
        Attribution rests on {chain.evidence === 'trace' ? 'call traces' : 'calldata'}.
      </p>
    </section>
  )
}

/** Vaults that need attention stand first, those that nobody reads last. */
const order: readonly string[] = ['stalled', 'unsupported', 'paused', 'backfilling', 'live', 'not-started']

function Vaults({ vaults }: { vaults: Status['vaults'] }): ReactNode {
  const names = useVaultNames()
  const sorted = vaults.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state))
  const lags = vaults.some(({ state }) => state === 'stalled')
  return (
    <section className="card" aria-labelledby="vaults">
      <h2 id="vaults">Vaults</h2>
      <p>{lags ? 'The vaults that lag stand first.' : 'No vault lags.'}</p>
      <p className="muted small">
        A vault lags where it was not read for a while, or its figures can no longer be trusted. A vault that is not
        read yet has no figures, and lags behind nothing.
      </p>
      <Long items={sorted}>
        {(shown) => (
          <ul className="plain-list">
            {shown.map((vault) => (
              <li
                key={`${vault.chainId} ${vault.vaultAddress}`}
                className="between"
                data-id={`${vault.chainId} ${vault.vaultAddress}`}
              >
                <span className="names">
                  {vault.opportunityId && (
                    <Link to={`opportunities/${vault.opportunityId}`}>
                      <bdi>{cutName(names.byId.get(vault.opportunityId) ?? 'opportunity', 60)}</bdi>
                    </Link>
                  )}
                  <code className="small">{vault.vaultAddress}</code>
                  <span className="muted small" dir="auto">
                    {cutName(vault.protocol || 'without a protocol', 40)}
                    {vault.reason && `: ${cutName(vault.reason, 200)}`}
                  </span>
                </span>
                <span className="values">
                  <span className={`chip ${vault.state === 'live' ? 'good' : ''}`}>
                    {states[vault.state] ?? vault.state}
                  </span>
                  <span className="muted small">
                    read <Age name="lastSnapshotAt" at={vault.lastSnapshotAt} />
                  </span>
                  <span className="muted small">
                    {vault.drift.samples === 0 ? (
                      'no balance compared yet'
                    ) : (
                      <>
                        <Num value={vault.drift.mismatches} as="count" name="drift.mismatches" /> of{' '}
                        <Num value={vault.drift.samples} as="count" name="drift.samples" /> balances differ
                      </>
                    )}
                  </span>
                </span>
              </li>
            ))}
          </ul>
        )}
      </Long>
    </section>
  )
}

function Signers({ signers }: { signers: Status['attributionSigners'] }): ReactNode {
  return (
    <section className="card" aria-labelledby="signers">
      <h2 id="signers">Signers of attributions</h2>
      <ul className="plain-list">
        {signers.map(({ address, from, to }) => (
          <li key={`${address} ${from}`} className="between" data-id={`${address} ${from}`}>
            <Address text={address} />
            <span className="muted small">
              since <Age name="from" at={from} />
              {to && (
                <>
                  , until <Age name="to" at={to} />
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
