import type { Address } from 'viem'
import { type ExpectedCalls, expectedCalls } from './expected.js'
import { gasCapDefault } from './limits.js'
import { type Complain, getMember, isRecord, parseAddress, parseAmount, quote } from './shape.js'
import { type KnownSwap, parseSwapContext } from './swapContext.js'

/** Facts about the service and the chain that do not come from the plan, parsed. */
export type Common = {
  chainId: number
  signers: readonly Signer[]
  actionId: string | undefined
  wrappedNative: Address | undefined
  depositRouter: Address | undefined
  distributorId: string | null | undefined
  gasCap: bigint
  names: ReadonlyMap<Address, string>
  decimals: ReadonlyMap<Address, number>
  swap: KnownSwap | undefined
}

/** The same, and the vault. */
export type Known = Common & {
  vault: Address
  asset: Address
  /** The token the vault's shares are: the vault itself where nothing else is said. */
  share: Address
  kind: ExpectedCalls
  /** Further contracts of the vault, by name. */
  contracts: Readonly<Record<string, Address>>
  allowance: bigint | undefined
  approvalReset: boolean | undefined
  pullsShares: boolean | undefined
  minimumOut: bigint
  requestAmount: bigint | undefined
}

export type Signer = { address: Address; retired: boolean }

const listMax = 1_000
const contractsMax = 16

/** A context with its parts parsed; undefined, and a complaint, where something of it is of another form. */
export function parseContext(context: unknown, complain: Complain): Known | undefined {
  let complete = true
  const refuse: Complain = (problem) => {
    complete = false
    complain(problem)
  }
  const vault = getMember(context, 'vault')
  const address = readAddress(vault, 'address', refuse)
  const asset = readAddress(vault, 'asset', refuse)
  const isShareGiven = (getMember(vault, 'receiptToken') ?? undefined) !== undefined
  const share = isShareGiven ? readAddress(vault, 'receiptToken', refuse) : address
  const common = parseCommon(context, refuse)
  const kind = readKind(vault, refuse)
  // No call that pays something out is expected to pay nothing.
  const least = readAmount(context, 'minimumOut', refuse) ?? 1n
  const known = {
    allowance: readAmount(context, 'allowance', refuse),
    approvalReset: readFlag(context, 'approvalReset', refuse),
    pullsShares: readFlag(context, 'pullsShares', refuse),
    minimumOut: least > 0n ? least : 1n,
    requestAmount: readAmount(context, 'requestAmount', refuse),
    contracts: readContracts(vault, refuse),
  }
  if (!complete || !address || !asset || !share || !kind || !common) return undefined
  return { ...common, ...known, vault: address, asset, share, kind }
}

/** Parses the members of a context that do not concern a vault. */
export function parseCommon(context: unknown, complain: Complain): Common | undefined {
  let complete = true
  const refuse: Complain = (problem) => {
    complete = false
    complain(problem)
  }
  const wrappedNative = isGiven(context, 'wrappedNative') ? readAddress(context, 'wrappedNative', refuse) : undefined
  const depositRouter = isGiven(context, 'depositRouter') ? readAddress(context, 'depositRouter', refuse) : undefined
  const chainId = readChainId(context, refuse)
  const known = {
    signers: readSigners(context, refuse),
    actionId: readActionId(context, refuse),
    distributorId: readDistributor(context, refuse),
    gasCap: readAmount(context, 'gasCap', refuse) ?? gasCapDefault,
    names: readNames(context, refuse),
    decimals: readDecimals(context, refuse),
    swap: isGiven(context, 'swap') ? parseSwapContext(getMember(context, 'swap'), refuse) : undefined,
  }
  return complete && chainId !== undefined ? { ...known, chainId, wrappedNative, depositRouter } : undefined
}

const isGiven = (context: unknown, name: string): boolean => getMember(context, name) !== undefined

export function readAddress(value: unknown, name: string, complain: Complain): Address | undefined {
  const text = getMember(value, name)
  const address = parseAddress(text)
  if (!address) complain(`${name}: ${quote(text)} is no address`)
  return address
}

function readKind(vault: unknown, complain: Complain): ExpectedCalls | undefined {
  const name = getMember(vault, 'kind')
  const kind = typeof name === 'string' && Object.hasOwn(expectedCalls, name) ? expectedCalls[name] : undefined
  if (!kind) complain(`vaults of the kind ${quote(name)} cannot be verified`)
  return kind
}

