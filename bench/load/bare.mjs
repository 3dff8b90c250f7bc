// A bare node:http server on a free loopback port that always answers the bytes of the file it is given; with the word
// `serialise` it parses them once and writes them anew for every request.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const [file, mode] = process.argv.slice(2)
const bytes = readFileSync(file)
const value = JSON.parse(bytes.toString())
const server = createServer((_request, response) => {
  const body = mode === 'serialise' ? Buffer.from(JSON.stringify(value)) : bytes
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length })
  response.end(body)
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`ready http://127.0.0.1:${server.address().port}\n`))
process.on('SIGTERM', () => process.exit(0))
