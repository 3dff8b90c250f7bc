import { cutName } from '@openearn/widget/parts'
import type { ReactNode } from 'react'
import { Num } from '../ui/Num.js'
import { Title } from '../ui/Title.js'
import type { Key } from './lists.js'
import { Commands, Fact, Facts, Head, Part, Since } from './parts.js'

function stateOf({ revokedAt, expiresAt }: Key, asOf: string): 'active' | 'revoked' | 'expired' {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && expiresAt <= asOf ? 'expired' : 'active'
}

/** The API keys of this installation. Only a hint of each is known: the service keeps their hashes. */
export function KeysPage(): ReactNode {
  return (
    <>
      <Title text="Keys">API keys by the beginning of their text. The service keeps only hashes of them.</Title>
      <Part name="keys" title="API keys" idOf={({ id }) => id} none="There is no key: openearn keys create makes one.">
        {(key, list) => <KeyRow row={key} list={list} />}
      </Part>
    </>
  )
}

function KeyRow({ row, list }: { row: Key; list: { at: string } }): ReactNode {
  const { id, kind, hint, name, distributorId, expiresAt } = row
  const state = stateOf(row, list.at)
  return (
    <>
      <Head state={state} isWell={state === 'active' || null}>
        <code>{hint}</code> {name && <span className="muted">{cutName(name, 60)}</span>}
      </Head>
      <p className="muted small" dir="auto">
        {kind}, organization {row.organizationId}
        {distributorId !== null && `, distributor ${cutName(distributorId, 60)}`}
      </p>
      <Facts>
        <Fact title="Units an hour">
          <Num value={row.hourlyUnits} as="count" name="hourlyUnits" />
        </Fact>
        <Fact title="Units a month">
          <Num value={row.monthlyUnits} as="count" name="monthlyUnits" none="no limit" />
        </Fact>
        <Fact title="Of the hour, one address">
          <Num value={row.addressUnits} as="count" name="addressUnits" none="all of it" />
        </Fact>
        <Fact title="Made">
          <Since name="createdAt" at={row.createdAt} list={list} />
        </Fact>
        {expiresAt !== null && (
          <Fact title="Expires">
            <Since name="expiresAt" at={expiresAt} list={list} />
          </Fact>
        )}
        {row.revokedAt !== null && (
          <Fact title="Revoked">
            <Since name="revokedAt" at={row.revokedAt} list={list} />
          </Fact>
        )}
      </Facts>
      <Commands lines={state === 'active' ? [`openearn keys revoke ${id}`, `openearn keys leak-drill ${id}`] : []} />
    </>
  )
}
