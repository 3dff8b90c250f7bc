import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findOpportunityByVault } from '../../features/catalogue/index.js'
import { systemClock } from '../../kernel/clock.js'
import type { Config } from '../../kernel/config.js'
import { type Log, openLog } from '../../kernel/log.js'
import { isDatabaseUnavailable } from '../../postgres/pool.js'
import { devnetChainId } from '../../rpc/devnet.js'
import type { PortalSettings } from '../../server/http/portal.js'
import { createShutdown, type Shutdown, stopOnSignals, stopWithParent } from '../../server/shutdown.js'
import { startService } from '../../server/start.js'
import { readConfig } from '../command.js'
import { answer, type Command, parseFlags, print, UsageError } from '../terminal.js'
import { withDevKeys } from './accountKeys.js'
import { type DevChain, devAccount } from './anvil.js'
import { type Deployment, deployerIndex, userAccounts } from './deploy.js'
import { playerIndexes } from './history.js'
import { joinDeployer } from './join.js'
import { type DevKeys, findDevKeys, openDevKeys, openDevToken } from './keys.js'
import { distributorIds, organizations } from './names.js'
import { openWorld } from './open.js'
import { assertPortsFree } from './ports.js'
import { allThere, listUnread, sayWhenAllThere } from './reading.js'
import { startSettling } from './settle.js'
import { claimDevnet } from './store.js'
import { recordDevStreams } from './streams.js'
import { fillCatalogue } from './world.js'

export const dev: Command = {
  usage: `openearn dev [--reset]
  --reset   forget the chain and the database of earlier runs

The database is the embedded one of the data folder, or that of DEV_DATABASE_URL, which has to be empty at the first start.
It is emptied with the chain; DATABASE_URL is not used.`,
  run: async (words) => {
    const { values } = parseFlags(words, { reset: { type: 'boolean' } })
    const config = devConfig()
    const log = openLog({ level: config.logLevel, pretty: true })
    const shutdown = createShutdown(log, isDatabaseUnavailable)
    stopOnSignals(shutdown, log)
    stopWithParent(shutdown, log)
    try {
      const operatorToken = config.operatorToken ?? (await openDevToken(devFile(config)))
      await runDevnet({ ...config, operatorToken }, log, shutdown, values.reset === true)
    } catch (error) {
      await shutdown.stop()
      throw error
    }
  },
}

/** The settings of the devnet. It empties its database, so it has to be given one for the purpose. */
function devConfig(): Config {
  const config = readConfig()
  if (config.databaseUrl !== undefined)
    throw new UsageError(
      'DATABASE_URL is set, and `openearn dev` empties its database when it begins anew: unset it, or name an empty ' +
        'database in DEV_DATABASE_URL; to run the service on DATABASE_URL use `openearn start`',
    )
  return {
    ...withDevKeys(config),
    databaseUrl: config.devDatabaseUrl,
    publicReference: true,
    tonTestnet: true,
    tonProofEnabled: true,
  }
}

const devFile = (config: Config) => join(config.dataDir, 'dev.json')

type World = { chain?: DevChain; deployment?: Deployment; keys?: DevKeys }

/** The portal with the devnet's publishable key, and wallets to try it with: one that has deposits, and new ones. */
function portalOf({ chain, keys }: World): PortalSettings {
  if (!chain || !keys) throw new Error('the devnet is not prepared')
  const accounts = [
    { name: 'Test wallet with deposits', address: devAccount(playerIndexes[0]).address },
    ...userAccounts()
      .slice(0, 2)
      .map(({ address }, index) => ({ name: `New test wallet ${index + 1}`, address })),
  ]
  const testWallet = { chainId: devnetChainId, rpcUrl: chain.rpcUrl, accounts }
  return { apiKey: keys.publishable, distributorId: distributorIds[0] ?? '', testWallet }
}

