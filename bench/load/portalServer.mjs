import { fileURLToPath } from 'node:url'
import fastify from 'fastify'
import { rolldown } from 'rolldown'
import { addProgram } from '../../service/dist/server/http/pages.js'

/** Pages that the portal is held against, bundled as it is: React with one heading, and a bare canvas with a line of as many points as the query says. */
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
  const made = await rolldown({
    ...{ input: file, platform: 'browser', plugins: [entry], logLevel: 'silent' },
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
  })
  const { output } = await made.generate({ format: 'esm', minify: true })
  await made.close()
  return output[0].code
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

/** The built portal, the pages beside it, and the API of a service. Its series have as many points as `show` said last. */
export async function startPortal({ baseUrl, key }) {
  const app = fastify()
  let points = 0
  const html = (name) =>
    `<!doctype html><title>${name}</title><div id="root"></div><script type="module" src="${name}.js"></script>`
  for (const [name, text] of Object.entries(programs)) {
    const code = await bundle(text)
    app.get(`/${name}`, async (_request, reply) => reply.type('text/html').send(html(name)))
    app.get(`/${name}.js`, async (_request, reply) => reply.type('text/javascript').send(code))
  }
  if (!addProgram(app, 'portal')) throw new Error('the portal is not built: npm run build')
  app.get('/portal/config.json', async () => ({ apiKey: key, distributorId: null, chains: [], testWallet: null }))
  for (const name of ['tvl', 'share-price'])
    app.get(`/v2/opportunities/:chain/:vault/historical/${name}`, async () => makeSeries(name, points))
  app.get('/v2/*', async (request, reply) => {
    const answer = await fetch(`${baseUrl}${request.raw.url}`, { headers: { 'x-api-key': key } })
    return reply
      .code(answer.status)
      .type('application/json')
      .send(Buffer.from(await answer.arrayBuffer()))
  })
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  const show = (count) => {
    points = count
  }
  return { origin, show, close: () => app.close() }
}
