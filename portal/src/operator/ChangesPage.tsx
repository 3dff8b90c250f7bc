import type { ReactNode } from 'react'
import { Title } from '../ui/Title.js'
import { CommandHead, Part } from './parts.js'

/** Most characters shown of a value before or after a change; the command shows all. */
const shownMax = 4_000

/** Who changed what of this installation by a command. */
export function ChangesPage(): ReactNode {
  return (
    <>
      <Title text="Changes">
        Who changed what by a command, the newest first. <code>openearn audit --limit N</code> shows more.
      </Title>
      <Part name="changes" title="Changes" idOf={({ id }) => id} none="No command has changed anything yet.">
        {(row, list) => (
          <>
            <CommandHead row={row} list={list} />
            <details>
              <summary>Before and after</summary>
              <Value name="Before" value={row.before} />
              <Value name="After" value={row.after} />
            </details>
          </>
        )}
      </Part>
    </>
  )
}

function Value({ name, value }: { name: string; value: unknown }): ReactNode {
  const text = JSON.stringify(value, null, 2) ?? 'null'
  return (
    <>
      <p className="label">{name}</p>
      <pre className="bytes small">
        {text.length > shownMax ? `${text.slice(0, shownMax)}… (of ${text.length} characters)` : text}
      </pre>
    </>
  )
}
