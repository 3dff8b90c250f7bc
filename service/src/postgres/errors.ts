import { DatabaseError } from 'pg'

/** SQLSTATE of what the server said, undefined for every other failure. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.code : undefined
}

/** The role may not do what was asked. */
export const insufficientPrivilege = '42501'

/** A lock was not to be had in time. */
export const lockNotAvailable = '55P03'

/** The server takes no change, as a replica does: it answers again otherwise once it is made the primary. */
export function isReadOnly(error: unknown): boolean {
  return sqlState(error) === '25006'
}

/** One sentence for the operator of the database; undefined for failures of another kind. */
export function explainRefusal(error: unknown): string | undefined {
  if (!(error instanceof DatabaseError)) return undefined
  if (error.code === insufficientPrivilege)
    return `the database refuses it (${error.message}): docs/runbook.md lists what the role of DATABASE_URL needs`
  if (error.code !== undefined && /^28|^3D/.test(error.code))
    return `the database lets nobody in by DATABASE_URL: ${error.message}`
  if (isReadOnly(error))
    return `the database is a read-only server, a replica or one that allows no change (${error.message}): name the primary in DATABASE_URL`
  return undefined
}

/** The disk of the database is full. */
export function hasNoRoom(error: unknown): boolean {
  return sqlState(error) === '53100'
}

/** True when a unique or exclusion constraint refused the write. */
export function isUniqueViolation(error: unknown): boolean {
  return sqlState(error) === '23505' || sqlState(error) === '23P01'
}

/** The constraint that refused a write, if the server names one. */
export function constraintOf(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.constraint : undefined
}

/** The server could not be asked, or has not answered. What was sent may have taken effect. */
export class DatabaseUnavailable extends Error {
  override readonly name: string = 'DatabaseUnavailable'
}

/** The server has not answered in time. */
export class DatabaseLate extends DatabaseUnavailable {
  override readonly name: string = 'DatabaseLate'
}

/**
 * A failure as the rest of the service sees it. What the server says has an SQLSTATE and stays as it is, and so does what
 * our own reading of a value throws; whatever else the driver throws means that there is no connection.
 */
export function toDatabaseError(error: unknown): unknown {
  if (sqlState(error) !== undefined || error instanceof DatabaseUnavailable) return error
  if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError) return error
  return new DatabaseUnavailable('the database cannot be reached', { cause: error })
}

/** True when nothing more can be asked on the connection that failed this way. */
export function isConnectionLost(error: unknown): boolean {
  const state = sqlState(error)
  return state === undefined ? error instanceof DatabaseUnavailable : /^(08|57P)/.test(state)
}

/** True when the database could not be reached, is shutting down or has no room: the caller should try again later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return isConnectionLost(error) || hasNoRoom(error) || isReadOnly(error) || sqlState(error) === '53300'
}

/** True when the server ended a statement that took too long or waited too long for a lock, or has not answered in time. */
export function isDatabaseLate(error: unknown): boolean {
  return error instanceof DatabaseLate || ['57014', '55P03'].includes(sqlState(error) ?? '')
}

/** True when a prepared statement no longer fits its tables: it was refused before it ran, and may be prepared anew. */
export function isStalePlan(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return false
  return error.code === '26000' || (error.code === '0A000' && error.routine === 'RevalidateCachedQuery')
}
