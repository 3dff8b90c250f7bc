import {
  type Abi,
  type Address,
  concat,
  domainSeparator,
  encodeAbiParameters,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  hashMessage,
  hashStruct,
  hashTypedData,
  keccak256,
  type PrivateKeyAccount,
  zeroAddress,
} from 'viem'
import { readPublished } from './published.js'

const chainId = 31337
const magicSuffix = '0x6492649264926492649264926492649264926492649264926492649264926492'

/** ABI and bytecode as published in the npm package of the Safe contracts. */
const published = (path: string) => readPublished(`@safe-global/safe-contracts/build/artifacts/contracts/${path}`)

const safe = published('Safe.sol/Safe.json')
const handler = published('handler/CompatibilityFallbackHandler.sol/CompatibilityFallbackHandler.json')
const factory = published('proxies/SafeProxyFactory.sol/SafeProxyFactory.json')
const proxy = published('proxies/SafeProxy.sol/SafeProxy.json')

/** How the contracts get onto a chain. */
type Deploy = (input: { abi: Abi; bytecode: Hex; args: readonly unknown[] }) => Promise<Address>

export type SafeWorld = Awaited<ReturnType<typeof deploySafeWorld>>

/** The Safe contracts on a chain. */
export async function deploySafeWorld(deploy: Deploy) {
  const singleton = await deploy({ ...safe, args: [] })
  const fallbackHandler = await deploy({ ...handler, args: [] })
  const proxyFactory = await deploy({ ...factory, args: [] })
  const planOf = (owners: readonly Address[], saltNonce: bigint) => {
    const initializer = encodeFunctionData({
      abi: safe.abi,
      functionName: 'setup',
      args: [owners, BigInt(owners.length), zeroAddress, '0x', fallbackHandler, zeroAddress, 0n, zeroAddress],
    })
    const salt = keccak256(concat([keccak256(initializer), encodeAbiParameters([{ type: 'uint256' }], [saltNonce])]))
    const bytecode = encodeDeployData({ ...proxy, args: [singleton] })
    const address = getContractAddress({ opcode: 'CREATE2', from: proxyFactory, salt, bytecode })
    const args = [singleton, initializer, saltNonce]
    const data = encodeFunctionData({ abi: factory.abi, functionName: 'createProxyWithNonce', args })
    return { address, creation: { to: proxyFactory, data } }
  }
  return {
    singleton,
    fallbackHandler,
    /** A Safe of one owner, the account or another: where it will be, and the call that creates it. Nothing is sent. */
    plan: (account: PrivateKeyAccount, saltNonce: bigint, owner: Address = account.address) => {
      const { address, creation } = planOf([owner], saltNonce)
      return openSafe(address, [account], creation)
    },
    /** A Safe of several owners, all of whom have to sign. */
    planShared: (owners: readonly PrivateKeyAccount[], saltNonce: bigint) => {
      const { address, creation } = planOf(
        owners.map((each) => each.address),
        saltNonce,
      )
      return openSafe(address, owners, creation)
    },
  }
}

const messageTypes = { SafeMessage: [{ name: 'message', type: 'bytes' }] } as const

function openSafe(address: Address, owners: readonly PrivateKeyAccount[], creation: { to: Address; data: Hex }) {
  const domain = { chainId, verifyingContract: address }
  /** The signatures of all owners, in the order of their addresses. */
  const signAll = async (sign: (owner: PrivateKeyAccount) => Promise<Hex>): Promise<Hex> => {
    const sorted = [...owners].sort((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1))
    return concat(await Promise.all(sorted.map(sign)))
  }
  const signBytes = (message: Hex) =>
    signAll((owner) =>
      owner.signTypedData({ domain, types: messageTypes, primaryType: 'SafeMessage', message: { message } }),
    )
  return {
    address,
    owner: owners[0]!,
    creation,
    /** The owners' signatures of a text for this Safe (ERC-1271), or of bytes. */
    signText: (message: string) => signBytes(hashMessage(message)),
    signBytes,
    /** What of these bytes an owner that is a contract is asked to confirm. */
    encodeMessage: (message: Hex): Hex =>
      concat([
        '0x1901',
        domainSeparator({ domain }),
        hashStruct({ types: messageTypes, primaryType: 'SafeMessage', data: { message } }),
      ]),
    /** A signature wrapped with what creates the Safe (ERC-6492). */
    wrap: (signature: Hex): Hex =>
      concat([
        encodeAbiParameters(
          [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }],
          [creation.to, creation.data, signature],
        ),
        magicSuffix,
      ]),
    /** The id of a transaction in the Safe's own programs, which no node knows. */
    idOf: (call: { to: Address; data: Hex }, nonce: bigint): Hex =>
      hashTypedData(typedTransaction(domain, call, nonce)),
    /** The transaction by which the Safe makes a call; anyone may send it. */
    execute: async (call: { to: Address; data: Hex }, nonce: bigint) => {
      const typed = typedTransaction(domain, call, nonce)
      const signature = await signAll((owner) => owner.signTypedData(typed))
      const args = [call.to, 0n, call.data, 0, 0n, 0n, 0n, zeroAddress, zeroAddress, signature]
      return { to: address, data: encodeFunctionData({ abi: safe.abi, functionName: 'execTransaction', args }) }
    },
  }
}

function typedTransaction(
  domain: { chainId: number; verifyingContract: Address },
  call: { to: Address; data: Hex },
  nonce: bigint,
) {
  const free = { safeTxGas: 0n, baseGas: 0n, gasPrice: 0n, gasToken: zeroAddress, refundReceiver: zeroAddress }
  return {
    domain,
    types: {
      SafeTx: [
        { name: 'to', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'data', type: 'bytes' },
        { name: 'operation', type: 'uint8' },
        { name: 'safeTxGas', type: 'uint256' },
        { name: 'baseGas', type: 'uint256' },
        { name: 'gasPrice', type: 'uint256' },
        { name: 'gasToken', type: 'address' },
        { name: 'refundReceiver', type: 'address' },
        { name: 'nonce', type: 'uint256' },
      ],
    },
    primaryType: 'SafeTx',
    message: { ...call, value: 0n, operation: 0, ...free, nonce },
  } as const
}
