import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { admit, findKey, type Gate } from './admit.js'
import { addProgram, harden } from './pages.js'

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

type Served = { gate: Gate; chains: Chains; serviceUrl: () => string }

/** The portal at `/portal/`. A devnet's node may be called by it too. */
export function addPortal(
  app: FastifyInstance,
  readSettings: () => PortalSettings,
  { gate, chains, serviceUrl }: Served,
): void {
  const open = {
    onRequest: (request: FastifyRequest, reply: FastifyReply) => admit(gate, { access: 'public' }, request, reply),
  }
  const others = () => {
    const { testWallet } = readSettings()
    return testWallet ? [new URL(testWallet.rpcUrl).origin] : []
  }
  if (!addProgram(app, 'portal', { open, others, serviceUrl })) return
  app.route({
    ...{ ...open, method: ['GET', 'HEAD'], url: '/portal/config.json' },
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
