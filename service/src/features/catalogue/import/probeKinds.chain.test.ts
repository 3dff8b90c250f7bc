import {
  asyncVaultAbi,
  asyncVaultBytecode,
  cancellableAsyncVaultBytecode,
  cooldownVaultAbi,
  cooldownVaultBytecode,
  dripVaultAbi,
  dripVaultBytecode,
  epochAsyncVaultBytecode,
  faultyVaultAbi,
  faultyVaultBytecode,
  lagoonVaultAbi,
  lagoonVaultBytecode,
  listedOnlyAbi,
  listedOnlyBytecode,
  lyingAssetVaultAbi,
  lyingAssetVaultBytecode,
  marketVaultAbi,
  marketVaultBytecode,
  oddMaxVaultAbi,
  oddMaxVaultBytecode,
  outsideShareVaultAbi,
  outsideShareVaultBytecode,
  standardizedYieldAbi,
  standardizedYieldBytecode,
  strategyVaultAbi,
  strategyVaultBytecode,
  testTokenAbi,
  testTokenBytecode,
  umbrellaStakeAbi,
  umbrellaStakeBytecode,
  windowStakeAbi,
  windowStakeBytecode,
  yieldVaultAbi,
  yieldVaultBytecode,
} from '@openearn/contracts'
import type { Abi, Address, Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Anvil, startAnvil } from '../../../../../contracts/test/anvil.js'
import { systemClock } from '../../../kernel/clock.js'
import { createOutbound } from '../../../kernel/outbound.js'
import { ProbeError, probeVault } from '../../../probing/index.js'
import { type Chain, openChain } from '../../../rpc/chains.js'
import { draftEntry } from './draftEntry.js'

let anvil: Anvil
let chain: Chain
let token: Address
let second: Address
let plain: Address

const deploy = (abi: Abi, bytecode: Hex, args: readonly unknown[]) => anvil.deploy({ abi, bytecode, args })
const write = (address: Address, abi: Abi, functionName: string, args: readonly unknown[] = []) =>
  anvil.done(anvil.client.writeContract({ address, abi, functionName, args } as never))

beforeAll(async () => {
  anvil = await startAnvil({ timestamp: 1_700_000_000 })
  chain = openChain(createOutbound(systemClock), {
    ...{ chainId: 31337, name: 'Anvil', rpcUrls: [anvil.url], reorgRecheckSeconds: 2, entryPoints: [] },
    ...{ nativeSymbol: 'ETH', confirmations: 1, finalityDepth: 64, pollIntervalMs: 1000 },
  })
  token = await deploy(testTokenAbi, testTokenBytecode, ['Dollar', 'USD', 6])
  second = await deploy(testTokenAbi, testTokenBytecode, ['Second', 'SEC', 18])
  plain = await deploy(yieldVaultAbi, yieldVaultBytecode, [token, 'Yield vault', 'yUSD', 6, 0n, true])
})
afterAll(() => anvil.stop())

/** The kind as drafted, and whether the draft lets money in. */
async function draft(address: Address): Promise<{ kind: string; open: boolean }> {
  try {
    const probed = await probeVault(chain, address)
    const [entry] = draftEntry(31337, address, probed).opportunities ?? []
    return { kind: entry!.vault.kind, open: entry!.depositEnabled !== false }
  } catch (error) {
    if (error instanceof ProbeError) return { kind: 'none', open: false }
    throw error
  }
}

async function asynchronous(asyncDeposit: boolean, asyncRedeem: boolean, bytecode: Hex = asyncVaultBytecode) {
  const vault = await deploy(asyncVaultAbi, bytecode, [
    ...[token, 'Async', 'aUSD', { asyncDeposit, asyncRedeem, separateIds: false, decimalsOffset: 0 }],
  ])
  const me = anvil.client.account.address
  await write(token, testTokenAbi, 'mint', [me, 10_000_000n])
  await write(token, testTokenAbi, 'approve', [vault, 10_000_000n])
  if (!asyncDeposit) {
    await write(vault, yieldVaultAbi, 'deposit', [10_000_000n, me])
    return vault
  }
  await write(vault, asyncVaultAbi, 'requestDeposit', [10_000_000n, me, me])
  await write(vault, asyncVaultAbi, 'settleDeposit', [me, 0n])
  await write(vault, asyncVaultAbi, 'deposit', [10_000_000n, me, me])
  return vault
}
const lagoon = (isV6: boolean) => deploy(lagoonVaultAbi, lagoonVaultBytecode, [token, 'Lagoon', 'lUSD', 12, isV6])

