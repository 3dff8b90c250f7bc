import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SimpleMerkleTree, StandardMerkleTree } from '@openzeppelin/merkle-tree'
import fc from 'fast-check'
import {
  type Address,
  bytesToHex,
  concat,
  decodeErrorResult,
  domainSeparator,
  encodeFunctionData,
  encodePacked,
  getAddress,
  type Hex,
  hashStruct,
  hashTypedData,
  keccak256,
  maxUint256,
  parseEther,
  recoverAddress,
} from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { streamAbi, streamFactoryAbi, streamFactoryBytecode, testTokenAbi, testTokenBytecode } from '../abi/index.js'
import { type Anvil, account, startAnvil } from './anvil.js'

const start = 1_700_000_000
const [owner, verifier, committer, collector, pauser, admin] = [0, 1, 2, 3, 4, 5].map(account) as [
  ReturnType<typeof account>,
  ReturnType<typeof account>,
  ReturnType<typeof account>,
  ReturnType<typeof account>,
  ReturnType<typeof account>,
  ReturnType<typeof account>,
]

const readVectors = <T>(name: string): T =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../../service/test/vectors', name), 'utf8')) as T

type Field = { name: string; type: string }
type CreateMessage = {
  creator: Address
  params: { streamId: Hex; rewardToken: Address; netTotalAmount: string; feeAmount: string }
  deadline: number
}
type AddMessage = {
  admin: Address
  params: { stream: Address; netAmount: string; feeAmount: string }
  salt: Hex
  deadline: number
}
type WithdrawMessage = {
  admin: Address
  params: { stream: Address; to: Address; amount: string }
  salt: Hex
  deadline: number
}
type Message =
  | { primaryType: 'CreateStream'; message: CreateMessage }
  | { primaryType: 'AddFunds'; message: AddMessage }
  | { primaryType: 'WithdrawFunds'; message: WithdrawMessage }
type Vector = Message & {
  structHash: Hex
  digest: Hex
  signature: Hex
  signatureBase64: string
  calldata: Hex
}
const typed = readVectors<{
  verifier: { address: Address }
  domain: { name: string; version: string; chainId: number; verifyingContract: Address }
  domainSeparator: Hex
  types: Record<string, Field[]>
  vectors: Vector[]
}>('eip712.json')

type Tree = { size: number; leaves: { address: Address; cumulative: string; leaf: Hex }[]; exampleRoot: Hex }
const { trees } = readVectors<{ trees: Tree[] }>('stream-leaves.json')

const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)
const idOf = (n: number): Hex => `0x${n.toString(16).padStart(32, '0')}`

