import {
  batchAccountAbi,
  batchAccountBytecode,
  multicallVaultAbi,
  multicallVaultBytecode,
  testTokenAbi,
  yieldVaultAbi,
} from '@openearn/contracts'
import {
  type Abi,
  type Address,
  concat,
  encodeAbiParameters,
  encodeFunctionData,
  encodePacked,
  erc20Abi,
  type Hex,
  type PrivateKeyAccount,
  pad,
  zeroAddress,
} from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../contracts/test/anvil.js'
import { openEntryPoint as openEntryPointOn, owner, type Version } from '../../test/chain/entryPoints.js'
import { openWatchWorld, type WatchWorld, withSuffix } from '../../test/chain/watchWorld.js'
import { type Earn, openEarn } from '../../test/harness.js'
import { readPublished } from '../../test/published.js'
import { listLots } from '../features/positions/index.js'

let earn: Earn
let world: WatchWorld
const D = 'Y2Zi7KWy'
const E = 'MpOgVDnc'

beforeAll(async () => {
  earn = await openEarn()
  world = await openWatchWorld(earn.db, earn.organizationId)
}, 120_000)
afterAll(async () => {
  await world?.close()
  await earn?.close()
})

const mint = async (to: Address, amount = 1_000_000n) => {
  const { client, done } = world.anvil
  await done(
    client.writeContract({ address: world.token, abi: testTokenAbi, functionName: 'mint', args: [to, amount] }),
  )
}
const approveData = () =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [world.vault, 2n ** 200n] })
const depositData = (wallet: Address, amount: bigint, code?: string, vault = world.vault) => {
  const data = encodeFunctionData({ abi: yieldVaultAbi, functionName: 'deposit', args: [amount, wallet] })
  return withSuffix(data, wallet, vault, code)
}
const lotsOf = async (wallet: Address) => {
  const lots = await listLots(earn.db, [wallet.toLowerCase()])
  return Object.fromEntries(lots.map(({ distributorId, shares }) => [distributorId, BigInt(shares)]))
}
const entriesOf = async (hash: Hex) => {
  await world.sync()
  const { body } = await earn.call('ListInteractions', { query: { limit: 100, sortBy: 'amount', sortOrder: 'asc' } })
  return body.data.filter((entry: { txHash: string }) => entry.txHash === hash)
}

const openEntryPoint = (version: Version) => openEntryPointOn(earn.db, world, version)

const bundlerTail = `${Buffer.from(E).toString('hex')}0800${'80218021802180218021802180218021'}`

describe.each(['06', '07', '08'] as const)('a user operation through EntryPoint 0.%s', (version) => {
  it('is credited by the code in its inner call, signed, and the bundler’s own code counts for nobody', async () => {
    const entryPoint = await openEntryPoint(version)
    const { op, sender } = await entryPoint.operation(1n, (wallet) =>
      entryPoint.batch([
        { to: world.token, data: approveData() },
        { to: world.vault, data: depositData(wallet, 700n, D) },
      ]),
    )
    const hash = await entryPoint.bundle([op], bundlerTail)
    expect(await entriesOf(hash)).toMatchObject([
      { distributorId: D, attribution: 'signed', walletAddress: sender, amountRaw: '700', isSwap: false },
    ])
    expect(await lotsOf(sender)).toEqual({ [D]: 700n })
  }, 60_000)

  it('keeps two operations of one bundle apart, and a suffix moved to the end of callData valid', async () => {
    const entryPoint = await openEntryPoint(version)
    const first = await entryPoint.operation(2n, (wallet) =>
      entryPoint.batch([
        { to: world.token, data: approveData() },
        { to: world.vault, data: depositData(wallet, 300n, E) },
      ]),
    )
    const second = await entryPoint.operation(3n, (wallet) => {
      const plain = depositData(wallet, 500n)
      const moved = depositData(wallet, 500n, D).slice(plain.length)
      const batch = entryPoint.batch([
        { to: world.token, data: approveData() },
        { to: world.vault, data: plain },
      ])
      return `${batch}${moved}`
    })
    const hash = await entryPoint.bundle([first.op, second.op])
    expect(await entriesOf(hash)).toMatchObject([
      { distributorId: E, attribution: 'signed', walletAddress: first.sender, amountRaw: '300' },
      { distributorId: D, attribution: 'signed', walletAddress: second.sender, amountRaw: '500' },
    ])
  }, 60_000)
})

