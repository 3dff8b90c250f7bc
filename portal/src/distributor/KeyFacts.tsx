import type { types } from '@openearn/sdk'
import { cutName } from '@openearn/widget/parts'
import type { ReactNode } from 'react'
import { useBudget } from '../shell/key.js'
import { useKeyInfo } from '../shell/keyInfo.js'
import { type Fact, FactList } from '../ui/FactList.js'
import { Fault, Loading } from '../ui/Notice.js'
import { Num } from '../ui/Num.js'

const titles = { limit: 'Units an hour', used: 'Used in this hour', remaining: 'Left in this hour' } as const

/** Of whom a key is, what it may do, and what is left of its budget. */
export function KeyFacts(): ReactNode {
  const { data: key, error, refetch } = useKeyInfo()
  const budget = useBudget()
  return (
    <>
      <Fault error={error} retry={() => void refetch()} />
      {!key && !error && <Loading rows={2} label="Loading the key" />}
      {budget && key && (
        <dl className="tiles small-tiles">
          {(['limit', 'used', 'remaining'] as const).map((name) => (
            <div key={name} className="tile">
              <dt className="muted small">{titles[name]}</dt>
              <dd>
                <Num value={budget[name]} as="count" name={`budget.${name}`} />
              </dd>
            </div>
          ))}
          {key.limits.monthly !== null && <OfMonth used={key.used.monthly} limit={key.limits.monthly} />}
        </dl>
      )}
      {key && <Facts shown={key} />}
      <p className="muted small">
        Each call costs the units that the reference of the API names; most cost few. The count begins anew with each
        full hour (UTC).
      </p>
    </>
  )
}

function OfMonth({ used, limit }: { used: number; limit: number }): ReactNode {
  return (
    <>
      <div className="tile">
        <dt className="muted small">Units a month</dt>
        <dd>
          <Num value={limit} as="count" name="limits.monthly" />
        </dd>
      </div>
      <div className="tile">
        <dt className="muted small">Used in this month</dt>
        <dd>
          <Num value={used} as="count" name="used.monthly" />
        </dd>
      </div>
    </>
  )
}

function Facts({ shown }: { shown: types.Key }): ReactNode {
  const { organization, distributorId, permissions, origins, limits, hint } = shown
  const list = (texts: readonly string[]) => <bdi>{cutName(texts.join(', '), 200)}</bdi>
  const facts: Fact[] = [
    ['Key', <code key="hint">{hint}</code>],
    ['Organization', <bdi key="organization">{cutName(organization.name, 80)}</bdi>],
    ['May act for', distributorId === null ? 'each distributor of the organization' : list([distributorId])],
    ['May be used from', origins.length === 0 ? 'any page' : list(origins)],
    ['Permissions', permissions.length === 0 ? 'those of every publishable key' : list(permissions)],
    [
      'Units an hour of one address',
      limits.address === null ? (
        'no share is set'
      ) : (
        <Num key="address" value={limits.address} as="count" name="limits.address" />
      ),
    ],
  ]
  return <FactList facts={facts} />
}
