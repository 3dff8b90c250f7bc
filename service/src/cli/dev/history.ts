import { cancellableAsyncVaultAbi, testTokenAbi, yieldVaultAbi } from '@openearn/contracts'
import { attribution } from '@openearn/sdk/verify'
import { type Address, concat, encodeFunctionData, erc20Abi, type Hex, maxUint256, numberToHex, parseUnits } from 'viem'
import { type DevChain, devAccount } from './anvil.js'
import type { Deployment, DevVault } from './deploy.js'
import { deployerIndex } from './deploy.js'
import { distributorIds } from './names.js'
import { buildCreation } from './streams.js'

/** Accounts that play the past: no user has them, so that a user begins with what the devnet gives. */
/** Accounts that deposited and withdrew in the devnet's past. */
export const playerIndexes = [17, 18, 19] as const
const hour = 3_600
const day = 24 * hour
/** Through whom: the others begin with nothing, as a user does. */
const pastDistributors = distributorIds.slice(2)
/** Blocks in the last second of the past: the final block is then as old as the head. */
const endBlocks = 64

/** The grid on which the devnet's vaults are read. */
const quarter = 900

/**
 * When blocks of the past are mined: every four hours, in the last week every hour, and at the last quarter of an hour, so
 * that the newest reading of a vault is never too old to be served. Seconds, oldest first.
 */
export function listPastInstants(from: number, to: number): number[] {
  const instants: number[] = []
  for (let at = Math.ceil(from / (4 * hour)) * 4 * hour; at < to - 60; at += at >= to - 7 * day ? hour : 4 * hour)
    instants.push(at)
  const last = Math.floor((to - 61) / quarter) * quarter
  if (last > (instants.at(-1) ?? from)) instants.push(last)
  return instants
}

type Call = { from: Address; to: Address; data: Hex }

/**
 * Plays sixty days on a new devnet: deposits, withdrawals and transfers of three accounts through the distributors, a loss
 * and a pause, and the creation of a reward stream; yield comes by itself. Every block is mined by its time, one after the other. Then the chain's time is that
 * of the clock.
 */
export async function playPast(chain: DevChain, deployment: Deployment, nowSeconds: number): Promise<void> {
  const { request, client } = chain
  await request('evm_setAutomine', [false])
  try {
    const start = Number((await client.getBlock()).timestamp)
    const script = createScript(deployment)
    const owner = devAccount(deployerIndex).address
    let at = start + 60
    for (const calls of script.opening()) {
      await sendAll(chain, calls)
      await request('evm_mine', [numberToHex(at)])
      at += 1
    }
    const instants = listPastInstants(start + hour, nowSeconds)
    for (const [index, instant] of instants.entries()) {
      await sendAll(chain, script.play(index, instants.length))
      if (instant === deployment.streams?.startAt)
        await sendAll(chain, await buildCreation(chain, deployment.streams, owner))
      await request('evm_mine', [numberToHex(instant)])
    }
  } finally {
    await request('evm_setAutomine', [true])
  }
  const head = Number((await client.getBlock()).timestamp)
  await request('evm_setTime', [Math.max(nowSeconds, head + 1) * 1_000])
  await request('evm_mine')
  await request('anvil_mine', [numberToHex(endBlocks), '0x0'])
}

async function sendAll({ request }: DevChain, calls: readonly Call[]): Promise<void> {
  for (const call of calls) await request('eth_sendTransaction', [{ ...call, gas: numberToHex(600_000) }])
}

