import { testTokenAbi } from '@openearn/contracts'
import { type Abi, type Address, concat, encodeFunctionData, type Hex, numberToHex, pad, parseEther } from 'viem'
import { account } from '../../../contracts/test/anvil.js'
import type { Database } from '../../src/postgres/pool.js'
import { readPublished } from '../published.js'
import type { WatchWorld } from './watchWorld.js'

/** Who sends bundles, and who owns the accounts of operations. */
export const [bundler, owner] = [account(5), account(6)]

export type Version = '06' | '07' | '08'
export type Operation = Record<string, unknown>

/** A deployed EntryPoint with its account factory, and how to make and sign an operation of that version. */
export async function openEntryPoint(db: Database, world: WatchWorld, version: Version) {
  const { client, deploy, done } = world.anvil
  const entryPoint = readPublished(`entry-point-${version}/artifacts/EntryPoint.json`)
  const factory = readPublished(`entry-point-${version}/artifacts/SimpleAccountFactory.json`)
  const address = await deploy({ ...entryPoint, args: [] })
  const factoryAddress = await deploy({ ...factory, args: [address] })
  await db`update chains set entry_points = entry_points || ${[address.toLowerCase()]}`
  await db`update catalogue_versions set version = version + 1`
  const read = (abi: Abi, to: Address, functionName: string, args: readonly unknown[]) =>
    client.readContract({ abi, address: to, functionName, args })
  const packed = (a: bigint, b: bigint) =>
    concat([pad(numberToHex(a), { size: 16 }), pad(numberToHex(b), { size: 16 })])
  const batch = (calls: { to: Address; data: Hex }[]): Hex => {
    const [to, data, value] = [calls.map((call) => call.to), calls.map((call) => call.data), calls.map(() => 0n)]
    const abi = readPublished(`entry-point-${version}/artifacts/SimpleAccount.json`).abi
    const args =
      version === '06'
        ? [to, data]
        : version === '07'
          ? [to, value, data]
          : [calls.map((call) => ({ target: call.to, value: 0n, data: call.data }))]
    return encodeFunctionData({ abi, functionName: 'executeBatch', args })
  }
  const execute = (to: Address, data: Hex): Hex => {
    const abi = readPublished(`entry-point-${version}/artifacts/SimpleAccount.json`).abi
    return encodeFunctionData({ abi, functionName: 'execute', args: [to, 0n, data] })
  }
  const handleOps = (operations: Operation[]): Hex =>
    encodeFunctionData({ abi: entryPoint.abi, functionName: 'handleOps', args: [operations, bundler.address] })
  return {
    batch,
    execute,
    operation: async (
      salt: bigint,
      makeCallData: (sender: Address) => Hex,
      callGas = 1_000_000n,
    ): Promise<{ op: Operation; sender: Address }> => {
      const sender = (await read(factory.abi, factoryAddress, 'getAddress', [owner.address, salt])) as Address
      await done(
        client.writeContract({
          address: world.token,
          abi: testTokenAbi,
          functionName: 'mint',
          args: [sender, 1_000_000n],
        }),
      )
      await done(
        client.writeContract({
          address,
          abi: entryPoint.abi,
          functionName: 'depositTo',
          args: [sender],
          value: parseEther('1'),
        }),
      )
      const create = encodeFunctionData({
        abi: factory.abi,
        functionName: 'createAccount',
        args: [owner.address, salt],
      })
      const common = { sender, nonce: 0n, initCode: concat([factoryAddress, create]), callData: makeCallData(sender) }
      const op: Operation =
        version === '06'
          ? {
              ...common,
              callGasLimit: callGas,
              verificationGasLimit: 2_000_000n,
              preVerificationGas: 100_000n,
              maxFeePerGas: 3_000_000_000n,
              maxPriorityFeePerGas: 1_000_000_000n,
              paymasterAndData: '0x',
              signature: '0x',
            }
          : {
              ...common,
              accountGasLimits: packed(2_000_000n, callGas),
              preVerificationGas: 100_000n,
              gasFees: packed(1_000_000_000n, 3_000_000_000n),
              paymasterAndData: '0x',
              signature: '0x',
            }
      const hash = (await read(entryPoint.abi, address, 'getUserOpHash', [op])) as Hex
      op['signature'] =
        version === '08' ? await owner.sign({ hash }) : await owner.signMessage({ message: { raw: hash } })
      return { op, sender }
    },
    address,
    handleOps,
    /** Sends a bundle; what follows the calldata is the bundler's. */
    bundle: async (operations: Operation[], tail = ''): Promise<Hex> => {
      const data: Hex = `${handleOps(operations)}${tail}`
      const hash = await client.sendTransaction({ account: bundler, to: address, data, gas: 16_000_000n })
      await done(hash)
      return hash
    },
  }
}
