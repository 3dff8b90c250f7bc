// The PostgreSQL driver, postgres 3.4.9, ends the whole process when a statement is sent on a connection that has just
// been lost (porsager/postgres issues 1066, 1154, 1208), as every rollback after the loss of the server is; and a
// connection lost between a statement and its sending never sends again. A statement that fails or is cut off after its
// first rows leaves their count to the next one on that connection, whose rows then begin with holes; and the error of a
// cut-off statement is thrown again by the first one after. A COPY that is refused, or cut off, after its last
// line is never told: whoever waits for its end waits for ever. This changes the installed file: a statement on a lost
// connection fails with CONNECTION_CLOSED, a connection begins anew with nothing left of what was before, and one that is
// lost while it asks for array types fails nobody but whom it was opened for.
// It leaves what is already changed, and fails on a file it does not know: then look whether it is still needed.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'

const mark = '/* changed by OpenEarn: scripts/fixDriver.js */'

const changes = [
  [
    'function nextWrite(fn) {\n',
    `function nextWrite(fn) { ${mark}
    if (socket === null) {
      chunk = nextWriteTimer = null
      const lost = Errors.connection('CONNECTION_CLOSED', options)
      query && queryError(query, lost)
      query = null
      while (sent.length) queryError(sent.shift(), lost)
      return true
    }
`,
  ],
  ['clearImmediate(nextWriteTimer)\n    if (socket) {', 'dropUnsent()\n    if (socket) {'],
  ['clearImmediate(nextWriteTimer)\n    socket.removeListener', 'dropUnsent()\n    socket.removeListener'],
  ['      statements = {}\n', '      statements = {}\n      query = results = errorResponse = null\n'],
  [
    '    result = new Result()\n    connectTimer.cancel()',
    '    result = new Result()\n    rows = 0\n    connectTimer.cancel()',
  ],
  [
    '    stream && (stream.destroy(err), stream = null)\n    query && queryError(query, err)\n',
    `    final && (final(err), final = null)
    stream && (stream.destroy(err), stream = null)
    query && queryError(query, err)
`,
  ],
  ['return fetchArrayTypes()\n', 'return fetchArrayTypes().catch(() => undefined)\n'],
  [
    'async function closed(hadError) {',
    `function dropUnsent() {
    clearImmediate(nextWriteTimer)
    chunk = nextWriteTimer = null
  }

  async function closed(hadError) {`,
  ],
]

const file = new URL('connection.js', import.meta.resolve('postgres'))
const before = readFileSync(file, 'utf8')
let after = before
for (const [from, to] of changes) {
  if (after.includes(to)) continue
  if (after.split(from).length !== 2) throw new Error(`${file.pathname} is not the file this change was made for`)
  after = after.replace(from, () => to)
}
if (after !== before) {
  // A new file in its place: the old one may be shared with other installations.
  const fresh = new URL(`connection.js.${process.pid}`, file)
  writeFileSync(fresh, after)
  renameSync(fresh, file)
}