describe.each(['06', '07', '08'] as const)('an account of version 0.%s', (version) => {
  it('is credited for a call it executes in an operation, and for one its owner sends it directly', async () => {
    const entryPoint = await openEntryPoint(version)
    const { op, sender } = await entryPoint.operation(4n, () => entryPoint.execute(world.token, approveData()))
    await entryPoint.bundle([op])
    const hash = await world.send(owner, sender, entryPoint.execute(world.vault, depositData(sender, 60n, D)))
    expect(await entriesOf(hash)).toMatchObject([
      { distributorId: D, attribution: 'signed', walletAddress: sender, amountRaw: '60' },
    ])
    const batch = entryPoint.batch([
      { to: world.vault, data: depositData(sender, 70n, D) },
      { to: world.vault, data: depositData(sender, 80n, E) },
    ])
    expect(await entriesOf(await world.send(owner, sender, batch))).toMatchObject([
      { distributorId: D, attribution: 'signed', walletAddress: sender, amountRaw: '70' },
      { distributorId: E, attribution: 'signed', walletAddress: sender, amountRaw: '80' },
    ])
    expect(await lotsOf(sender)).toEqual({ [D]: 130n, [E]: 80n })
  }, 60_000)
})

describe('a vault with multicall(bytes[])', () => {
  it('credits each call by its own code to the wallet that sent them all', async () => {
    const vault = await world.anvil.deploy({
      abi: multicallVaultAbi as Abi,
      bytecode: multicallVaultBytecode,
      args: [world.token],
    })
    await world.list(vault)
    const user = account(4)
    await world.fund(user, 1_000n, vault)
    const args = [[depositData(user.address, 10n, D, vault), depositData(user.address, 20n, E, vault)]] as const
    const data = encodeFunctionData({ abi: multicallVaultAbi, functionName: 'multicall', args })
    const hash = await world.send(user, vault, data)
    expect(await entriesOf(hash)).toMatchObject([
      { distributorId: D, attribution: 'signed', walletAddress: user.address, amountRaw: '10', isSwap: false },
      { distributorId: E, attribution: 'signed', walletAddress: user.address, amountRaw: '20', isSwap: false },
    ])
    expect(await lotsOf(user.address)).toEqual({ [D]: 10n, [E]: 20n })
  })
})