async function closedLagoon(): Promise<Address> {
  const vault = await lagoon(true)
  await write(token, testTokenAbi, 'approve', [vault, 2n ** 200n])
  for (const [name, args] of [
    ...[['initiateClosing', []] as const, ['updateNewTotalAssets', [0n]] as const, ['close', [0n]] as const],
  ])
    await write(vault, lagoonVaultAbi, name, args)
  return vault
}

/** Every vault of ours, and the kind it is to be drafted as. */
const fixtures: readonly (readonly [name: string, kind: string, open: boolean, make: () => Promise<Address>])[] = [
  ['a vault with yield', 'erc4626', true, async () => plain],
  ['one that keeps books', 'erc4626', true, () => deploy(dripVaultAbi, dripVaultBytecode, [token, 6, 0n, 4n])],
  ['one whose max* say 0', 'erc4626', true, () => deploy(oddMaxVaultAbi, oddMaxVaultBytecode, [token, 6, 0n])],
  ['one of a market', 'erc4626', true, () => deploy(marketVaultAbi, marketVaultBytecode, [token, 6, 0n])],
  ['one over another vault', 'erc4626', true, () => deploy(strategyVaultAbi, strategyVaultBytecode, [plain, 6])],
  ['one that names another asset than it takes', 'erc4626', false, lying],
  ['a synchronous one that knows ERC-165', 'erc4626', true, () => asynchronous(false, false)],
  ['one of requests', 'erc7540', true, () => asynchronous(true, true)],
  ['one of requested deposits', 'erc7540-deposit', true, () => asynchronous(true, false)],
  ['one of requested redemptions', 'erc7540-redeem', true, () => asynchronous(false, true)],
  ['one that cancels', 'erc7540', true, () => asynchronous(true, true, cancellableAsyncVaultBytecode)],
  ['one of epochs', 'erc7540', true, () => asynchronous(true, true, epochAsyncVaultBytecode)],
  ['one whose share is outside', 'erc7540', true, outside],
  ['Lagoon 0.5', 'lagoon', true, () => lagoon(false)],
  ['Lagoon 0.6', 'lagoon', true, () => lagoon(true)],
  ['one of several tokens', 'erc5115', true, several],
  ['a staked token with a cooldown', 'cooldown', true, () => cooldown(604_800)],
  ['one whose cooldown is 0', 'cooldown', true, () => cooldown(0)],
  ['a market', 'other', false, () => deploy(listedOnlyAbi, listedOnlyBytecode, [token, 0])],
  ['a token of a market that rebases', 'other', false, () => deploy(listedOnlyAbi, listedOnlyBytecode, [token, 1])],
  ['a token of a stake that rebases', 'other', false, () => deploy(listedOnlyAbi, listedOnlyBytecode, [token, 2])],
  ['a stake without a rate', 'other', false, () => deploy(listedOnlyAbi, listedOnlyBytecode, [token, 3])],
  ['a stake with a window', 'window-stake', false, () => windowStake()],
  ['a stake of Umbrella', 'umbrella', false, () => umbrellaStake()],
]

function lying() {
  return deploy(lyingAssetVaultAbi, lyingAssetVaultBytecode, [token, second])
}
function outside() {
  return deploy(outsideShareVaultAbi, outsideShareVaultBytecode, [token, 'Outside', 'oUSD'])
}
function several() {
  return deploy(standardizedYieldAbi, standardizedYieldBytecode, [token, second])
}
function windowStake() {
  return deploy(windowStakeAbi, windowStakeBytecode, [token, 'Staked', 'stkUSD', 604_800n, 172_800n])
}
function umbrellaStake() {
  return deploy(umbrellaStakeAbi, umbrellaStakeBytecode, [token, 'Staked', 'stkUSD', 604_800n, 172_800n])
}
function cooldown(seconds: number) {
  return deploy(cooldownVaultAbi, cooldownVaultBytecode, [token, 'Staked', 'sUSD', 0, seconds])
}

