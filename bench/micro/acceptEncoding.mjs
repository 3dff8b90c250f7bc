// What reading Accept-Encoding costs: our reader, as the service is built, against the library `negotiator`.
//   npm run build && node bench/micro/acceptEncoding.mjs
import Negotiator from 'negotiator'
import { negotiateEncoding } from '../../service/dist/server/http/cache.js'

const offered = ['br', 'gzip', 'x-gzip', 'identity']
const readers = {
  ours: negotiateEncoding,
  negotiator: (header) =>
    new Negotiator({ headers: { 'accept-encoding': header } }).encoding(offered, { preferred: offered }),
}
/** Each of 200 texts a kind, so that more than one is read; ours remembers those up to 100 characters. */
const kinds = {
  'what browsers send': () => 'gzip, deflate, br, zstd',
  'longer than is remembered': (index) => `gzip;q=0.9, deflate, br;q=0.8, zstd, x${index}${'y'.repeat(80)}`,
  '8 KB of commas': (index) => `${'x,'.repeat(4_000)}gzip${index}`,
  '8 KB of weights': (index) => `${'gzip;q=0.5,'.repeat(740)}${index}`,
  '8 KB of parameters': (index) => `gzip;${'a;'.repeat(4_000)}${index}`,
}

console.log('| Accept-Encoding | ours | negotiator |\n|---|---|---|')
for (const [kind, write] of Object.entries(kinds)) {
  const headers = Array.from({ length: 200 }, (_, index) => write(index))
  const rounds = headers[0].length > 1_000 ? 1_000 : 200_000
  const figures = Object.values(readers).map((read) => {
    for (let round = 0; round < rounds / 4; round++) read(headers[round % 200])
    const from = process.hrtime.bigint()
    for (let round = 0; round < rounds; round++) read(headers[round % 200])
    return `${(Number(process.hrtime.bigint() - from) / rounds / 1_000).toFixed(2)} µs`
  })
  console.log(`| ${kind} | ${figures.join(' | ')} |`)
}
