import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Ends the script with a sentence where wrk is not installed: half-way through, servers would be left waiting. */
export async function requireWrk() {
  try {
    await run('wrk', ['--version'])
  } catch (error) {
    // It says its version and ends with 1.
    if (error.code !== 'ENOENT') return
    process.stderr.write('wrk is missing: install it (apt-get install wrk, brew install wrk) and run this again\n')
    process.exit(1)
  }
}

/**
 * Drives a loopback server with wrk: one thread, `connections` kept alive, `seconds` long, the paths in turn. Answers
 * requests a second, the latency at 50 % and 99 % in milliseconds, and how many answers were not 2xx.
 */
export async function drive({ baseUrl, paths, headers = {}, connections = 32, seconds = 10 }) {
  if (!/^http:\/\/127\.0\.0\.1:/.test(baseUrl)) throw new Error('load goes to loopback only')
  const folder = await mkdtemp(join(tmpdir(), 'openearn-wrk-'))
  const script = join(folder, 'load.lua')
  const text = (value) => JSON.stringify(value)
  await writeFile(
    script,
    `local paths = { ${paths.map(text).join(', ')} }
local at = 0
${Object.entries(headers)
  .map(([name, value]) => `wrk.headers[${text(name)}] = ${text(value)}`)
  .join('\n')}
function request()
  at = at % #paths + 1
  return wrk.format('GET', paths[at])
end
function done(summary, latency)
  local errors = summary.errors
  local failed = errors.status + errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format('RESULT {"requests":%d,"us":%d,"p50":%f,"p99":%f,"failed":%d,"bytes":%d}\\n', summary.requests,
    summary.duration, latency:percentile(50), latency:percentile(99), failed, summary.bytes))
end
`,
  )
  try {
    const { stdout } = await run('wrk', ['-t1', `-c${connections}`, `-d${seconds}s`, '-s', script, baseUrl])
    const { requests, us, p50, p99, failed } = JSON.parse(/RESULT (.*)/.exec(stdout)[1])
    return { perSecond: requests / (us / 1e6), p50: p50 / 1000, p99: p99 / 1000, failed }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
