import type { Queryable } from '../../postgres/pool.js'

/** Who changed what, and from what to what. */
export type OperatorChange = { id: string; at: Date; osUser: string; command: string; before: unknown; after: unknown }

/** Records a change. The same again, of a command that works in several transactions, tells how far it came. */
export async function recordChange(tx: Queryable, change: OperatorChange): Promise<void> {
  const { id, at, osUser, command, before, after } = change
  const toColumn = (value: unknown) => (value === null || value === undefined ? null : tx.json(value))
  await tx`
    insert into operator_changes (id, at, os_user, command, before, after)
    values (${id}, ${at}, ${osUser}, ${command}, ${toColumn(before)}, ${toColumn(after)})
    on conflict (id) do update set after = excluded.after`
}

/** The changes of this installation, newest first; `by`: only those by commands that begin so. */
export async function listChanges(db: Queryable, limit: number, by = ''): Promise<OperatorChange[]> {
  return db<OperatorChange[]>`
    select id, at, os_user as "osUser", command, before, after from operator_changes where starts_with(command, ${by})
    order by at desc, id limit ${limit}`
}
