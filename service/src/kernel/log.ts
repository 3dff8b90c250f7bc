import { type DestinationStream, pino } from 'pino'

type Write = { (message: string): void; (fields: object, message: string): void }

/** Structured log. Fields named like secrets are blanked, urls lose credentials, path and query. */
export type Log = {
  debug: Write
  info: Write
  warn: Write
  error: Write
  child(fields: object): Log
}

const secretPaths = ['apiKey', 'key', 'privateKey', 'secret', 'authorization', 'password', 'databaseUrl', 'rpcUrl']

/** Opens the log. JSON lines on stdout, or to `lines`, or plain lines for a person when `pretty`. */
export function openLog(
  options: { level: string; pretty?: boolean; name?: string; version?: string },
  lines: { write(line: string): unknown } | undefined = undefined,
): Log {
  // Lines of many processes are read in one place.
  const base = { service: 'openearn', version: options.version, pid: process.pid, name: options.name }
  const redact = { paths: secretPaths.flatMap((path) => [path, `*.${path}`]), censor: '[hidden]' }
  const serializers = { err: serializeError }
  const formatters = { level: (label: string) => ({ level: label }) }
  const settings = { level: options.level, redact, serializers, formatters, base }
  if (!options.pretty) return lines ? pino(settings, lines as DestinationStream) : pino(settings)
  const stream = { write: (line: string) => process.stdout.write(formatLine(line)) }
  return pino(settings, stream)
}

/** A log that says nothing. */
export const silentLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLog,
}

/** Replaces every url in a text by its scheme and host, so that keys in paths, queries or user info never leave. */
export function redactUrls(text: string): string {
  return text.replace(/\b([a-z][a-z0-9+.-]*):\/\/(?:[^\s/@]*@)?([^\s/?#"']+)[^\s"')]*/gi, '$1://$2/…')
}

function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return redactUrls(String(error))
  const cause = error.cause === undefined ? undefined : serializeError(error.cause)
  const code = 'code' in error ? String(error.code) : undefined
  return { type: error.name, message: redactUrls(error.message), code, stack: redactUrls(error.stack ?? ''), cause }
}

const loud = ['warn', 'error', 'fatal']

function formatLine(line: string): string {
  const { level, time, msg, pid: _pid, service: _service, version: _version, name, err, ...fields } = JSON.parse(line)
  const clock = new Date(time).toISOString().slice(11, 23)
  const rest = Object.keys(fields).length > 0 ? ` ${JSON.stringify(fields)}` : ''
  const why = err ? ` ${err.type}: ${err.message}` : ''
  return `${clock} ${loud.includes(level) ? level.toUpperCase() : level} ${name ? `[${name}] ` : ''}${msg ?? ''}${why}${rest}\n`
}
