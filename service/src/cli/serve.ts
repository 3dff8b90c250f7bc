import { systemClock } from '../kernel/clock.js'
import { openLog } from '../kernel/log.js'
import { createShutdown, stopOnSignals } from '../kernel/shutdown.js'
import { isDatabaseUnavailable } from '../postgres/pool.js'
import { startService } from '../server/start.js'
import { answer, type Command, parseFlags, readConfig } from './command.js'

const command = (summary: string, name: string, parts: { api: boolean; watch: boolean }): Command => ({
  summary,
  usage: `openearn ${name}    (settings come from the environment; see docs/configuration.md)`,
  run: async (words) => {
    parseFlags(words, {})
    const config = readConfig()
    const log = openLog({ level: config.logLevel, pretty: process.stdout.isTTY === true })
    const shutdown = createShutdown(log, isDatabaseUnavailable)
    stopOnSignals(shutdown, log)
    if (process.getuid?.() === 0)
      log.warn('running as root, which nothing here needs: docs/runbook.md names an account for it')
    try {
      const { baseUrl, opsUrl } = await startService({ config, log, clock: systemClock, shutdown, ...parts })
      const said = `ready${baseUrl ? ` ${baseUrl}` : ''}${opsUrl ? ` operator ${opsUrl}` : ''}${baseUrl && opsUrl ? ` reference ${opsUrl}/reference` : ''}`
      answer({ ready: true, baseUrl, opsUrl }, [said])
    } catch (error) {
      await shutdown.stop()
      throw error
    }
  },
})

export const start = command('serve the API and watch the chains in one process', 'start', { api: true, watch: true })
export const serve = command('serve the API', 'serve', { api: true, watch: false })
export const watch = command('watch the chains', 'watch', { api: false, watch: true })
