import type { ReactNode } from 'react'

/** A title and its value. */
export type Fact = readonly [title: string, value: ReactNode]

/** Values with their titles. `id`: what they belong to. */
export function FactList({ facts, id }: { facts: readonly Fact[]; id?: string }): ReactNode {
  return (
    <dl className="facts" data-id={id}>
      {facts.map(([title, value]) => (
        <div key={title}>
          <dt className="muted">{title}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
