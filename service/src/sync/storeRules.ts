import type { Fragment, Queryable } from '../postgres/pool.js'

/** The versions of the rules with the instant each holds from, as statements of other rooms read them. */
export const rulesOf = (db: Queryable): Fragment => db.view`(select version, holds_from from rules_versions)`

/** From which instant of chain time a version of the rules holds. */
export async function findRulesStart(db: Queryable, version: number): Promise<Date> {
  const [row] = await db<{ from: Date }[]>`
    select holds_from as "from" from rules_versions where version = ${version}`
  if (!row) throw new Error(`version ${version} of the rules is not noted; run openearn migrate`)
  return row.from
}
