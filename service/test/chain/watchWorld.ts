import { buildSuffix } from '@openearn/attribution'
import { testTokenAbi, testTokenBytecode, yieldVaultAbi, yieldVaultBytecode } from '@openearn/contracts'
import { type Abi, type Address, encodeFunctionData, type Hex, type PrivateKeyAccount } from 'viem'
import { type Anvil, account, startAnvil } from '../../../contracts/test/anvil.js'
import { recordSigner } from '../../src/features/catalogue/storeSigners.js'
import { systemClock } from '../../src/kernel/clock.js'
import { newId } from '../../src/kernel/ids.js'
import { silentLog } from '../../src/kernel/log.js'
import { createOutbound } from '../../src/kernel/outbound.js'
import type { Database } from '../../src/postgres/pool.js'
import { recordPeg } from '../../src/prices/index.js'
import { type Chain, openChain } from '../../src/rpc/chains.js'
import { createNode } from '../../src/rpc/node.js'
import { createPipeline, type PipelineOptions } from '../pipeline.js'
import { createWatcher, type Watcher } from '../sink.js'

export const chainId = 31_337
/** Signs attributions in tests: anvil's account 9. */
export const signer = account(9)
export const signerKey: Hex = '0x2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6'

export type ListOptions = { kind?: string; activeFrom?: string; startBlock?: number; escrow?: Address }

export type WatchWorld = Awaited<ReturnType<typeof openWatchWorld>>

/** A real chain with a vault, its catalogue in a database, and a watcher that is stepped by hand. */
export async function openWatchWorld(db: Database, organizationId: string) {
  const anvil = await startAnvil({ timestamp: 1_760_000_000 })
  const { client, deploy, done } = anvil
  const token = await deploy({ abi: testTokenAbi as Abi, bytecode: testTokenBytecode, args: ['Dollar', 'USD', 6] })
  const chain = openTestChain(anvil)
  await db`insert into chains (chain_id, name, slug, watched, confirmations, reorg_recheck_seconds)
    values (${chainId}, 'Devnet', 'devnet', true, 1, 0)`
  await db`insert into tokens (chain_id, address, decimals, symbol, name, logo_url)
    values (${chainId}, ${token.toLowerCase()}, 6, 'USD', 'Dollar', 'https://logo')`
  await recordPeg({ db }, { chainId, address: token.toLowerCase() }, '1')
  await recordSigner(db, signer.address, new Date(0))
  const list = (vault: Address, options: ListOptions = {}) => listVault(db, { vault, token, ...options })
  const deployVault = (): Promise<Address> =>
    deploy({ abi: yieldVaultAbi as Abi, bytecode: yieldVaultBytecode, args: [token, 'Vault', 'vUSD', 0, 0n, true] })
  const addDistributor = async (id: string, activeFrom = '1970-01-01') => {
    await db`insert into distributors (id, organization_id, active_from) values (${id}, ${organizationId}, ${activeFrom})`
    await db`update catalogue_versions set version = version + 1`
  }
  await addDistributor('Y2Zi7KWy')
  await addDistributor('MpOgVDnc')
  const vault = await deployVault()
  const opportunityId = await list(vault)

  const send = async (user: PrivateKeyAccount, to: Address, data: Hex): Promise<Hex> => {
    const hash = await client.sendTransaction({ account: user, to, data, gas: 1_000_000n })
    await done(hash)
    return hash
  }
  const watcherOn = (database: Database, options: Partial<PipelineOptions> = {}): Watcher => {
    const ctx = { db: database, clock: systemClock, log: silentLog }
    const sink = createPipeline(ctx, { chainId, ...options })
    const node = createNode(chain.rpc, options.tracing?.tracer)
    return createWatcher({ chain, node, sink, clock: systemClock, log: silentLog })
  }
  const watcher = (options: Partial<PipelineOptions> = {}) => watcherOn(db, options)
  const depositData = (user: PrivateKeyAccount, amount: bigint, distributorId?: string, to = vault): Hex => {
    const data = encodeFunctionData({ abi: yieldVaultAbi, functionName: 'deposit', args: [amount, user.address] })
    return withSuffix(data, user.address, to, distributorId)
  }
  return {
    anvil,
    chain,
    db,
    token,
    vault,
    opportunityId,
    list,
    deployVault,
    addDistributor,
    send,
    /** A watcher of its own, as another process would have one. */
    watcher,
    /** A watcher of the same chain into another database. */
    watcherOn,
    /** Watches until there is nothing new. */
    sync: async (by: Watcher = watcher()) => {
      for (let turn = 0; turn < 500; turn++) if ((await by.step()) !== 'progress') return
      throw new Error('the watcher never came to rest')
    },
    /** Gives a user assets and lets a vault take them. */
    fund: async (user: PrivateKeyAccount, amount: bigint, to: Address = vault) => {
      const call = { address: token, abi: testTokenAbi } as const
      await done(client.writeContract({ ...call, functionName: 'mint', args: [user.address, amount] }))
      await done(client.writeContract({ account: user, ...call, functionName: 'approve', args: [to, 2n ** 255n] }))
    },
    /** Calldata of a deposit for the user; with a distributor, signed by us. */
    depositData,
    deposit: (user: PrivateKeyAccount, amount: bigint, distributorId?: string, to = vault) =>
      send(user, to, depositData(user, amount, distributorId, to)),
    redeem: (user: PrivateKeyAccount, shares: bigint, distributorId?: string, to = vault) => {
      const args = [shares, user.address, user.address] as const
      const data = encodeFunctionData({ abi: yieldVaultAbi, functionName: 'redeem', args })
      return send(user, to, withSuffix(data, user.address, to, distributorId))
    },
    transfer: (user: PrivateKeyAccount, to: Address, shares: bigint) =>
      send(user, vault, encodeFunctionData({ abi: yieldVaultAbi, functionName: 'transfer', args: [to, shares] })),
    close: anvil.stop,
  }
}