describe('a Safe of version 1.4.1', () => {
  const safe = readPublished('@safe-global/safe-contracts/build/artifacts/contracts/Safe.sol/Safe.json')
  const proxy = readPublished(
    '@safe-global/safe-contracts/build/artifacts/contracts/proxies/SafeProxy.sol/SafeProxy.json',
  )
  const multiSend = readPublished(
    '@safe-global/safe-contracts/build/artifacts/contracts/libraries/MultiSend.sol/MultiSend.json',
  )
  let wallet: Address

  const execute = async (to: Address, data: Hex, operation: number): Promise<Hex> => {
    // The owner sends it, so its approval is implied (v = 1).
    const signatures = concat([pad(owner.address), pad('0x0'), '0x01'])
    const args = [to, 0n, data, operation, 0n, 0n, 0n, zeroAddress, zeroAddress, signatures]
    return world.send(owner, wallet, encodeFunctionData({ abi: safe.abi, functionName: 'execTransaction', args }))
  }
  beforeAll(async () => {
    const singleton = await world.anvil.deploy({ ...safe, args: [] })
    wallet = await world.anvil.deploy({ ...proxy, args: [singleton] })
    const args = [[owner.address], 1n, zeroAddress, '0x', zeroAddress, zeroAddress, 0n, zeroAddress]
    await world.send(owner, wallet, encodeFunctionData({ abi: safe.abi, functionName: 'setup', args }))
    await mint(wallet)
  })

  it('is credited by the code in the call it executes', async () => {
    await execute(world.token, approveData(), 0)
    const hash = await execute(world.vault, depositData(wallet, 900n, D), 0)
    expect(await entriesOf(hash)).toMatchObject([{ distributorId: D, attribution: 'signed', walletAddress: wallet }])
  })

  it('is credited for each call inside a multiSend', async () => {
    const library = await world.anvil.deploy({ ...multiSend, args: [] })
    const part = (to: Address, data: Hex) =>
      encodePacked(['uint8', 'address', 'uint256', 'uint256', 'bytes'], [0, to, 0n, BigInt(data.length / 2 - 1), data])
    const packed = concat([
      part(world.token, approveData()),
      part(world.vault, depositData(wallet, 100n, D)),
      part(world.vault, depositData(wallet, 200n, E)),
    ])
    const hash = await execute(
      library,
      encodeFunctionData({ abi: multiSend.abi, functionName: 'multiSend', args: [packed] }),
      1,
    )
    expect(await entriesOf(hash)).toMatchObject([
      { distributorId: D, amountRaw: '100', attribution: 'signed', walletAddress: wallet },
      { distributorId: E, amountRaw: '200', attribution: 'signed', walletAddress: wallet },
    ])
    expect(await lotsOf(wallet)).toEqual({ [D]: 1_000n, [E]: 200n })
  })
})

describe('an EIP-7702 account', () => {
  /** Delegates the user's account to some code and makes it call itself, in one transaction. */
  const callItself = async (user: PrivateKeyAccount, code: { abi: Abi; bytecode: Hex }, data: Hex): Promise<Hex> => {
    const { client, deploy, done } = world.anvil
    const authorization = await user.signAuthorization({
      address: await deploy({ ...code, args: [] }),
      chainId: 31_337,
      nonce: (await client.getTransactionCount({ address: user.address })) + 1,
    })
    const hash = await client.sendTransaction({
      account: user,
      to: user.address,
      data,
      gas: 2_000_000n,
      authorizationList: [authorization],
    })
    await done(hash)
    return hash
  }
  const calls = (user: Address, amount: bigint) => [
    { target: world.token, value: 0n, data: approveData() },
    { target: world.vault, value: 0n, data: depositData(user, amount, D) },
  ]
  const credited = (user: PrivateKeyAccount, amount: bigint) => [
    { distributorId: D, attribution: 'signed', walletAddress: user.address, amountRaw: String(amount), isSwap: false },
  ]

  it('is credited by the code in a batch it executes on itself', async () => {
    const user = account(7)
    await mint(user.address)
    const delegate = readPublished('entry-point-08/artifacts/Simple7702Account.json')
    const args = [calls(user.address, 400n)]
    const data = encodeFunctionData({ abi: delegate.abi, functionName: 'executeBatch', args })
    expect(await entriesOf(await callItself(user, delegate, data))).toMatchObject(credited(user, 400n))
  })

  it('is credited by the code in a batch of ERC-7821', async () => {
    const user = account(8)
    await mint(user.address)
    const batch = encodeAbiParameters(batchParameters, [calls(user.address, 450n)])
    const args = [pad('0x01', { dir: 'right' }), batch] as const
    const data = encodeFunctionData({ abi: batchAccountAbi, functionName: 'execute', args })
    const code = { abi: batchAccountAbi as Abi, bytecode: batchAccountBytecode }
    expect(await entriesOf(await callItself(user, code, data))).toMatchObject(credited(user, 450n))
  })
})

const batchParameters = [
  {
    type: 'tuple[]',
    components: [
      { name: 'target', type: 'address' },
      { name: 'value', type: 'uint256' },
      { name: 'data', type: 'bytes' },
    ],
  },
] as const
