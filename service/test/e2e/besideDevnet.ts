import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { type Json, openClient } from './client.js'
import { demoCatalogueText } from './demoCatalogue.js'
import { planDeposits } from './deposits.js'
import { makeFolder, runOpenEarn, type Started, startDevnet, startOpenEarn, waitUntilReady } from './process.js'

/** The distributor of the service beside the devnet. */
export const distributorId = 'killed'

/**
 * The chain of a devnet, and beside it a service of its own: other database, same chain. Whatever becomes of the service,
 * the chain goes on.
 */
export async function openBesideDevnet(prefix: string) {
  const folder = await makeFolder(prefix)
  const devnet = await startDevnet(join(folder, 'devnet'))
  const { dev } = devnet
  const env = {
    OPENEARN_DATA_DIR: join(folder, 'service'),
    ATTRIBUTION_KEY: '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  }
  const clientOf = (baseUrl: string, publishable: string) =>
    openClient({ baseUrl, rpcUrl: dev.rpcUrl, keys: { publishable, secret: '' } })
  return {
    dev,
    env,
    clientOf,
    /** Fills the database of the service: catalogue, distributor and a publishable key, which it answers. */
    fill: async (): Promise<string> => {
      const path = join(folder, 'catalogue.json')
      const { data } = await openClient(dev).call('GET', '/v2/opportunities/?chainIds=31337&limit=100')
      const receiptTokens = data.map(({ receiptToken }: Json) => receiptToken)
      await writeFile(path, demoCatalogueText(dev, receiptTokens))
      await runOpenEarn(['migrate'], env)
      const said = await runOpenEarn(['orgs', 'create', '--name', 'Killed'], env)
      const organizationId = said.trim().split('\n').at(-1)!
      await runOpenEarn(['catalogue', 'import', path], env)
      const from = ['--active-from', '1970-01-01T00:00:00Z']
      await runOpenEarn(['distributors', 'create', distributorId, '--org', organizationId, ...from], env)
      const owner = ['--org', organizationId, '--kind', 'publishable', '--hourly', '1000000']
      const printed = await runOpenEarn(['keys', 'create', ...owner], env)
      return /pk_live_\S+/.exec(printed)![0]
    },
    startService: async (): Promise<Started & { baseUrl: string; opsUrl: string }> => {
      const started = startOpenEarn(['start'], env)
      const [baseUrl, opsUrl] = (await waitUntilReady(started)).match(/http\S+/g)!
      return { ...started, baseUrl: baseUrl!, opsUrl: opsUrl! }
    },
    /** Deposits that four members may send, `count` of each. */
    planAll: async (client: ReturnType<typeof clientOf>, count: number) => {
      const query = 'depositTokenSymbols=usdc,dai&chainIds=31337'
      const opportunities = (await client.call('GET', `/v2/opportunities/?${query}`)).data
      const wallets = dev.accounts.slice(1, 5)
      for (const { privateKey } of wallets) await client.join(privateKey)
      const planned = []
      for (const [index, { privateKey }] of wallets.entries()) {
        const opportunity = opportunities[index % opportunities.length]
        const account = privateKeyToAccount(privateKey)
        planned.push(...(await planDeposits(client, account, opportunity, { distributorId, count })))
      }
      return planned
    },
    close: async () => {
      await devnet.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