describe('the stream contracts on a chain', () => {
  let chain: Anvil
  let factory: Address
  let token: Address
  let streamCount = 0

  beforeAll(async () => {
    chain = await startAnvil({ timestamp: start })
    const holders = [verifier, verifier, committer, collector, pauser].map(({ address }) => address)
    factory = await chain.deploy({
      abi: streamFactoryAbi,
      bytecode: streamFactoryBytecode,
      args: [owner.address, holders],
    })
    const args = ['Reward', 'RWD', 18]
    token = await chain.deploy({ abi: testTokenAbi, bytecode: testTokenBytecode, args })
    for (const { address } of [verifier, committer, admin]) {
      await chain.done(
        chain.client.writeContract({
          address: token,
          abi: testTokenAbi,
          functionName: 'mint',
          args: [address, 10n ** 33n],
        }),
      )
    }
    for (const who of [verifier, committer, admin]) {
      await chain.done(
        chain.client.writeContract({
          account: who,
          address: token,
          abi: testTokenAbi,
          functionName: 'approve',
          args: [factory, maxUint256],
        }),
      )
    }
  }, 60_000)

  afterAll(() => chain.stop())

  const at = (stream: Address) => ({ address: stream, abi: streamAbi }) as const
  const balance = (holder: Address) =>
    chain.client.readContract({ address: token, abi: testTokenAbi, functionName: 'balanceOf', args: [holder] })

  /** A new stream of `admin` with this budget and no fee. */
  const createStream = async (budget: bigint): Promise<Address> => {
    const params = { streamId: idOf(++streamCount), rewardToken: token, netTotalAmount: budget, feeAmount: 0n }
    const deadline = 2 ** 40 - 1
    const digest = await chain.client.readContract({
      address: factory,
      abi: streamFactoryAbi,
      functionName: 'getCreateStreamDigest',
      args: [admin.address, params, deadline],
    })
    const signature = await verifier.sign({ hash: digest })
    await chain.done(
      chain.client.writeContract({
        account: admin,
        address: factory,
        abi: streamFactoryAbi,
        functionName: 'createStream',
        args: [params, deadline, signature],
      }),
    )
    return chain.client.readContract({
      address: factory,
      abi: streamFactoryAbi,
      functionName: 'getStreamAddress',
      args: [params.streamId],
    })
  }

  const commit = async (stream: Address, root: Hex, totalAllocated: bigint): Promise<number> => {
    const timestamp = Number((await chain.client.getBlock()).timestamp)
    await chain.pass(1)
    const args = [root, timestamp, totalAllocated] as const
    await chain.done(
      chain.client.writeContract({ ...at(stream), account: committer, functionName: 'updateRoot', args }),
    )
    return timestamp
  }

  const growTree = (leaves: Tree['leaves']) =>
    SimpleMerkleTree.of(
      leaves.map(({ address, cumulative }) =>
        keccak256(encodePacked(['address', 'uint256'], [address, BigInt(cumulative)])),
      ),
      { sortLeaves: false },
    )

  const proofOf = (tree: SimpleMerkleTree, index: number) => tree.getProof(index) as Hex[]

  /** Why the chain refuses a call, by the name of its error. */
  const reasonOf = async (call: { to: Address; from: Address; data: Hex }): Promise<string> => {
    const answer = await fetch(chain.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_call', params: [call, 'latest'] }),
    })
    const body = (await answer.json()) as { error?: { data?: Hex } }
    if (body.error?.data === undefined) return 'accepted'
    const abi = [...streamFactoryAbi, ...streamAbi].filter((item) => item.type === 'error')
    return decodeErrorResult({ abi, data: body.error.data }).errorName
  }

  test('the domain of the vectors is read back by eip712Domain', async () => {
    expect(factory).toBe(typed.domain.verifyingContract)
    const [fields, name, version, chainId, verifyingContract, salt, extensions] = await chain.client.readContract({
      address: factory,
      abi: streamFactoryAbi,
      functionName: 'eip712Domain',
    })
    expect({ name, version, chainId: Number(chainId), verifyingContract }).toEqual(typed.domain)
    expect({ fields, salt, extensions }).toEqual({ fields: '0x0f', salt: `0x${'0'.repeat(64)}`, extensions: [] })
    expect(domainSeparator({ domain: typed.domain })).toBe(typed.domainSeparator)
  })

  test.each(typed.vectors.map((vector, index) => [index, vector.primaryType, vector] as const))(
    'vector %i (%s): struct hash, digest and calldata are the contract’s own',
    async (_index, primaryType, vector) => {
      expect(hashStruct({ data: vector.message, primaryType, types: typed.types })).toBe(vector.structHash)
      expect(keccak256(concat(['0x1901', typed.domainSeparator, vector.structHash]))).toBe(vector.digest)
      expect(await readDigest(vector)).toBe(vector.digest)
      expect(encodeCall(vector)).toBe(vector.calldata)
      expect(Buffer.from(vector.signatureBase64, 'base64').toString('hex')).toBe(vector.signature.slice(2))
      expect(await recoverAddress({ hash: vector.digest, signature: vector.signature })).toBe(typed.verifier.address)
    },
  )

  const readDigest = (vector: Message): Promise<Hex> => {
    const of = { address: factory, abi: streamFactoryAbi } as const
    if (vector.primaryType === 'CreateStream') {
      const { creator, params, deadline } = vector.message
      const args = [
        creator,
        { ...params, netTotalAmount: BigInt(params.netTotalAmount), feeAmount: BigInt(params.feeAmount) },
        deadline,
      ] as const
      return chain.client.readContract({ ...of, functionName: 'getCreateStreamDigest', args })
    }
    if (vector.primaryType === 'AddFunds') {
      const { admin: sender, params, salt, deadline } = vector.message
      const amounts = { netAmount: BigInt(params.netAmount), feeAmount: BigInt(params.feeAmount) }
      const args = [sender, { ...params, ...amounts }, salt, deadline] as const
      return chain.client.readContract({ ...of, functionName: 'getAddFundsDigest', args })
    }
    const { admin: sender, params, salt, deadline } = vector.message
    const args = [sender, { ...params, amount: BigInt(params.amount) }, salt, deadline] as const
    return chain.client.readContract({ ...of, functionName: 'getWithdrawFundsDigest', args })
  }

  const encodeCall = (vector: Vector): Hex => {
    if (vector.primaryType === 'CreateStream') {
      const { params, deadline } = vector.message
      const amounts = { netTotalAmount: BigInt(params.netTotalAmount), feeAmount: BigInt(params.feeAmount) }
      const args = [{ ...params, ...amounts }, deadline, vector.signature] as const
      return encodeFunctionData({ abi: streamFactoryAbi, functionName: 'createStream', args })
    }
    if (vector.primaryType === 'AddFunds') {
      const { params, salt, deadline } = vector.message
      const amounts = { netAmount: BigInt(params.netAmount), feeAmount: BigInt(params.feeAmount) }
      const args = [{ ...params, ...amounts }, salt, deadline, vector.signature] as const
      return encodeFunctionData({ abi: streamFactoryAbi, functionName: 'addFunds', args })
    }
    const { params, salt, deadline } = vector.message
    const args = [{ ...params, amount: BigInt(params.amount) }, salt, deadline, vector.signature] as const
    return encodeFunctionData({ abi: streamFactoryAbi, functionName: 'withdrawFunds', args })
  }

  test('any message is hashed by the contract as by EIP-712', async () => {
    const bytes = (length: number) =>
      fc.uint8Array({ minLength: length, maxLength: length }).map((array) => bytesToHex(array))
    const address = bytes(20).map((hex) => getAddress(hex))
    const amount = fc.bigInt({ min: 0n, max: maxUint256 }).map(String)
    const deadline = fc.nat(2 ** 40 - 1)
    const types = typed.types
    const message = fc.oneof(
      fc.record({
        primaryType: fc.constant('CreateStream' as const),
        message: fc.record({
          creator: address,
          params: fc.record({
            streamId: bytes(16),
            rewardToken: address,
            netTotalAmount: amount,
            feeAmount: amount,
          }),
          deadline,
        }),
      }),
      fc.record({
        primaryType: fc.constant('AddFunds' as const),
        message: fc.record({
          admin: address,
          params: fc.record({ stream: address, netAmount: amount, feeAmount: amount }),
          salt: bytes(32),
          deadline,
        }),
      }),
      fc.record({
        primaryType: fc.constant('WithdrawFunds' as const),
        message: fc.record({
          admin: address,
          params: fc.record({ stream: address, to: address, amount }),
          salt: bytes(32),
          deadline,
        }),
      }),
    )
    await fc.assert(
      fc.asyncProperty(message, async (one) => {
        const expected = hashTypedData({ domain: typed.domain, types, ...one })
        expect(await readDigest(one)).toBe(expected)
      }),
      { numRuns: 150 },
    )
  })

  test('the vectors’ calldata is judged by the chain: good signatures pass, an expired one and foreign streams do not', async () => {
    const verdicts: string[] = []
    for (const vector of typed.vectors) {
      const from = 'creator' in vector.message ? vector.message.creator : vector.message.admin
      verdicts.push(await reasonOf({ to: factory, from, data: vector.calldata }))
    }
    expect(verdicts).toEqual([
      'accepted',
      'accepted',
      'DeadlineExpired',
      'UnknownStream',
      'UnknownStream',
      'UnknownStream',
      'UnknownStream',
    ])
    const [vector] = typed.vectors
    await chain.done(chain.client.sendTransaction({ account: verifier, to: factory, data: vector!.calldata }))
    expect(await reasonOf({ to: factory, from: verifier.address, data: vector!.calldata })).toBe('StreamAlreadyExists')
    expect(await reasonOf({ to: factory, from: admin.address, data: vector!.calldata })).toBe('InvalidSignature')
    expect(await balance(collector.address)).toBe(parseEther('15'))
  })

  test.each(trees.map((tree) => [tree.size, tree] as const))(
    'every proof of a tree of %i leaves is paid once and in full',
    async (_size, { leaves, exampleRoot }) => {
      const { client, done } = chain
      const tree = growTree(leaves)
      expect(tree.root).toBe(exampleRoot)
      const total = sum(leaves.map(({ cumulative }) => BigInt(cumulative)))
      const stream = await createStream(total)
      const timestamp = await commit(stream, exampleRoot, total)
      for (const [index, { address, cumulative, leaf }] of leaves.entries()) {
        const user = getAddress(address)
        const amount = BigInt(cumulative)
        expect(tree.at(index)).toBe(leaf)
        const args = [amount, timestamp, proofOf(tree, index)] as const
        await client.setBalance({ address: user, value: parseEther('1') })
        await client.impersonateAccount({ address: user })
        const before = await balance(user)
        expect(await client.readContract({ ...at(stream), functionName: 'canClaim', args: [user, ...args] })).toBe(true)
        await done(client.writeContract({ ...at(stream), account: user, functionName: 'claim', args }))
        expect((await balance(user)) - before).toBe(amount)
        const again = encodeFunctionData({ abi: streamAbi, functionName: 'claim', args })
        expect(await reasonOf({ to: stream, from: user, data: again })).toBe('NothingToClaim')
      }
      expect(await balance(stream)).toBe(0n)
      expect(await client.readContract({ ...at(stream), functionName: 'getTotalClaimed' })).toBe(total)
    },
    60_000,
  )

  test('wrong, stale and foreign proofs fail, and a proof for the previous root does not', async () => {
    const { leaves } = trees.find(({ size }) => size === 9)!
    const total = sum(leaves.map(({ cumulative }) => BigInt(cumulative)))
    const [first, second] = [leaves[0]!, leaves[1]!]
    const tree = growTree(leaves)
    const foreign = growTree(leaves.map((leaf) => ({ ...leaf, cumulative: String(BigInt(leaf.cumulative) + 1n) })))
    const stream = await createStream(total)
    const timestamp = await commit(stream, tree.root as Hex, total)
    const amount = BigInt(first.cumulative)
    const proof = proofOf(tree, 0)
    const judge = (from: Address, amountAsked: bigint, time: number, path: readonly Hex[]) =>
      reasonOf({
        to: stream,
        from,
        data: encodeFunctionData({ abi: streamAbi, functionName: 'claim', args: [amountAsked, time, path] }),
      })

    expect(await judge(first.address, amount, timestamp, proof)).toBe('accepted')
    expect(await judge(first.address, amount + 1n, timestamp, proof)).toBe('InvalidProof')
    expect(await judge(second.address, amount, timestamp, proof)).toBe('InvalidProof')
    expect(await judge(first.address, amount, timestamp, proofOf(tree, 1))).toBe('InvalidProof')
    expect(await judge(first.address, amount, timestamp, proof.slice(1))).toBe('InvalidProof')
    expect(await judge(first.address, amount, timestamp, [...proof, proof[0]!])).toBe('InvalidProof')
    expect(await judge(first.address, amount + 1n, timestamp, proofOf(foreign, 0))).toBe('InvalidProof')
    const rows = leaves.map(({ address, cumulative }) => [address, cumulative])
    const doubleHashed = StandardMerkleTree.of(rows, ['address', 'uint256'])
    expect(await judge(first.address, amount, timestamp, doubleHashed.getProof(0) as Hex[])).toBe('InvalidProof')

    const next = await commit(stream, foreign.root as Hex, total)
    expect(await judge(first.address, amount, timestamp, proof)).toBe('accepted')
    expect(await judge(first.address, amount + 1n, next, proofOf(foreign, 0))).toBe('accepted')
    expect(await judge(first.address, amount, next, proof)).toBe('InvalidProof')
    await commit(stream, tree.root as Hex, total)
    expect(await judge(first.address, amount, timestamp, proof)).toBe('UnknownRoot')
  })
})
