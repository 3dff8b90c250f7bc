import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { admit, findKey, type Gate } from './admit.js'
import { harden, readPage, sendFile, sendPage } from './pages.js'

/** The public wallets of a devnet, which its node signs for. */
export type TestWallet = { chainId: number; rpcUrl: string; accounts: { name: string; address: string }[] }

/** The settings of the portal. Nothing of it is secret: every visitor reads it. */
export type PortalSettings = {
  /** A publishable key: the pages call the API with it. */
  apiKey: string
  /** The builder code of deposits that are made there; absent: that of the key. */
  distributorId?: string
  testWallet?: TestWallet
}

type Chains = () => readonly { chainId: number; name: string; explorerUrl: string }[]

/** Nothing from elsewhere is loaded, nothing frames the pages, and no text becomes a script. A devnet's node may be called too. */
function policyFor({ testWallet }: PortalSettings): string {
  const node = testWallet ? ` ${new URL(testWallet.rpcUrl).origin}` : ''
  return [
    ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", `connect-src 'self'${node}`],
    ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
    ...["require-trusted-types-for 'script'", "trusted-types 'none'"],
  ].join('; ')
}

type Files = { script: string; sheet: string; icon: string }

const pageOf = (home: string, { script, sheet, icon }: Files) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">` +
  `<meta name="color-scheme" content="light dark"><title>OpenEarn</title><link rel="icon" href="${home}files/${icon}">` +
  `<link rel="stylesheet" href="${home}files/${sheet}"><script type="module" src="${home}files/${script}"></script></head>` +
  `<body><div id="root"></div></body></html>`

/** The way from a path below `/portal/` back to it: the service may stand below a path of its proxy. */
function homeOf(url: string): string {
  const [path = ''] = url.split('?')
  const below = path.slice('/portal'.length)
  if (below === '') return 'portal/'
  return '../'.repeat(below.split('/').length - 2)
}

/** The portal at `/portal/`: one page for all paths below, which reads the rest of its path by itself. */
export function addPortal(app: FastifyInstance, gate: Gate, readSettings: () => PortalSettings, chains: Chains): void {
  const page = readPage('portal')
  if (!page) return
  const { script, sheet, icon } = page
  if (sheet === undefined || icon === undefined) return
  const files = { script, sheet, icon }
  const open = (url: string) => ({
    ...{ method: ['GET', 'HEAD'], url },
    onRequest: (request: FastifyRequest, reply: FastifyReply) => admit(gate, { access: 'public' }, request, reply),
  })
  const showPage = async (request: FastifyRequest, reply: FastifyReply) =>
    sendPage(reply, pageOf(homeOf(request.raw.url ?? ''), files), policyFor(readSettings()))
  app.route({ ...open('/portal'), handler: showPage })
  app.route({ ...open('/portal/*'), handler: showPage })
  app.route({
    ...open('/portal/files/:name'),
    handler: async (request, reply) => sendFile(page, request, reply),
  })
  app.route({
    ...open('/portal/config.json'),
    handler: async (_request, reply) => {
      const { apiKey, distributorId, testWallet = null } = readSettings()
      // Null for a key of a whole organization, and for one that is no longer good: calls say so.
      const code = distributorId ?? (await findKey(gate, apiKey))?.caller.distributorId ?? null
      const config = { apiKey, distributorId: code, chains: chains(), testWallet }
      return harden(reply)
        .header('Cache-Control', 'no-store')
        .send(Buffer.from(JSON.stringify(config)))
    },
  })
}
