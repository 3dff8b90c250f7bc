import { type Address, parseAbi, zeroAddress } from 'viem'
import { combine, mapRead, type Read, readContract } from '../../rpc/multicall.js'
import type { Recognised } from '../../vaults/index.js'

/** Views by which products of the field are told apart; each is asked of the address, and some of what it names. */
const viewsAbi = parseAbi([
  'function hook() view returns (address)',
  'function accountant() view returns (address)',
  'function base() view returns (address)',
  'function boringVault() view returns (address)',
  'function vault() view returns (address)',
  'function shareManager() view returns (address)',
  'function asset() view returns (address)',
  'function assetAt(uint256 index) view returns (address)',
  'function hasQueue(address queue) view returns (bool)',
  'function mToken() view returns (address)',
  'function mTokenDataFeed() view returns (address)',
  'function requestRedeemer() view returns (address)',
  'function getPaymentTokens() view returns (address[])',
  'function accessControl() view returns (address)',
  'function metadata(bytes32 key) view returns (bytes)',
  'function provisioner() view returns (address)',
  'function MULTI_DEPOSITOR_VAULT() view returns (address)',
  'function assetRegistry() view returns (address)',
  'function guardian() view returns (address)',
  'function lpTokenAddress() view returns (address)',
  'function lagDuration() view returns (uint256)',
  'function getAccessManagerAddress() view returns (address)',
  'function strategy() view returns (address)',
  'function escrow() view returns (address)',
  'function stETH() view returns (address)',
  'function stEthPerToken() view returns (uint256)',
])

type AddressView =
  | ('hook' | 'accountant' | 'base' | 'boringVault' | 'vault' | 'shareManager' | 'asset' | 'mToken' | 'mTokenDataFeed')
  | ('requestRedeemer' | 'accessControl' | 'provisioner' | 'MULTI_DEPOSITOR_VAULT' | 'assetRegistry' | 'guardian')
  | ('lpTokenAddress' | 'getAccessManagerAddress' | 'strategy' | 'escrow')
  | 'stETH'

/** An address that a contract names; undefined where it names none. */
export function named(at: Address, view: AddressView): Read<Address | undefined> {
  return mapRead(readContract(at, viewsAbi, view, []), (answer) => (answer === zeroAddress ? undefined : answer))
}

/** The token of an index that a vault of Mellow takes. */
export function assetAt(at: Address, index: bigint): Read<Address | undefined> {
  return readContract(at, viewsAbi, 'assetAt', [index])
}

export function hasQueue(at: Address, queue: Address): Read<boolean | undefined> {
  return readContract(at, viewsAbi, 'hasQueue', [queue])
}

const noKey = `0x${'0'.repeat(64)}` as const

/** Asks an address for all views that tell products apart; the probe does so in the call that asks for its kind. */
export function askHints(at: Address) {
  return combine({
    hook: named(at, 'hook'),
    accountant: named(at, 'accountant'),
    base: named(at, 'base'),
    boringVault: named(at, 'boringVault'),
    vault: named(at, 'vault'),
    shareManager: named(at, 'shareManager'),
    asset: named(at, 'asset'),
    firstAsset: assetAt(at, 0n),
    mToken: named(at, 'mToken'),
    mTokenDataFeed: named(at, 'mTokenDataFeed'),
    requestRedeemer: named(at, 'requestRedeemer'),
    paymentTokens: readContract(at, viewsAbi, 'getPaymentTokens', []),
    accessControl: named(at, 'accessControl'),
    metadata: readContract(at, viewsAbi, 'metadata', [noKey]),
    provisioner: named(at, 'provisioner'),
    multiDepositorVault: named(at, 'MULTI_DEPOSITOR_VAULT'),
    assetRegistry: named(at, 'assetRegistry'),
    guardian: named(at, 'guardian'),
    lpToken: named(at, 'lpTokenAddress'),
    lag: readContract(at, viewsAbi, 'lagDuration', []),
    accessManager: named(at, 'getAccessManagerAddress'),
    strategy: named(at, 'strategy'),
    escrow: named(at, 'escrow'),
    stEth: named(at, 'stETH'),
    stEthPerToken: readContract(at, viewsAbi, 'stEthPerToken', []),
  })
}

export type Hints = ReturnType<ReturnType<typeof askHints>['answer']>

/** Asks contracts at the block of the probe, in one call. */
export type Ask = <T>(read: Read<T>) => Promise<T>

/** A vault that no kind serves, by the contract its shares are listed at; or, without one, why it cannot be listed. */
export type Shape = { address: Address; recognised: Recognised; kind?: string } | { address: undefined; why: string }