export function openTestChain(anvil: Pick<Anvil, 'url'>): Chain {
  return openChain(createOutbound(systemClock), {
    chainId,
    name: 'Devnet',
    nativeSymbol: 'ETH',
    rpcUrls: [anvil.url],
    confirmations: 1,
    finalityDepth: 64,
    pollIntervalMs: 50,
    reorgRecheckSeconds: 0,
    entryPoints: [],
  })
}

/** Puts a vault into the catalogue; answers its opportunity. */
export async function listVault(
  db: Database,
  input: ListOptions & { vault: Address; token: Address },
): Promise<string> {
  const [vault, token] = [input.vault.toLowerCase(), input.token.toLowerCase()]
  const id = newId()
  await db`
    insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals, active_from,
      start_block, escrow)
    values (${chainId}, ${vault}, ${input.kind ?? 'erc4626'}, ${token}, 6, ${vault}, 6, ${input.activeFrom ?? '1970-01-01'},
      ${input.startBlock ?? 0}, ${input.escrow?.toLowerCase() ?? null})`
  await db`
    insert into opportunities (id, slug, name, type, chain_id, vault_address)
    values (${id}, ${id}, ${`Vault ${vault.slice(2, 6)}`}, 'vault', ${chainId}, ${vault})`
  await db`update catalogue_versions set version = version + 1`
  return id
}

let actions = 0

/** A call's data with our signed suffix; unchanged without a distributor. */
export function withSuffix(data: Hex, wallet: Address, target: Address, distributorId: string | undefined): Hex {
  if (distributorId === undefined) return data
  actions += 1
  const actionId = `0x${actions.toString(16).padStart(32, '0')}`
  const suffix = buildSuffix({ code: distributorId, actionId, chainId, wallet, target, data, privateKey: signerKey })
  return `${data}${suffix.slice(2)}`
}
