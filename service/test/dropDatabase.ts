import { until } from '../../contracts/test/until.js'
import { sqlState } from '../src/postgres/errors.js'
import type { Database } from '../src/postgres/pool.js'

const insufficientPrivilege = '42501'

/** Drops a database and ends its connections. Waits while a worker of the server is in it, which nobody but a superuser may end. */
export async function dropDatabase(server: Pick<Database, 'unsafe'>, name: string): Promise<void> {
  await until(`${name} to be dropped`, async () => {
    try {
      await server.unsafe(`drop database if exists ${name} with (force)`)
      return true
    } catch (error) {
      if (sqlState(error) === insufficientPrivilege) return undefined
      throw error
    }
  })
}
