import {
  type Address,
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  encodePacked,
  type Hex,
  parseAbi,
} from 'viem'
import { getUserOperationHash } from 'viem/account-abstraction'

/** Calldata of the wrappers users send their calls through, written by viem, with the accounts tests speak of. */

export const account: Address = `0x${'aa'.repeat(20)}`
export const owner: Address = `0x${'bb'.repeat(20)}`
export const vault: Address = `0x${'cc'.repeat(20)}`
export const token: Address = `0x${'dd'.repeat(20)}`
export const library: Address = `0x${'ee'.repeat(20)}`
export const zero: Address = `0x${'00'.repeat(20)}`
export const entryPoints: Address[] = [
  '0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789',
  '0x0000000071727de22e5e9d8baf0edac6f37da032',
  '0x4337084d9e255ff0702461cf8895ce9e3b5ff108',
]
export const [entryPoint6 = zero, entryPoint7 = zero, entryPoint8 = zero] = entryPoints
export const deposit: Hex = `0x6e553f65${'11'.repeat(64)}`
export const approve: Hex = `0x095ea7b3${'22'.repeat(64)}`

export const abi = parseAbi([
  'function execute(address to, uint256 value, bytes data)',
  'function execute(bytes32 mode, bytes executionData)',
  'function executeBatch(address[] to, bytes[] data)',
  'function executeBatch(address[] to, uint256[] value, bytes[] data)',
  'struct Call { address to; uint256 value; bytes data; }',
  'function executeBatch(Call[] calls)',
  'function execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 a, uint256 b, uint256 c, address d, address e, bytes signatures)',
  'function multiSend(bytes transactions)',
  'function multicall(bytes[] data)',
  'function executeUserOp(address to, uint256 value, bytes data, uint8 operation)',
  'function executeUserOpWithErrorString(address to, uint256 value, bytes data, uint8 operation)',
  'struct Operation6 { address sender; uint256 nonce; bytes initCode; bytes callData; uint256 a; uint256 b; uint256 c; uint256 d; uint256 e; bytes paymaster; bytes signature; }',
  'function handleOps(Operation6[] ops, address beneficiary)',
  'struct Operation7 { address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 a; uint256 b; bytes32 c; bytes paymaster; bytes signature; }',
  'function handleOps(Operation7[] ops, address beneficiary)',
])

export const execute = (to: Address, data: Hex) =>
  encodeFunctionData({ abi, functionName: 'execute', args: [to, 0n, data] })
export const executeMode = (mode: string, executionData: Hex) =>
  encodeFunctionData({ abi, functionName: 'execute', args: [`0x${mode.padEnd(64, '0')}`, executionData] })
export const calls = [
  { to: token, value: 0n, data: approve },
  { to: vault, value: 7n, data: deposit },
]
export const encodedCalls = (list: readonly { to: Address; value: bigint; data: Hex }[] = calls) =>
  encodeAbiParameters(
    [
      {
        type: 'tuple[]',
        components: [
          { name: 'to', type: 'address' },
          { name: 'value', type: 'uint256' },
          { name: 'data', type: 'bytes' },
        ],
      },
    ],
    [list],
  )
export const encodedCallsWithData = encodeAbiParameters(
  [
    {
      type: 'tuple[]',
      components: [
        { name: 'to', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'data', type: 'bytes' },
      ],
    },
    { type: 'bytes' },
  ],
  [calls, '0x1234'],
)
export const safe = (
  to: Address,
  data: Hex,
  operation: number,
  name: 'execTransaction' | 'executeUserOp' | 'executeUserOpWithErrorString' = 'execTransaction',
) =>
  name === 'execTransaction'
    ? encodeFunctionData({ abi, functionName: name, args: [to, 0n, data, operation, 0n, 0n, 0n, zero, zero, '0x1234'] })
    : encodeFunctionData({ abi, functionName: name, args: [to, 0n, data, operation] })
export const packed = (to: Address, data: Hex, operation = 0) =>
  encodePacked(
    ['uint8', 'address', 'uint256', 'uint256', 'bytes'],
    [operation, to, 0n, BigInt(data.length / 2 - 1), data],
  )
export const multiSend = (...parts: Hex[]) =>
  encodeFunctionData({ abi, functionName: 'multiSend', args: [concatHex(parts)] })
export const multicall = (...parts: Hex[]) => encodeFunctionData({ abi, functionName: 'multicall', args: [parts] })

export const operation6 = (sender: Address, callData: Hex) => ({
  sender,
  nonce: 0n,
  initCode: '0x' as Hex,
  callData,
  a: 1n,
  b: 1n,
  c: 1n,
  d: 1n,
  e: 1n,
  paymaster: '0x' as Hex,
  signature: '0x1234' as Hex,
})
export const operation7 = (sender: Address, callData: Hex) => ({
  sender,
  nonce: 0n,
  initCode: '0x' as Hex,
  callData,
  a: `0x${'00'.repeat(32)}` as Hex,
  b: 1n,
  c: `0x${'00'.repeat(32)}` as Hex,
  paymaster: '0x' as Hex,
  signature: '0x1234' as Hex,
})
/** The hash entry point 0.7 knows that operation by. */
export const hashOperation7 = (chainId: number, sender: Address, callData: Hex): Hex =>
  getUserOperationHash({
    chainId,
    entryPointAddress: entryPoint7,
    entryPointVersion: '0.7',
    userOperation: {
      sender,
      nonce: 0n,
      callData,
      callGasLimit: 0n,
      verificationGasLimit: 0n,
      preVerificationGas: 1n,
      maxFeePerGas: 0n,
      maxPriorityFeePerGas: 0n,
      signature: '0x',
    },
  })
export const handleOps7 = (...ops: ReturnType<typeof operation7>[]) =>
  encodeFunctionData({ abi, functionName: 'handleOps', args: [ops, owner] })
export const handleOps6 = (...ops: ReturnType<typeof operation6>[]) =>
  encodeFunctionData({ abi, functionName: 'handleOps', args: [ops, owner] })
