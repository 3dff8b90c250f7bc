import { type Address, getAddress } from 'viem'
import { invalidArgument } from '../../kernel/errors.js'
import { devnetChainId, isDevnetAddress } from '../../rpc/devnet.js'
import type { CatalogueContext } from './catalogue.js'
import { prepareJson } from './memory/prepared.js'
import type { CatalogueSnapshot } from './memory/snapshot.js'
import type { ChainRecord } from './records.js'

/**
 * The facts of a chain that plans are compared with. Opportunities that are no longer offered are among them: their
 * holders withdraw.
 */
export async function getVerificationContext(ctx: CatalogueContext, { chainId }: { chainId: number }) {
  const snapshot = ctx.catalogue.current()
  const chain = snapshot.chains.get(chainId)
  if (!chain) throw invalidArgument(`there is no chain ${chainId} in the catalogue; GetChains lists those offered`)
  return prepareJson(ctx, 'GetVerificationContext', { chainId }, () => toVerificationContext(snapshot, chain))
}

/** The facts of one chain, as they are served and exported. */
export function toVerificationContext(snapshot: CatalogueSnapshot, chain: ChainRecord) {
  const { chainId, depositRouter, wrappedNative, swap, streamFactory, transactionGasCap } = chain
  return {
    chainId,
    vaults: listVaults(snapshot, chainId),
    routers: listRouters(chain),
    wrappers: [...new Set((swap?.wrappers ?? []).map(({ address }) => getAddress(address)))],
    depositRouter: addressOf(depositRouter),
    wrappedNative: addressOf(wrappedNative),
    quoter: addressOf(swap?.uniswapV3?.quoter),
    settlement: addressOf(swap?.orders?.settlement),
    relayer: addressOf(swap?.orders?.relayer),
    streamFactory: addressOf(streamFactory),
    signers: listPresentSigners(snapshot, chainId),
    gasCap: transactionGasCap === null ? null : String(transactionGasCap),
  }
}

const addressOf = (kept: string | null | undefined): Address | null => (kept ? getAddress(kept) : null)

function listVaults({ opportunities }: CatalogueSnapshot, chainId: number) {
  return [...opportunities.values()]
    .filter((opportunity) => opportunity.chainId === chainId)
    .map(({ id, vault }) => ({
      opportunityId: id,
      address: getAddress(vault.address),
      asset: getAddress(vault.asset),
      share: getAddress(vault.receiptToken),
      kind: vault.kind,
      // By the names their kind gives them, in the order of the names.
      contracts: Object.entries(vault.contracts)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, address]) => getAddress(address)),
    }))
}

/** The routers whose calls can be read by a verifier: those of aggregators are not. */
function listRouters({ swap, depositRouter }: ChainRecord): { address: Address; kind: string }[] {
  const { uniswapV2, uniswapV3 } = swap ?? {}
  return [
    ...(uniswapV2 ? [{ address: getAddress(uniswapV2.router), kind: 'uniswap-v2' }] : []),
    ...(uniswapV3 ? [{ address: getAddress(uniswapV3.router), kind: uniswapV3.routerKind ?? 'uniswap-v3' }] : []),
    ...(depositRouter ? [{ address: getAddress(depositRouter), kind: 'deposit-router' }] : []),
  ]
}

/** Keys that sign new plans of the chain. A public test key counts on the devnet alone. */
function listPresentSigners({ signers }: CatalogueSnapshot, chainId: number): Address[] {
  return [...signers.values()]
    .filter(({ address, to }) => to === null && (!isDevnetAddress(address) || chainId === devnetChainId))
    .map(({ address }) => getAddress(address))
}
