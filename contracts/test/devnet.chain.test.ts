import { type Address, erc20Abi, erc4626Abi, parseUnits } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  feeOnTransferTokenAbi,
  feeOnTransferTokenBytecode,
  lyingAssetVaultAbi,
  lyingAssetVaultBytecode,
  noReturnTokenAbi,
  noReturnTokenBytecode,
  testTokenAbi,
  testTokenBytecode,
  yieldVaultAbi,
  yieldVaultBytecode,
} from '../abi/index.js'
import { type Anvil, account, startAnvil } from './anvil.js'

const year = 31_536_000
const owner = account(0)
const user = account(1)
const rate = parseUnits('0.05', 18)

describe('the development contracts', () => {
  let chain: Anvil

  beforeAll(async () => {
    chain = await startAnvil({ timestamp: 1_700_000_000 })
  })

  afterAll(() => chain.stop())

  const deployToken = (decimals: number) =>
    chain.deploy({ abi: testTokenAbi, bytecode: testTokenBytecode, args: ['Test Dollar', 'TUSD', decimals] })

  const deployVault = async (asset: Address, offset: number, mintsYield: boolean) => {
    const args = [asset, 'Yield', 'yTUSD', offset, rate, mintsYield]
    return chain.deploy({ abi: yieldVaultAbi, bytecode: yieldVaultBytecode, args })
  }

  const balance = (token: Address, holder: Address) =>
    chain.client.readContract({ address: token, abi: erc20Abi, functionName: 'balanceOf', args: [holder] })

  const read = (vault: Address, functionName: 'totalAssets' | 'pendingYield' | 'reserve') =>
    chain.client.readContract({ address: vault, abi: yieldVaultAbi, functionName })

  /** Gives the user `amount` of a token that returns nothing or a bool, and lets the vault take it. */
  const giveAndApprove = async (token: Address, vault: Address, amount: bigint) => {
    const { client, done } = chain
    await done(
      client.writeContract({
        address: token,
        abi: noReturnTokenAbi,
        functionName: 'mint',
        args: [user.address, amount],
      }),
    )
    await done(
      client.writeContract({
        account: user,
        address: token,
        abi: noReturnTokenAbi,
        functionName: 'approve',
        args: [vault, amount],
      }),
    )
  }

  const deposit = (vault: Address, amount: bigint) =>
    chain.done(
      chain.client.writeContract({
        account: user,
        address: vault,
        abi: erc4626Abi,
        functionName: 'deposit',
        args: [amount, user.address],
      }),
    )

  const redeemAll = async (vault: Address) => {
    const shares = await balance(vault, user.address)
    await chain.done(
      chain.client.writeContract({
        account: user,
        address: vault,
        abi: erc4626Abi,
        functionName: 'redeem',
        args: [shares, user.address, user.address],
      }),
    )
  }

  test.each([6, 8, 18])('a token and a vault of %i decimals say so', async (decimals) => {
    const token = await deployToken(decimals)
    const vault = await deployVault(token, 18 - decimals, true)
    expect(await chain.client.readContract({ address: token, abi: erc20Abi, functionName: 'decimals' })).toBe(decimals)
    expect(await chain.client.readContract({ address: vault, abi: yieldVaultAbi, functionName: 'decimals' })).toBe(18)
  })

  test('only the owner and its minters mint', async () => {
    const { client, done } = chain
    const token = await deployToken(6)
    const mint = { address: token, abi: testTokenAbi, functionName: 'mint', args: [user.address, 5n] } as const
    await expect(client.simulateContract({ ...mint, account: user })).rejects.toThrow('NotMinter')
    await done(
      client.writeContract({
        address: token,
        abi: testTokenAbi,
        functionName: 'setMinter',
        args: [user.address, true],
      }),
    )
    await done(client.writeContract({ ...mint, account: user }))
    expect(await balance(token, user.address)).toBe(5n)
  })

  test('a vault that mints earns its yearly rate as time passes, and redemption pays it', async () => {
    const { client, done } = chain
    const token = await deployToken(6)
    const vault = await deployVault(token, 6, true)
    await done(
      client.writeContract({ address: token, abi: testTokenAbi, functionName: 'setMinter', args: [vault, true] }),
    )
    const amount = parseUnits('1000', 6)
    await giveAndApprove(token, vault, amount)
    const { blockNumber } = await deposit(vault, amount)
    const start = (await client.getBlock({ blockNumber })).timestamp

    await chain.pass(year / 2)
    const elapsed = (await client.getBlock()).timestamp - start
    const expected = amount + (amount * rate * elapsed) / (BigInt(year) * 10n ** 18n)
    expect(await read(vault, 'totalAssets')).toBe(expected)
    expect(expected).toBeGreaterThanOrEqual(parseUnits('1025', 6))
    expect(await balance(token, vault)).toBe(amount)

    await done(client.writeContract({ address: vault, abi: yieldVaultAbi, functionName: 'accrue' }))
    expect(await balance(token, vault)).toBe(await read(vault, 'totalAssets'))

    await chain.pass(year / 2)
    await redeemAll(vault)
    const paid = await balance(token, user.address)
    expect(paid).toBeGreaterThan(parseUnits('1050.6', 6))
    expect(paid).toBeLessThan(parseUnits('1050.63', 6))
    expect(await read(vault, 'totalAssets')).toBeLessThanOrEqual(2n)
  })

  test('a vault with a reserve pays yield from it, over a token that returns nothing, and stops when it is empty', async () => {
    const { client, done } = chain
    const args = ['Old Dollar', 'OUSD', 6]
    const token = await chain.deploy({ abi: noReturnTokenAbi, bytecode: noReturnTokenBytecode, args })
    const vault = await deployVault(token, 0, false)
    await giveAndApprove(token, vault, parseUnits('30', 6))
    await done(
      client.writeContract({
        account: user,
        address: vault,
        abi: yieldVaultAbi,
        functionName: 'fundReserve',
        args: [parseUnits('30', 6)],
      }),
    )
    await giveAndApprove(token, vault, parseUnits('1000', 6))
    await deposit(vault, parseUnits('1000', 6))
    expect(await read(vault, 'totalAssets')).toBe(parseUnits('1000', 6))

    await chain.pass(year / 2)
    expect(await read(vault, 'reserve')).toBeLessThan(parseUnits('5.1', 6))
    await chain.pass(year)
    expect(await read(vault, 'totalAssets')).toBe(parseUnits('1030', 6))
    expect(await read(vault, 'reserve')).toBe(0n)
    await redeemAll(vault)
    expect(await balance(token, user.address)).toBe(parseUnits('1030', 6) - 1n)
  })

  test('a pause and a cap lower maxDeposit, and a loss lowers the share price', async () => {
    const { client, done } = chain
    const token = await deployToken(18)
    const vault = await deployVault(token, 0, true)
    await done(
      client.writeContract({ address: token, abi: testTokenAbi, functionName: 'setMinter', args: [vault, true] }),
    )
    await done(client.writeContract({ address: vault, abi: yieldVaultAbi, functionName: 'setAnnualRate', args: [0n] }))
    await giveAndApprove(token, vault, 1000n)
    await deposit(vault, 400n)
    const max = (functionName: 'maxDeposit' | 'maxMint' | 'maxRedeem') =>
      client.readContract({ address: vault, abi: erc4626Abi, functionName, args: [user.address] })

    await done(
      client.writeContract({ address: vault, abi: yieldVaultAbi, functionName: 'setDepositCap', args: [500n] }),
    )
    expect([await max('maxDeposit'), await max('maxMint')]).toEqual([100n, 100n])
    await expect(
      client.simulateContract({
        account: user,
        address: vault,
        abi: yieldVaultAbi,
        functionName: 'deposit',
        args: [101n, user.address],
      }),
    ).rejects.toThrow('ERC4626ExceededMaxDeposit')
    await done(
      client.writeContract({ address: vault, abi: yieldVaultAbi, functionName: 'setDepositsPaused', args: [true] }),
    )
    expect([await max('maxDeposit'), await max('maxMint')]).toEqual([0n, 0n])
    await done(
      client.writeContract({ address: vault, abi: yieldVaultAbi, functionName: 'setWithdrawalsPaused', args: [true] }),
    )
    expect(await max('maxRedeem')).toBe(0n)
    await done(
      client.writeContract({
        address: vault,
        abi: yieldVaultAbi,
        functionName: 'takeLoss',
        args: [owner.address, 100n],
      }),
    )
    expect(await read(vault, 'totalAssets')).toBe(300n)
    await expect(
      client.simulateContract({
        address: vault,
        abi: yieldVaultAbi,
        functionName: 'takeLoss',
        args: [owner.address, 301n],
      }),
    ).rejects.toThrow('LossExceedsAssets')
    await expect(
      client.simulateContract({ address: vault, abi: yieldVaultAbi, functionName: 'fundReserve', args: [1n] }),
    ).rejects.toThrow('MintsItsYield')
  })

  test('a token in the manner of old USD tokens wants its allowance reset to 0 and returns nothing', async () => {
    const { client, done } = chain
    const args = ['Old Dollar', 'OUSD', 6]
    const token = await chain.deploy({ abi: noReturnTokenAbi, bytecode: noReturnTokenBytecode, args })
    const approve = (amount: bigint) =>
      ({
        account: user,
        address: token,
        abi: noReturnTokenAbi,
        functionName: 'approve',
        args: [owner.address, amount],
      }) as const
    await done(client.writeContract(approve(5n)))
    await expect(client.simulateContract(approve(6n))).rejects.toThrow('AllowanceNotReset')
    await done(client.writeContract(approve(0n)))
    await done(client.writeContract(approve(6n)))
    const { data } = await client.call({
      account: user,
      to: token,
      data: '0x095ea7b3'.padEnd(138, '0') as `0x${string}`,
    })
    expect(data).toBeUndefined()
  })

  test('a token with a transfer fee delivers less than was sent', async () => {
    const { client, done } = chain
    const args = ['Taxed', 'TAX', 18, 100n]
    const token = await chain.deploy({ abi: feeOnTransferTokenAbi, bytecode: feeOnTransferTokenBytecode, args })
    await done(
      client.writeContract({
        address: token,
        abi: feeOnTransferTokenAbi,
        functionName: 'mint',
        args: [owner.address, 1000n],
      }),
    )
    await done(
      client.writeContract({ address: token, abi: erc20Abi, functionName: 'transfer', args: [user.address, 1000n] }),
    )
    expect(await balance(token, user.address)).toBe(990n)
  })

  test('a lying vault names one token and moves another', async () => {
    const { client } = chain
    const token = await deployToken(6)
    const claimed = await deployToken(18)
    const vault = await chain.deploy({
      abi: lyingAssetVaultAbi,
      bytecode: lyingAssetVaultBytecode,
      args: [token, claimed],
    })
    expect(await client.readContract({ address: vault, abi: erc4626Abi, functionName: 'asset' })).toBe(claimed)
    await giveAndApprove(token, vault, 100n)
    await deposit(vault, 100n)
    expect(await balance(token, vault)).toBe(100n)
    expect(await client.readContract({ address: vault, abi: lyingAssetVaultAbi, functionName: 'trueAsset' })).toBe(
      token,
    )
  })
})
