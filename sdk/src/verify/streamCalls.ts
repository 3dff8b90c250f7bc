import {
  type Address,
  bytesToHex,
  concat,
  decodeFunctionData,
  encodeFunctionData,
  type Hex,
  hashTypedData,
  hexToBytes,
  keccak256,
  numberToHex,
  parseAbi,
  recoverAddress,
  size,
  slice,
} from 'viem'

/** The calls of a reward stream as they have to be, written apart from the service that signs them. */

const abi = parseAbi([
  'struct CreateStreamParams { bytes16 streamId; address rewardToken; uint256 netTotalAmount; uint256 feeAmount; }',
  'struct AddFundsParams { address stream; uint256 netAmount; uint256 feeAmount; }',
  'struct WithdrawFundsParams { address stream; address to; uint256 amount; }',
  'function createStream(CreateStreamParams params, uint40 deadline, bytes signature)',
  'function addFunds(AddFundsParams params, bytes32 salt, uint40 deadline, bytes signature)',
  'function withdrawFunds(WithdrawFundsParams params, bytes32 salt, uint40 deadline, bytes signature)',
  'function claim(uint256 amount, uint40 timestamp, bytes32[] proof)',
])

const fields = (text: string) =>
  text.split(',').map((each) => ({ type: each.split(' ')[0] ?? '', name: each.split(' ')[1] ?? '' }))
const types = {
  CreateStreamParams: fields('bytes16 streamId,address rewardToken,uint256 netTotalAmount,uint256 feeAmount'),
  AddFundsParams: fields('address stream,uint256 netAmount,uint256 feeAmount'),
  WithdrawFundsParams: fields('address stream,address to,uint256 amount'),
  CreateStream: fields('address creator,CreateStreamParams params,uint40 deadline'),
  AddFunds: fields('address admin,AddFundsParams params,bytes32 salt,uint40 deadline'),
  WithdrawFunds: fields('address admin,WithdrawFundsParams params,bytes32 salt,uint40 deadline'),
}

export type StreamCall = ReturnType<typeof decode>

const decode = (data: Hex) => decodeFunctionData({ abi, data })

/** Parses a call of a stream or its factory; undefined for other calls and non-canonical encodings. */
export function readStreamCall(data: Hex): StreamCall | undefined {
  let call: StreamCall
  try {
    call = decode(data)
  } catch {
    return undefined
  }
  return encodeFunctionData({ abi, ...call } as never) === data ? call : undefined
}

/** Calls that a verifier signs. */
export type SignedCall = Exclude<StreamCall, { functionName: 'claim' }>

/** Who signed a call for a wallet at a factory; undefined where the signature is of no form the factory takes. */
export async function recoverVerifier(
  call: SignedCall,
  { chainId, factory, user }: { chainId: number; factory: Address; user: Address },
): Promise<Address | undefined> {
  const domain = { name: 'OpenEarn Stream Factory', version: '1', chainId, verifyingContract: factory }
  const [digest, signature] =
    call.functionName === 'createStream'
      ? [hash(domain, 'CreateStream', { creator: user, params: call.args[0], deadline: call.args[1] }), call.args[2]]
      : [
          hash(domain, call.functionName === 'addFunds' ? 'AddFunds' : 'WithdrawFunds', {
            ...{ admin: user, params: call.args[0], salt: call.args[1], deadline: call.args[2] },
          }),
          call.args[3],
        ]
  // As the factory does: 65 bytes, and of the two forms of a signature that with the lower s.
  if (size(signature) !== 65 || BigInt(slice(signature, 32, 64)) > highestS) return undefined
  if (!['0x1b', '0x1c'].includes(slice(signature, 64))) return undefined
  return recoverAddress({ hash: digest, signature }).catch(() => undefined)
}

const highestS = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

const hash = (domain: object, primaryType: string, message: object): Hex =>
  hashTypedData({ domain, types, primaryType, message } as never)

/** The root that a proof leads to from what a wallet has earned in all. */
export function computeRoot(user: Address, amount: bigint, proof: readonly Hex[]): Hex {
  const leaf = keccak256(concat([user, numberToHex(amount, { size: 32 })]))
  return proof.reduce((node, sibling) => keccak256(concat(node < sibling ? [node, sibling] : [sibling, node])), leaf)
}

/** A UUID in the form of the factory; undefined if malformed. */
export function parseStreamId(value: unknown): Hex | undefined {
  if (typeof value !== 'string' || !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value)) return undefined
  return bytesToHex(hexToBytes(`0x${value.replaceAll('-', '')}`))
}
