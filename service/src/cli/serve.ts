import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../kernel/clock.js'
import { isStartedByNpm } from '../kernel/config.js'
import { openLog } from '../kernel/log.js'
import { isDatabaseUnavailable } from '../postgres/pool.js'
import { createShutdown, type Shutdown, stopOnSignals, stopWithParent } from '../server/shutdown.js'
import { startService } from '../server/start.js'
import type { Role } from '../server/work.js'
import { readConfig } from './command.js'
import { answer, type Command, parseFlags, UsageError } from './terminal.js'
import { readVersion } from './version.js'

type Parts = { api: boolean; watch: boolean; roles?: readonly Role[] }

const command = (name: string, parts: Parts, words = ''): Command => ({
  usage: `openearn ${name}${words}    (settings come from the environment; see docs/configuration.md)`,
  run: async (words) => {
    const { values } = parseFlags(words, { joined: { type: 'boolean' }, chains: { type: 'boolean' } })
    const isJoined = values.joined === true
    const version = await readVersion()
    // Nothing is waited for from here until the end of the channel is listened to: it could come in between.
    if (isJoined && (parts.api || !process.connected)) throw new UsageError('--joined is for `openearn start` alone')
    if (values.chains === true && name !== 'watch') throw new UsageError('--chains is for `openearn watch` alone')
    const roles = values.chains === true ? (['watch'] as const) : parts.roles
    const config = readConfig()
    const pretty = config.logPretty ?? process.stdout.isTTY === true
    const lines = openLog({ level: config.logLevel, pretty, version })
    const log = isJoined ? lines.child({ part: 'watcher' }) : lines
    const shutdown = createShutdown(log, isDatabaseUnavailable)
    stopOnSignals(shutdown, log)
    if (isStartedByNpm()) stopWithParent(shutdown, log)
    if (process.getuid?.() === 0)
      log.warn('running as root, which nothing here needs: docs/runbook.md names an account for it')
    if (isJoined) stopOnDisconnect(shutdown)
    try {
      const started = {
        config,
        log,
        clock: systemClock,
        shutdown,
        isJoined,
        forkWatcher,
        ...parts,
        roles: roles && new Set(roles),
      }
      const { baseUrl, opsUrl, madeToken } = await startService(started)
      const said = `ready${baseUrl ? ` ${baseUrl}` : ''}${opsUrl ? ` operator ${opsUrl}` : ''}${baseUrl && opsUrl ? ` reference ${opsUrl}/reference` : ''}`
      const made = madeToken && { operatorToken: madeToken.text, operatorTokenFile: madeToken.file }
      const toldOnce = made
        ? [`operator token, told this once: ${made.operatorToken}`, `  kept in ${made.operatorTokenFile}`]
        : []
      // Where every line is to be JSON this one is a line of the log as well, whatever level was set.
      if (!isJoined && config.logPretty === false)
        openLog({ level: 'info', version }).info({ ready: true, baseUrl, opsUrl, ...made }, 'ready')
      else if (!isJoined) answer({ ready: true, baseUrl, opsUrl, ...made }, [said, ...toldOnce])
    } catch (error) {
      await shutdown.stop()
      if (isJoined) process.disconnect()
      throw error
    }
  },
})

/** This program as a process that watches for this one, and writes where this one writes. */
function forkWatcher(): ChildProcess {
  const main = fileURLToPath(new URL('./main.js', import.meta.url))
  return fork(main, ['watch', '--joined'], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
}

/** Stops when the process that started this one ends the channel between them, or ends itself; soon, or by force. */
function stopOnDisconnect(shutdown: Shutdown): void {
  process.once('disconnect', () => {
    setTimeout(() => process.exit(1), 5_000).unref()
    void shutdown.stop().then(() => process.exit())
  })
}

export const start = command('start', { api: true, watch: true })
export const serve = command('serve', { api: true, watch: false })
export const watch = command('watch', { api: false, watch: true }, ' [--chains]')
export const jobs = command('jobs', { api: false, watch: true, roles: ['jobs'] })
export const commit = command('commit', { api: false, watch: true, roles: ['commit'] })
export const solve = command('solve', { api: false, watch: true, roles: ['solve'] })