/** Each way in which a vault is broken, in the order of `FaultyVault.Fault`, and what becomes of it. */
const faults: readonly (readonly [fault: string, kind: string, open: boolean])[] = [
  ['none', 'erc4626', true],
  ['its asset reverts', 'none', false],
  ['its asset is nobody', 'none', false],
  ['its asset is a wallet', 'none', false],
  ['its asset is cut short', 'none', false],
  ['its total assets revert', 'none', false],
  ['its decimals revert', 'none', false],
  ['its decimals are 77', 'none', false],
  ['its share is a wallet', 'none', false],
  ['it gives no shares', 'erc4626', false],
  ['it gives the shares to somebody else', 'erc4626', false],
  ['it redeems nothing, with a text', 'erc4626', false],
  ['it redeems nothing, without a word', 'erc4626', false],
  ['it panics when it redeems', 'erc4626', false],
  ['it burns all gas when it redeems', 'erc4626', false],
  ['it takes shares and pays nothing', 'erc4626', false],
  ['it says it redeems and does nothing', 'erc4626', false],
  ['it pays somebody else', 'erc4626', false],
  ['it pays dust', 'erc4626', false],
  ['it pays a third', 'erc4626', false],
  ['it redeems for its maker alone', 'erc4626', false],
  ['it redeems at the end of time', 'erc4626', false],
  ['it says it takes requests and takes none', 'erc7540', false],
  ['it says redemptions are requested and takes none', 'erc7540-redeem', false],
  ['it takes no shares with a request', 'erc7540-redeem', false],
  ['it says it has a cooldown and starts none', 'cooldown', false],
  ['it takes no shares when a cooldown starts', 'cooldown', false],
  ['it answers as Lagoon does and takes no requests', 'lagoon', false],
  ['it takes no deposit', 'erc4626', false],
  ['it is paused', 'erc4626', false],
  ['it has no room', 'erc4626', false],
  ['it takes a fee of 1 %', 'erc4626', true],
  ['its previews revert', 'erc4626', true],
  ['its maxima revert', 'erc4626', true],
  ['its prices revert', 'erc4626', true],
  ['it burns all gas where it is asked for interfaces', 'erc4626', true],
]

describe('probing', () => {
  it('says of what is only listed why, and takes no escrow that is none', async () => {
    const aToken = await probeVault(chain, await deploy(listedOnlyAbi, listedOnlyBytecode, [token, 1]))
    expect(aToken.notes).toContain(
      'a token of Aave: balances grow by themselves, so nothing is built for it and no yield is counted; list the StataToken that wraps it, as erc4626',
    )
    const lagoonAlike = await probeVault(chain, await deploy(faultyVaultAbi, faultyVaultBytecode, [token, 27]))
    expect(lagoonAlike).toMatchObject({ kind: 'lagoon', escrow: undefined })
  })

  it('names the kind of every fixture, and drafts open what can be left again', async () => {
    const found = []
    for (const [name, , , make] of fixtures) found.push({ name, ...(await draft(await make())) })
    expect(found).toEqual(fixtures.map(([name, kind, open]) => ({ name, kind, open })))
  })

  it(`says of ${faults.length - 1} broken vaults what they are, and drafts none open that cannot give money back`, async () => {
    const found = []
    for (const [at, [fault]] of faults.entries())
      found.push({ fault, ...(await draft(await deploy(faultyVaultAbi, faultyVaultBytecode, [token, at]))) })
    expect(found).toEqual(faults.map(([fault, kind, open]) => ({ fault, kind, open })))
  })

  it('sees that a Lagoon vault can be left while its valuation is valid, and knows a closed one', async () => {
    const sync = await lagoon(true)
    await write(token, testTokenAbi, 'approve', [sync, 2n ** 200n])
    await write(sync, lagoonVaultAbi, 'updateTotalAssetsLifespan', [10n ** 9n])
    await write(sync, lagoonVaultAbi, 'updateNewTotalAssets', [0n])
    await write(sync, lagoonVaultAbi, 'settleDeposit', [0n])
    expect(await draft(sync)).toEqual({ kind: 'lagoon', open: true })
    expect((await draft(await closedLagoon())).kind).toBe('lagoon')
  })
})
