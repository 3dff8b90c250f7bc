import { useEarnStatus } from '@openearn/react'
import type { types } from '@openearn/sdk'
import { cutName } from '@openearn/widget/parts'
import type { ReactNode } from 'react'
import { states } from '../status/states.js'
import { Age } from '../ui/Age.js'
import { Fault, Loading } from '../ui/Notice.js'
import { Num } from '../ui/Num.js'

/** How well the service follows the vault: what its figures rest on. */
export function Health({ vault }: { vault: types.Opportunity }): ReactNode {
  const { chainId, vaultAddress } = vault
  const { data, error, refetch } = useEarnStatus({ chainId, vaultAddress })
  const found = data?.vaults.find((each) => each.vaultAddress.toLowerCase() === vaultAddress.toLowerCase())
  const chain = data?.chains.find((each) => each.chainId === chainId)
  return (
    <section className="card" aria-labelledby="health">
      <h2 id="health">What the figures rest on</h2>
      <Fault error={error} retry={() => void refetch()} />
      {!data && !error && <Loading rows={1} />}
      {found && (
        <dl className="facts" data-id={found.vaultAddress}>
          <Fact title="Vault">
            {states[found.state] ?? found.state}
            {found.reason && <span className="muted"> ({cutName(found.reason, 200)})</span>}
          </Fact>
          <Fact title="Last read">
            <Age name="lastSnapshotAt" at={found.lastSnapshotAt} />
          </Fact>
          <Fact title="Read since">
            <Age name="firstSnapshotAt" at={found.firstSnapshotAt} />
          </Fact>
          <Fact title="Balances compared">
            <Num value={found.drift.samples} as="count" name="drift.samples" />, of them different{' '}
            <Num value={found.drift.mismatches} as="count" name="drift.mismatches" />
          </Fact>
        </dl>
      )}
      {data && !found && <p className="muted">The service does not follow this vault.</p>}
      {chain && (
        <p className="muted small" data-id={chain.chainId}>
          The chain is {states[chain.state] ?? chain.state}; block{' '}
          <Num value={chain.indexedBlock} as="count" name="indexedBlock" /> of{' '}
          <Num value={chain.headBlock} as="count" name="headBlock" /> is read.
        </p>
      )}
    </section>
  )
}

function Fact({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <div>
      <dt className="muted">{title}</dt>
      <dd>{children}</dd>
    </div>
  )
}
