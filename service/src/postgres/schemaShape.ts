import type { Queryable } from './pool.js'

/** A thing of the schema. `detail` is what a program notices of it, `of` the table or view that it belongs to. */
type Thing = { kind: string; name: string; of: string | null; detail: Record<string, unknown> }
/** Things by kind and name. */
export type Shape = ReadonlyMap<string, Thing>

/** Tables, columns, constraints, unique indexes, triggers and functions of the schema `public`. */
export async function readShape(db: Queryable): Promise<Shape> {
  const things = await db<Thing[]>`
    with relations as (
      select c.oid, c.relname, c.relkind from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'S'))
    select case relkind when 'S' then 'sequence' when 'v' then 'view' when 'm' then 'view' else 'table' end as kind,
      relname as name, relname as of, '{}'::jsonb as detail from relations
    union all
    select 'column', r.relname || '.' || a.attname, r.relname, jsonb_build_object(
      'type', format_type(a.atttypid, a.atttypmod), 'required', a.attnotnull,
      'filled', a.atthasdef or a.attidentity <> '', 'generated', a.attgenerated <> '' or a.attidentity = 'a')
    from relations r join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
    where r.relkind <> 'S'
    union all
    select 'constraint', r.relname || '.' || k.conname, r.relname, jsonb_build_object(
      'type', k.contype, 'text', pg_get_constraintdef(k.oid), 'columns', (select jsonb_agg(r.relname || '.' || a.attname)
        from pg_attribute a where a.attrelid = r.oid and a.attnum = any (k.conkey)))
    from relations r join pg_constraint k on k.conrelid = r.oid and k.contype in ('c', 'f', 'u', 'p', 'x')
    union all
    select 'unique index', c.relname, r.relname, jsonb_build_object('text', pg_get_indexdef(c.oid))
    from relations r join pg_index i on i.indrelid = r.oid and i.indisunique join pg_class c on c.oid = i.indexrelid
    where not exists (select from pg_constraint k where k.conindid = c.oid and k.conrelid = r.oid)
    union all
    select 'trigger', r.relname || '.' || t.tgname, r.relname, jsonb_build_object(
      'text', pg_get_triggerdef(t.oid), 'refuses', t.tgtype & 2 = 2 or p.prosrc ~* 'raise\\s+exception')
    from relations r join pg_trigger t on t.tgrelid = r.oid and not t.tgisinternal join pg_proc p on p.oid = t.tgfoid
    union all
    select 'function', p.oid::regprocedure::text, null, jsonb_build_object(
      'returns', pg_get_function_result(p.oid), 'text', p.prosrc)
    from pg_proc p where p.pronamespace = 'public'::regnamespace`
  return new Map(things.map((thing) => [`${thing.kind} ${thing.name}`, thing]))
}

/** Reasons for which programs of the version before may fail; without one they go on running. */
export function findBreaks(before: Shape, after: Shape): string[] {
  const gone = [...before].flatMap(([key, thing]) => (after.has(key) ? [] : explainLoss(thing, key)))
  const changed = [...before].flatMap(([key, old]) => {
    const now = after.get(key)
    return now && JSON.stringify(now.detail) !== JSON.stringify(old.detail) ? explainChange(key, old, now) : []
  })
  const added = [...after].flatMap(([key, thing]) => {
    const isForeign = thing.of !== null && before.has(`table ${thing.of}`)
    return !before.has(key) && isForeign ? explainAddition(key, thing, before) : []
  })
  return [...gone, ...changed, ...added]
}

/** Without a check or a reference more is taken than before; everything else may be missed. */
const explainLoss = ({ kind, detail }: Thing, key: string): string[] =>
  kind === 'constraint' && (detail['type'] === 'c' || detail['type'] === 'f') ? [] : [`${key} is gone`]

function explainChange(key: string, { kind, detail: old }: Thing, { detail }: Thing): string[] {
  if (kind === 'column') {
    const reasons: string[] = []
    if (detail['type'] !== old['type']) reasons.push(`${key} is ${detail['type']}, was ${old['type']}`)
    if (detail['required'] !== old['required'])
      reasons.push(`${key} may ${detail['required'] ? 'not be null any more' : 'be null now'}`)
    if (old['filled'] && !detail['filled']) reasons.push(`${key} has no default any more`)
    if (detail['generated'] && !old['generated']) reasons.push(`${key} may not be written any more`)
    return reasons
  }
  if (kind === 'constraint') return isWider(`${old['text']}`, `${detail['text']}`) ? [] : [`${key} is another`]
  if (kind === 'function') return detail['returns'] === old['returns'] ? [] : [`${key} returns another type`]
  if (kind === 'trigger') return detail['refuses'] && !old['refuses'] ? [`${key} may refuse rows`] : []
  return [`${key} is another`]
}

function explainAddition(key: string, { kind, detail }: Thing, before: Shape): string[] {
  if (kind === 'column') {
    const isNeeded = detail['required'] && !detail['filled'] && !detail['generated']
    return isNeeded ? [`${key} must be given with each new row`] : []
  }
  if (kind === 'trigger') return detail['refuses'] ? [`${key} may refuse rows`] : []
  if (kind === 'unique index') return [`${key} may refuse rows`]
  if (kind !== 'constraint') return []
  // A check or a reference of columns that the version before does not know.
  const columns = (detail['columns'] ?? []) as string[]
  const isOfNew = columns.length > 0 && columns.every((column) => !before.has(`column ${column}`))
  return isOfNew && (detail['type'] === 'c' || detail['type'] === 'f') ? [] : [`${key} may refuse rows`]
}

const listed = /ARRAY\[([^\]]*)\]/

/** True of two checks that differ in one list of values, of which the later one has all of the former and more. */
function isWider(old: string, now: string): boolean {
  const values = (text: string) => (listed.exec(text)?.[1] ?? '').split(', ')
  return old.replace(listed, '') === now.replace(listed, '') && values(old).every((each) => values(now).includes(each))
}
