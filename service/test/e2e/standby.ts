import { until } from '../../../contracts/test/until.js'
import type { Server } from './ownServer.js'

/** Does work while a standby replays nothing. */
export async function pauseReplay({ db }: Server, work: () => Promise<void>): Promise<void> {
  await db`select pg_wal_replay_pause()`
  await until('the replay to be paused', async () => {
    const [row] = await db<{ is: string }[]>`select pg_get_wal_replay_pause_state() as is`
    return row?.is === 'paused'
  })
  try {
    await work()
  } finally {
    await db`select pg_wal_replay_resume()`
  }
}

/** Whether a standby has replayed all that its primary has flushed by now. */
export async function hasReplayed(standby: Server, primary: Server): Promise<boolean> {
  const [end] = await primary.db<{ at: string }[]>`select pg_current_wal_flush_lsn()::text as at`
  const [row] = await standby.db<{ is: boolean }[]>`select pg_last_wal_replay_lsn() >= ${end?.at ?? ''} as is`
  return row?.is === true
}
