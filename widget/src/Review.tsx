'use client'

import type { Flow, Word } from '@openearn/sdk/flows'
import type { ReactNode } from 'react'
import { cutName } from './figures.js'
import { useSettings } from './settings.js'

/** The requests that the wallet will see, as the verifier read them from the bytes, and what the check rests on. */
export function Review({ flow, needs }: { flow: Flow; needs: Word | undefined }): ReactNode {
  const { say } = useSettings()
  const { sentences, trusts, before, kind } = flow
  if (!sentences?.length) return null
  return (
    <div className="stack">
      {before && (
        <>
          <h3>{say('changed')}</h3>
          <Sentences list={before} />
        </>
      )}
      <h3>{say('walletAsks')}</h3>
      <Sentences list={sentences} />
      {kind !== 'join' && <p>{say('checked')}</p>}
      {trusts && (
        <p className={trusts === 'service' ? 'alert' : 'muted'}>
          {say(trusts === 'service' ? 'trustsService' : 'trustsFile')}
        </p>
      )}
      {needs === 'confirm' && <p className="alert">{say('unsupported')}</p>}
    </div>
  )
}

function Sentences({ list }: { list: readonly string[] }): ReactNode {
  return (
    <ol>
      {list.map((sentence) => (
        <li key={sentence} dir="auto">
          {cutName(sentence, 1_000)}
        </li>
      ))}
    </ol>
  )
}
