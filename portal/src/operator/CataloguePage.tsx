import { cutName } from '@openearn/widget/parts'
import type { ReactNode } from 'react'
import { Long } from '../ui/Long.js'
import { Num } from '../ui/Num.js'
import { Title } from '../ui/Title.js'
import type { Difference, Import } from './lists.js'
import { CommandHead, Commands, Fact, Facts, Part } from './parts.js'

/** Most characters shown of a value. */
const shownMax = 200

/** The changes that each import of a catalogue file made, entry by entry. */
export function CataloguePage(): ReactNode {
  return (
    <>
      <Title text="Catalogue">
        What the last imports changed of opportunities, organizations, products, tags, distributors and the decimals of
        tokens.
      </Title>
      <Part
        name="imports"
        title="Imports"
        idOf={({ id }) => id}
        none="No catalogue file has been imported by a command."
      >
        {(row, list) => <ImportRow row={row} list={list} />}
      </Part>
    </>
  )
}

function ImportRow({ row, list }: { row: Import; list: { at: string } }): ReactNode {
  const { differences, more } = row
  return (
    <>
      <CommandHead row={row} list={list} />
      {differences === null ? (
        <p className="muted small">What it changed was not kept then.</p>
      ) : (
        <>
          <Facts>
            {(['added', 'changed', 'removed'] as const).map((each) => (
              <Fact key={each} title={each}>
                <Num value={row[each]} as="count" name={each} />
              </Fact>
            ))}
          </Facts>
          {differences.length === 0 && <p className="small">The file says what was known.</p>}
          {differences.length > 0 && (
            <details>
              <summary>What changed</summary>
              <Long items={differences}>
                {(shown) => (
                  <ul className="plain-list">
                    {shown.map((each) => (
                      <li key={`${each.kind} ${each.id}`}>
                        <DifferenceRow difference={each} />
                      </li>
                    ))}
                  </ul>
                )}
              </Long>
            </details>
          )}
          {more > 0 && (
            <p className="small">
              <Num value={more} as="count" name="more" /> more are in the file alone.
            </p>
          )}
        </>
      )}
      <Commands lines={['openearn audit --limit 100 --json', 'openearn catalogue import FILE']} />
    </>
  )
}

function DifferenceRow({ difference: { kind, id, name, change, members } }: { difference: Difference }): ReactNode {
  const tone = { added: 'good', changed: '', removed: 'alarm' }[change]
  return (
    <>
      <p>
        <span className={`chip ${tone}`}>{change}</span> {kind} <bdi className="strong">{cutName(name, 80)}</bdi>{' '}
        {name !== id && <code className="small muted">{cutName(id, 80)}</code>}
      </p>
      {Object.entries(members).map(([member, { before, after }]) => (
        <p key={member} className="small" dir="auto">
          {member}: <code>{tell(before)}</code> → <code>{tell(after)}</code>
        </p>
      ))}
    </>
  )
}

const tell = (value: unknown): string => cutName(JSON.stringify(value) ?? 'null', shownMax)
