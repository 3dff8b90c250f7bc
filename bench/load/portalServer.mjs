import { fileURLToPath } from 'node:url'
import fastify from 'fastify'
import { bundleProgram } from '../../scripts/pages.mjs'
import { addProgram } from '../../service/dist/server/http/pages.js'

/** Pages that the portal is held against, in its own page and bundled as it is: React with one heading, and a bare canvas with a line of as many points as the query says. */
const programs = {
  empty: `
    import { createElement } from 'react'
    import { createRoot } from 'react-dom/client'
    createRoot(document.getElementById('root')).render(createElement('h1', null, 'Empty'))`,
  canvas: `
    const canvas = document.createElement('canvas')
    canvas.width = 700
    canvas.height = 260
    document.getElementById('root').append(canvas)
    const context = canvas.getContext('2d')
    const count = Number(location.search.slice(1))
    const points = Array.from({ length: count }, (_, at) => 100 + 50 * Math.sin(at / 300) + ((at * 7_919) % 13))
    const draw = () => {
      context.clearRect(0, 0, 700, 260)
      context.beginPath()
      points.forEach((value, at) => context.lineTo((at / count) * 700, 260 - value))
      context.lineWidth = 2
      context.stroke()
    }
    draw()
    canvas.addEventListener('click', draw)`,
}

async function bundle(text) {
  const file = fileURLToPath(new URL('../../portal/bench.js', import.meta.url))
  const entry = {
    name: 'entry',
    resolveId: (id) => (id === file ? file : undefined),
    load: (id) => (id === file ? text : undefined),
  }
  const [{ code }] = await bundleProgram('bench', file, [entry])
  return code
}

/** As many points of a series as are asked for, a quarter of an hour apart, as the service tells them. */
function makeSeries(name, count) {
  const now = Math.floor(Date.now() / 900_000) * 900_000
  const data = Array.from({ length: count }, (_, at) => {
    const native = 100 + 50 * Math.sin(at / 300) + ((at * 7_919) % 13)
    const value = name === 'tvl' ? { tvl: { native, usd: native } } : { sharePrice: { native, usd: native } }
    return { timestamp: new Date(now - (count - at) * 900_000).toISOString(), blockNumber: at, ...value }
  })
  return { data, baseAsset: { symbol: 'USDC', decimals: 6 } }
}

/** An answer of the list, whose catalogue has no past, with figures and movements in every row, so that each is drawn whole. */
function addPast(bytes) {
  const { data, ...rest } = JSON.parse(bytes)
  const move = (current, step) => ({ current, d1: step, d7: -2 * step, d30: 5 * step })
  const rows = data.map((row, at) => ({
    ...row,
    tvl: 1_234_567 + 89_012 * at,
    deltas: {
      tvl: move(1_234_567 + 89_012 * at, 4_321 - 700 * at),
      lps: move(120 + at, 3),
      apy: move(5.43 + at / 7, 0.2),
    },
    freshness: { ...row.freshness, analyticsAt: '2026-01-01T00:00:00Z' },
  }))
  return Buffer.from(JSON.stringify({ data: rows, ...rest }))
}

/** The built portal, the pages beside it, and the API of a service. Its series have as many points as `show` said last. */
export async function startPortal({ baseUrl, key }) {
  const app = fastify()
  let points = 0
  if (!addProgram(app, 'portal', { serviceUrl: () => origin }))
    throw new Error('the portal is not built: npm run build')
  for (const [name, text] of Object.entries(programs)) {
    const code = await bundle(text)
    const headers = { 'Cache-Control': 'public, max-age=31536000, immutable' }
    app.get(`/portal/files/${name}.js`, async (_request, reply) =>
      reply.headers(headers).type('text/javascript').send(code),
    )
    // The page of the portal, its sheet, icon and policy too: they differ in their program alone.
    app.get(`/${name}/`, async (_request, reply) => {
      const { body, headers } = await app.inject('/portal/')
      const policy = headers['content-security-policy']
      const html = body
        .replace(/files\/portal-[^"]*\.js/, `files/${name}.js`)
        .replaceAll('"files/', '"../portal/files/')
      return reply.header('Content-Security-Policy', policy).type('text/html').send(html)
    })
  }
  app.get('/portal/config.json', async () => ({ apiKey: key, distributorId: null, chains: [], testWallet: null }))
  for (const name of ['tvl', 'share-price'])
    app.get(`/v2/opportunities/:chain/:vault/historical/${name}`, async () => makeSeries(name, points))
  app.get('/v2/*', async (request, reply) => {
    const answer = await fetch(`${baseUrl}${request.raw.url}`, { headers: { 'x-api-key': key } })
    const bytes = Buffer.from(await answer.arrayBuffer())
    const isList = /^\/v2\/opportunities\/\?/.test(request.raw.url)
    return reply
      .code(answer.status)
      .type('application/json')
      .send(isList && answer.ok ? addPast(bytes) : bytes)
  })
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  const show = (count) => {
    points = count
  }
  return { origin, show, close: () => app.close() }
}