async function runDevnet(config: Config, log: Log, shutdown: Shutdown, reset: boolean): Promise<void> {
  await assertPortsFree([
    { setting: 'PORT', host: config.host, port: config.port },
    { setting: 'OPS_PORT', host: config.opsHost, port: config.opsPort },
  ])
  await mkdir(config.dataDir, { recursive: true })
  const world: World = {}
  const { baseUrl, opsUrl, ctx } = await startService({
    config,
    log,
    clock: systemClock,
    shutdown,
    api: true,
    watch: true,
    capabilitySeconds: 10,
    streamSeconds: 2,
    finalSeconds: 2,
    portal: () => portalOf(world),
    inspect: (db) =>
      claimDevnet(db, config.databaseUrl ? 'the database of DEV_DATABASE_URL' : `the database in ${config.dataDir}`),
    prepare: async (base) => {
      // From here on the folder is ours; another service on it would have been refused.
      const keysBefore = reset ? undefined : await findDevKeys(devFile(config))
      await rm(devFile(config), { force: true })
      const { chain, deployment } = await openWorld(base, shutdown, reset)
      await fillCatalogue(base, deployment, chain.rpcUrl)
      const { address: owner } = devAccount(deployerIndex)
      if (deployment.streams) await recordDevStreams(base, deployment.streams, deployment.vaults, owner)
      Object.assign(world, { chain, deployment, keys: await openDevKeys(base, keysBefore) })
    },
  })
  const { chain, deployment, keys } = world
  if (!chain || !deployment || !keys) throw new Error('the devnet was not prepared')
  if (baseUrl) await joinDeployer(ctx, baseUrl, keys.publishable)
  startSettling(chain, deployment, { clock: systemClock, log, shutdown })
  if (!deployment.exchange) log.warn(noSwaps)
  if (!deployment.lending) log.warn(noLending)
  if (!deployment.orders) log.warn(noOrders)
  const snapshot = ctx.catalogue.current()
  const listed = deployment.vaults.map((vault) => {
    const found = findOpportunityByVault(snapshot, devnetChainId, vault.address.toLowerCase())
    if (!found) throw new Error(`the catalogue has no opportunity for ${vault.slug}`)
    const token = deployment.tokens.find(({ key }) => key === vault.token)
    return {
      id: found.id,
      name: vault.name,
      kind: vault.kind,
      vaultAddress: vault.address,
      asset: token && { address: token.address, symbol: token.symbol, decimals: token.decimals },
      ...(vault.withheld ? { withheld: vault.withheld } : {}),
    }
  })
  const description = {
    baseUrl,
    opsUrl,
    rpcUrl: chain.rpcUrl,
    chainId: devnetChainId,
    keys,
    operatorToken: config.operatorToken,
    distributorIds,
    organizations,
    accounts: userAccounts(),
    opportunities: listed.filter(({ withheld }) => withheld === undefined),
    // One for each reason for which a yield is not served.
    withheld: listed.filter(({ withheld }) => withheld !== undefined),
    contracts: Object.fromEntries(
      [
        ...[...deployment.tokens, ...deployment.vaults],
        ...[...listExchange(deployment), ...listFactories(deployment), ...listLending(deployment)],
        ...listOrders(deployment),
      ].map((one) => [nameOf(one), one.address]),
    ),
  }
  await writeFile(devFile(config), `${JSON.stringify(description, null, 2)}\n`, { mode: 0o600 })
  await chmod(devFile(config), 0o600)
  const unread = await listUnread(ctx)
  answer(
    {
      ...{ ready: true, portal: `${baseUrl}/portal/`, operator: `${opsUrl}/operator/`, baseUrl, opsUrl },
      ...{ rpcUrl: chain.rpcUrl, file: devFile(config), unread },
    },
    [
      `portal: ${baseUrl}/portal/`,
      `ready: API ${baseUrl}, operator ${opsUrl}, chain ${chain.rpcUrl}`,
      `API reference, with calls to try: ${opsUrl}/reference`,
      `keys, accounts, vaults, and the token for ${opsUrl}/operator/: ${devFile(config)}`,
      '`npm run demo` plays a deposit from start to end, `npm run demo -- streams` a reward stream, `npm run demo -- orders` swap orders; Ctrl-C stops everything.',
      unread.length === 0 ? allThere : `still being read: ${unread.join('; ')}. A line will say when all is there.`,
    ],
  )
  if (unread.length === 0) return
  const { signal } = shutdown
  void sayWhenAllThere({ look: () => listUnread(ctx), say: print, clock: ctx.clock, signal }).catch(
    (error: unknown) => {
      if (!signal.aborted) log.warn({ err: error }, 'how much of the demo is still being read is not known')
    },
  )
}

const noSwaps =
  'this devnet has no swaps: they need the packages of Uniswap V2 and V3, which `npm ci` installs in a checkout; then start with --reset'

const noLending =
  'this devnet has no lending market: it needs the package of Aave V3, which `npm ci` installs in a checkout; then start with --reset'

const noOrders =
  'this devnet has no swap orders: they need the packages of Uniswap and of CoW Protocol, which `npm ci` installs in a checkout; then start with --reset'

/** The contracts of the exchanges, where there are some. */
function listExchange({ exchange }: Deployment): { slug: string; address: string }[] {
  if (!exchange) return []
  const { wrappedNative, v2, v3 } = exchange
  return [
    { slug: 'WETH', address: wrappedNative },
    { slug: 'uniswap-v2-router', address: v2.router },
    { slug: 'uniswap-v3-router', address: v3.router },
    { slug: 'uniswap-v3-quoter', address: v3.quoter },
  ]
}

const listFactories = ({ streams }: Deployment): { slug: string; address: string }[] =>
  streams ? [{ slug: 'stream-factory', address: streams.factory }] : []

function listLending({ lending }: Deployment): { slug: string; address: string }[] {
  return lending ? [{ slug: 'aave-v3-pool', address: lending.pool }] : []
}

function listOrders({ orders }: Deployment): { slug: string; address: string }[] {
  return orders ? [{ slug: 'cow-settlement', address: orders.settlement }] : []
}

const nameOf = (contract: { slug: string } | { symbol: string }) =>
  'slug' in contract ? contract.slug : contract.symbol