function readContracts(vault: unknown, complain: Complain): Record<string, Address> {
  const given = getMember(vault, 'contracts')
  if (given === undefined) return {}
  const entries = isRecord(given) ? Object.entries(given) : undefined
  if (!entries || entries.length > contractsMax) {
    complain('contracts is no list of addresses by name')
    return {}
  }
  const contracts = entries.flatMap(([name, text]) => {
    const address = parseAddress(text)
    if (!address) complain(`contracts: ${quote(text)} is no address`)
    return address ? [[name, address] as const] : []
  })
  return Object.fromEntries(contracts)
}

export function readChainId(context: unknown, complain: Complain): number | undefined {
  const chainId = getMember(context, 'chainId')
  if (typeof chainId === 'number' && Number.isSafeInteger(chainId) && chainId > 0) return chainId
  complain(`chainId: ${quote(chainId)} is no chain`)
  return undefined
}

export function readAmount(context: unknown, name: string, complain: Complain): bigint | undefined {
  if (!isGiven(context, name)) return undefined
  const amount = parseAmount(getMember(context, name))
  if (amount === undefined) complain(`${name} is no amount`)
  return amount
}

export function readFlag(context: unknown, name: string, complain: Complain): boolean | undefined {
  const flag = getMember(context, name)
  if (flag === undefined || typeof flag === 'boolean') return flag
  complain(`${name} is neither true nor false`)
  return undefined
}

/** The id as the suffix holds it: 16 bytes in hex. */
function readActionId(context: unknown, complain: Complain): string | undefined {
  const actionId = getMember(context, 'actionId')
  if (actionId === undefined) return undefined
  if (typeof actionId === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(actionId))
    return `0x${actionId.replaceAll('-', '').toLowerCase()}`
  complain(`actionId: ${quote(actionId)} is no id`)
  return undefined
}

function readDistributor(context: unknown, complain: Complain): string | null | undefined {
  const distributorId = getMember(context, 'distributorId')
  if (distributorId === undefined || distributorId === null || typeof distributorId === 'string') return distributorId
  complain('distributorId is no text')
  return undefined
}

/** The signers, whether they are given as the service publishes them or by their address alone. */
function readSigners(context: unknown, complain: Complain): Signer[] {
  const signers = getMember(context, 'signers')
  if (!Array.isArray(signers) || signers.length > listMax) {
    complain('signers is no list of signers')
    return []
  }
  return Array.from({ length: signers.length }, (_, at) => signers[at]).flatMap((signer: unknown) => {
    const text = isRecord(signer) ? signer['address'] : signer
    const address = parseAddress(text)
    if (address) return [{ address, retired: (getMember(signer, 'to') ?? null) !== null }]
    complain(`signers: ${quote(text)} is no address`)
    return []
  })
}

/** More decimals than a whole number of 256 bits has digits tell no amount. */
const decimalsMax = 77

export function readDecimals(context: unknown, complain: Complain): Map<Address, number> {
  const decimals = new Map<Address, number>()
  const given = getMember(context, 'decimals')
  if (given === undefined) return decimals
  const entries = isRecord(given) ? Object.entries(given) : undefined
  if (!entries || entries.length > listMax) complain('decimals is no list of decimals by address')
  for (const [text, count] of entries?.slice(0, listMax) ?? []) {
    const address = parseAddress(text)
    if (!address || decimals.has(address)) complain(`decimals: ${quote(text)} is no address, or stands there twice`)
    else if (typeof count !== 'number' || !Number.isInteger(count) || count < 0 || count > decimalsMax)
      complain(`decimals: those of ${address} are no whole number from 0 to ${decimalsMax}`)
    else decimals.set(address, count)
  }
  return decimals
}

/** A name that is what it shows: nothing invisible, no line break, nothing that turns what comes after it around. */
const printable = /^[^\p{C}\p{Zl}\p{Zp}]{1,64}$/u

export function readNames(context: unknown, complain: Complain): Map<Address, string> {
  const names = new Map<Address, string>()
  const given = getMember(context, 'names')
  if (given === undefined) return names
  const entries = isRecord(given) ? Object.entries(given) : undefined
  if (!entries || entries.length > listMax) complain('names is no list of names by address')
  for (const [text, name] of entries?.slice(0, listMax) ?? []) {
    const address = parseAddress(text)
    if (!address || names.has(address)) complain(`names: ${quote(text)} is no address, or is named twice`)
    else if (typeof name !== 'string' || !printable.test(name))
      complain(`names: what ${address} is called is no short printable text`)
    else names.set(address, name)
  }
  return names
}