/** The events of each block. Amounts are small against the holdings of the vaults, so that every call succeeds. */
function createScript({ tokens, vaults }: Deployment) {
  const owner = devAccount(deployerIndex).address
  const players = playerIndexes.map((index) => devAccount(index).address)
  const open = vaults.filter(({ kind, withheld }) => kind === 'erc4626' && !withheld)
  const waiting = vaults.filter(({ kind }) => kind === 'erc7540')
  const tokenOf = (vault: DevVault) => {
    const token = tokens.find(({ key }) => key === vault.token)
    if (!token) throw new Error(`no devnet token ${vault.token}`)
    return token
  }
  /** About a thousand dollars. */
  const unitOf = (vault: DevVault) =>
    parseUnits(tokenOf(vault).priceUsd === '1' ? '1000' : '0.02', tokenOf(vault).decimals)
  const sharesOf = (vault: DevVault) => unitOf(vault) * 10n ** BigInt(vault.shareDecimals - tokenOf(vault).decimals)
  const pick = <T>(items: readonly T[], index: number): T => {
    const item = items[index % items.length]
    if (item === undefined) throw new Error('the devnet has no vault of that kind')
    return item
  }
  const tagged = (data: Hex, index: number) => {
    const code = pastDistributors[index % pastDistributors.length]
    return code === undefined ? data : concat([data, attribution.encode({ codes: [code] })])
  }
  const deposit = (from: Address, vault: DevVault, times: number, index: number): Call => {
    const args = [unitOf(vault) * BigInt(times), from] as const
    return {
      from,
      to: vault.address,
      data: tagged(encodeFunctionData({ abi: yieldVaultAbi, functionName: 'deposit', args }), index),
    }
  }
  const redeem = (from: Address, vault: DevVault, index: number): Call => {
    const args = [sharesOf(vault) / 2n, from, from] as const
    return {
      from,
      to: vault.address,
      data: tagged(encodeFunctionData({ abi: yieldVaultAbi, functionName: 'redeem', args }), index),
    }
  }
  const transfer = (from: Address, to: Address, vault: DevVault): Call => {
    const args = [to, sharesOf(vault) / 10n] as const
    return { from, to: vault.address, data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args }) }
  }
  const ask = (from: Address, vault: DevVault): Call[] => {
    const assets = unitOf(vault)
    const encode = (functionName: 'requestDeposit' | 'deposit') =>
      encodeFunctionData({ abi: cancellableAsyncVaultAbi, functionName, args: [assets, from, from] } as never)
    const settled = encodeFunctionData({
      abi: cancellableAsyncVaultAbi,
      functionName: 'settleDeposit',
      args: [from, 0n],
    })
    return [
      { from, to: vault.address, data: encode('requestDeposit') },
      { from: owner, to: vault.address, data: settled },
      { from, to: vault.address, data: encode('deposit') },
    ]
  }
  const pause = (vault: DevVault, paused: boolean): Call => ({
    from: owner,
    to: vault.address,
    data: encodeFunctionData({ abi: yieldVaultAbi, functionName: 'setDepositsPaused', args: [paused] }),
  })
  const loss = (vault: DevVault): Call => ({
    from: owner,
    to: vault.address,
    data: encodeFunctionData({ abi: yieldVaultAbi, functionName: 'takeLoss', args: [owner, unitOf(vault)] }),
  })
  return {
    /** Money and allowances, then something to move for everybody everywhere. */
    opening: (): Call[][] => [
      players.flatMap((player) => [
        ...tokens.map(({ address, decimals, priceUsd }): Call => {
          const args = [player, parseUnits(priceUsd === '1' ? '1000000' : '20', decimals)] as const
          return {
            from: owner,
            to: address,
            data: encodeFunctionData({ abi: testTokenAbi, functionName: 'mint', args }),
          }
        }),
        ...[...open, ...waiting].map((vault): Call => {
          const args = [vault.address, maxUint256] as const
          return {
            from: player,
            to: tokenOf(vault).address,
            data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args }),
          }
        }),
      ]),
      players.flatMap((player, index) => open.map((vault) => deposit(player, vault, 10, index))),
    ],
    play: (index: number, count: number): Call[] => {
      const vault = pick(open, index)
      const other = pick(open, index + 3)
      const [first, second, third] = [pick(players, index), pick(players, index + 1), pick(players, index + 2)]
      // Day by day one of the vaults takes nothing for a while, and one loses something once.
      const closed = pick(open, 1)
      const isClosed = index >= Math.floor(count / 2) && index < Math.floor(count / 2) + 6
      return [
        ...(index === Math.floor(count / 2) ? [pause(closed, true)] : []),
        ...(index === Math.floor(count / 2) + 6 ? [pause(closed, false)] : []),
        ...(index === Math.floor(count / 3) ? [loss(pick(open, 1))] : []),
        ...(isClosed && vault === closed ? [] : [deposit(first, vault, 1 + (index % 3), index)]),
        redeem(second, other, index + 1),
        ...(index % 2 === 0 ? [transfer(third, first, vault)] : []),
        ...(index % 40 === 7 ? waiting.flatMap((each) => ask(first, each)) : []),
      ]
    },
  }
}
