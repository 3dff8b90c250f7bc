import { buildSuffix } from '@openearn/attribution'
import {
  type Address,
  bytesToHex,
  concat,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  hexToBytes,
  keccak256,
  numberToHex,
  pad,
  parseAbi,
  size,
  toHex,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import {
  buildTrie,
  computeEntries,
  encodeHeader,
  encodeReceipt,
  readPath,
  readReceipt,
  readTransaction,
  recoverSender,
} from '../src/codec.js'
import type { AttributionProof, Ground, ProofTrust } from '../src/proof/index.js'
import { bloomOf } from './bloom.js'

/** Blocks made by hand, with proofs of an entry for each kind of wallet. */

const key = (n: number): Hex => pad(toHex(n))
const address = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`
const signerKey = key(0x51)
export const chainId = 8453
export const vault = address(0xa11)
const entryPoint: Address = '0x0000000071727de22e5e9d8baf0edac6f37da032'
export const trust: ProofTrust = {
  vaults: [{ address: vault, kind: 'erc4626' }],
  signers: [privateKeyToAccount(signerKey).address],
  distributors: ['acme', 'bolt'],
}

type Log = { address: Address; topics: Hex[]; data: Hex }
type Sent = { to: Address; input: Hex; from?: number; authorizes?: boolean; legacy?: boolean }
export type Case = {
  sent: Sent
  logs: Log[]
  wallet: Address
  assets: bigint
  rule: 'signed' | 'unsigned'
  restsOn: Ground[]
}
type Made = Omit<Case, 'rule' | 'restsOn'> & { lacks?: Ground[] }

const word = (value: bigint): Hex => pad(toHex(value))
const log = (emitter: Address, topics: (Hex | string)[], data: Hex): Log => ({
  address: emitter,
  topics: topics.map((topic) => pad(topic as Hex)),
  data,
})
const transferTopic: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const transfer = (from: Address, to: Address, shares: bigint) => log(vault, [transferTopic, from, to], word(shares))
const depositLogs = (sender: Address, owner: Address, assets: bigint, shares: bigint): Log[] => [
  transfer(address(0), owner, shares),
  log(
    vault,
    ['0xdcbc1c05240f31ff3ad067ef1ee35ce4997762752e3a095284754544f4c709d7', sender, owner],
    concat([word(assets), word(shares)]),
  ),
]
const vaultAbi = parseAbi(['function deposit(uint256, address)', 'function redeem(uint256, address, address)'])
const walletAbi = parseAbi([
  'function execute(address, uint256, bytes)',
  'function execTransaction(address, uint256, bytes, uint8, uint256, uint256, uint256, address, address, bytes)',
  'function zap(address, bytes)',
])

/** A call with a suffix after it, signed by us or not. */
function tag(
  call: Hex,
  { wallet, target = vault, signs = true }: { wallet: Address; target?: Address; signs?: boolean },
) {
  const given = { code: 'acme', actionId: '00112233-4455-6677-8899-aabbccddeeff', chainId, wallet, target, data: call }
  const privateKey = signs ? signerKey : key(0x99)
  return concat([call, buildSuffix({ ...given, privateKey })])
}

const deposit = (assets: bigint, owner: Address): Hex =>
  encodeFunctionData({ abi: vaultAbi, functionName: 'deposit', args: [assets, owner] })

const operation = [
  ...['address', 'uint256', 'bytes', 'bytes', 'bytes32', 'uint256', 'bytes32', 'bytes'].map((type) => ({ type })),
] as const

/** One transaction of each kind of wallet, with the logs that its contracts emit, and what its entry is to say. */
export function makeCase(kind: string, n: number, random: () => number): Case {
  const signs = random() < 0.5
  const { lacks = [], ...made } = makeSent(kind, n, random, signs)
  const grounds: Ground[] = ['path', 'trace', 'state', 'history', 'configuration']
  const restsOn = grounds.filter((each) => !lacks.includes(each) && (signs || each !== 'history'))
  return { ...made, rule: signs ? 'signed' : 'unsigned', restsOn }
}

function makeSent(kind: string, n: number, random: () => number, signs: boolean): Made {
  const sender = privateKeyToAccount(key(1 + n)).address.toLowerCase() as Address
  const wallet = address(0xc0ffee0000 + n)
  const assets = BigInt(1 + Math.floor(random() * 1e12))
  const shares = BigInt(1 + Math.floor(random() * 1e12))
  const from = 1 + n
  const noise = log(address(0xdead), [keccak256('0x01')], '0x')
  if (kind === 'EOA' || kind === 'EOA, withdrawal') {
    if (kind === 'EOA')
      return {
        sent: { to: vault, input: tag(deposit(assets, sender), { wallet: sender, signs }), from, legacy: signs },
        logs: [noise, ...depositLogs(sender, sender, assets, shares)],
        ...{ wallet: sender, assets, lacks: ['trace', 'state'] },
      }
    const call = encodeFunctionData({ abi: vaultAbi, functionName: 'redeem', args: [shares, sender, sender] })
    const topic: Hex = '0xfbde797d201c681b91056529119e0b02407c7bb96a4a2c75c01fc9667232c8db'
    const told = log(vault, [topic, sender, sender, sender], concat([word(assets), word(shares)]))
    return {
      sent: { to: vault, input: tag(call, { wallet: sender, signs }), from },
      logs: [transfer(sender, address(0), shares), told],
      ...{ wallet: sender, assets, lacks: ['trace', 'state'] },
    }
  }
  if (kind === '7702') {
    const inner = tag(deposit(assets, sender), { wallet: sender, signs })
    const input = encodeFunctionData({ abi: walletAbi, functionName: 'execute', args: [vault, 0n, inner] })
    const logs = depositLogs(sender, sender, assets, shares)
    return { sent: { to: sender, input, from, authorizes: true }, logs, wallet: sender, assets, lacks: ['state'] }
  }
  if (kind === 'Safe') {
    const inner = tag(deposit(assets, wallet), { wallet, signs })
    const args = [vault, 0n, inner, 0, 0n, 0n, 0n, address(0), address(0), `0x${'11'.repeat(65)}`] as const
    const input = encodeFunctionData({ abi: walletAbi, functionName: 'execTransaction', args })
    const logs = depositLogs(wallet, wallet, assets, shares)
    return { sent: { to: wallet, input, from }, logs, wallet, assets, lacks: ['state'] }
  }
  if (kind === 'router') {
    const router = address(0xb0b)
    const call = encodeFunctionData({ abi: walletAbi, functionName: 'zap', args: [vault, `0x${'ab'.repeat(40)}`] })
    const input = tag(call, { wallet: sender, target: router, signs })
    const logs = [...depositLogs(router, router, assets, shares), transfer(router, sender, shares)]
    return { sent: { to: router, input, from }, logs, wallet: sender, assets, lacks: ['state'] }
  }
  // 4337: two operations of one bundle, of which the second is ours; the other names somebody else.
  const operations = [address(0xc0ffee0000 + n + 500_000), wallet].map((account, index) => {
    const call = deposit(assets, account)
    const body = encodeFunctionData({ abi: walletAbi, functionName: 'execute', args: [vault, 0n, call] })
    const suffix = tag(call, { wallet: account, signs }).slice(call.length)
    const callData =
      index === 1 ? concat([body, `0x${suffix}`]) : concat([body, '0x626f6c74040080218021802180218021802180218021'])
    const gas = pad('0x01')
    const fields = [account, BigInt(n), '0x', callData, gas, 21_000n, gas, '0x'] as const
    const bytes32 = keccak256('0x')
    const packed = encodeAbiParameters(
      ['address', 'uint256', 'bytes32', 'bytes32', 'bytes32', 'uint256', 'bytes32', 'bytes32'].map((type) => ({
        type,
      })),
      [account, BigInt(n), bytes32, keccak256(callData), gas, 21_000n, gas, bytes32],
    )
    const outer = [{ type: 'bytes32' }, { type: 'address' }, { type: 'uint256' }] as const
    const hash = keccak256(encodeAbiParameters(outer, [keccak256(packed), entryPoint, BigInt(chainId)]))
    return { account, fields, hash }
  })
  const tuples = operations.map(({ fields }) => encodeAbiParameters(operation as never, fields as never))
  const offsets = tuples.map((_, at) =>
    word(BigInt(64 + tuples.slice(0, at).reduce((sum, each) => sum + size(each), 0))),
  )
  const list = concat([word(2n), ...offsets, ...tuples])
  const input = concat(['0x765e827f', word(64n), pad(address(0xbee)), list])
  const ended: Hex = '0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f'
  const logs = operations.flatMap(({ account, hash }) => [
    ...depositLogs(account, account, assets, shares),
    log(entryPoint, [ended, hash, account, address(0)], concat([word(BigInt(n)), word(1n), word(9n), word(9n)])),
  ])
  const began = log(entryPoint, ['0xbb47ee3e183a558b1a2ff0874b079f3fc5478b7454eacf2bfc5af2ff5878f972'], '0x')
  return { sent: { to: entryPoint, input, from }, logs: [began, ...logs], wallet, assets, lacks: ['state'] }
}

export const kinds = ['EOA', 'EOA, withdrawal', '4337', '7702', 'Safe', 'router']

async function sign({ to, input, from = 1, authorizes, legacy }: Sent): Promise<Hex> {
  const account = privateKeyToAccount(key(from))
  const common = { chainId, to, data: input, gas: 1_000_000n, nonce: from }
  if (legacy) return account.signTransaction({ ...common, type: 'legacy', gasPrice: 1n })
  const fees = { ...common, maxFeePerGas: 2n, maxPriorityFeePerGas: 1n }
  if (!authorizes) return account.signTransaction({ ...fees, type: 'eip1559' })
  const delegation = await account.signAuthorization({ chainId, address: address(0x7702), nonce: 1 })
  return account.signTransaction({ ...fees, type: 'eip7702', authorizationList: [delegation] })
}

/** A block of these transactions: its hash, and the bytes of a proof of each. */
export async function makeBlock(cases: readonly Pick<Case, 'sent' | 'logs'>[], isReverted = false) {
  const hash = (bytes: Uint8Array) => keccak256(bytes, 'bytes')
  const transactions = await Promise.all(cases.map(async ({ sent }) => hexToBytes(await sign(sent))))
  const receipts = cases.map(({ logs, sent }, at) =>
    encodeReceipt({
      type: sent.legacy ? '0x0' : sent.authorizes ? '0x4' : '0x2',
      status: isReverted ? '0x0' : '0x1',
      cumulativeGasUsed: numberToHex(21_000 * (at + 1)),
      logsBloom: bloomOf(logs),
      logs,
    }),
  )
  const [left, right] = [buildTrie(transactions, hash), buildTrie(receipts, hash)]
  const header = encodeHeader({
    ...{ parentHash: pad('0x01'), sha3Uncles: pad('0x02'), miner: address(3), stateRoot: pad('0x04') },
    ...{ transactionsRoot: bytesToHex(left.root), receiptsRoot: bytesToHex(right.root), nonce: '0x0000000000000000' },
    ...{
      logsBloom: bloomOf(cases.flatMap(({ logs }) => logs)),
      difficulty: '0x0',
      number: '0x1234',
      gasLimit: '0x1c9c380',
    },
    ...{ gasUsed: '0x5208', timestamp: '0x65000000', extraData: '0x', mixHash: pad('0x05'), baseFeePerGas: '0x7' },
    ...{ withdrawalsRoot: pad('0x06'), blobGasUsed: '0x0', excessBlobGas: '0x0', parentBeaconBlockRoot: pad('0x07') },
    requestsHash: pad('0x08'),
  })
  const blockHash = keccak256(header)
  const roots = { transactions: left.root, receipts: right.root }
  const prove = (index: number): AttributionProof => ({
    ...{ version: 1, chainId, txHash: keccak256(transactions[index] ?? new Uint8Array()), blockHash },
    header: bytesToHex(header),
    transaction: { index, path: left.path(index).map((node) => bytesToHex(node)) },
    receipt: { index, path: right.path(index).map((node) => bytesToHex(node)) },
    entries: [],
  })
  return { blockHash, prove, roots }
}

/** The proof with all entries that its bytes decide. */
export async function proveEntries(proof: AttributionProof): Promise<AttributionProof> {
  const nodesOf = (path: readonly string[]) => path.map((node) => hexToBytes(node as Hex))
  const leafOf = ({ index, path }: AttributionProof['receipt']) => {
    const nodes = nodesOf(path)
    const hash = (bytes: Uint8Array) => keccak256(bytes, 'bytes')
    return readPath({ root: hash(nodes[0] ?? new Uint8Array()), index, path: nodes }, hash) ?? new Uint8Array()
  }
  const transaction = readTransaction(leafOf(proof.transaction))
  const logs = readReceipt(leafOf(proof.receipt))
  if (!transaction || !logs) throw new Error('the block was made wrongly')
  const from = await recoverSender(transaction)
  if (!from) throw new Error('nobody signed')
  const lower = (text: string) => text.toLowerCase() as Hex
  const entries = await computeEntries(
    { chainId: BigInt(chainId), blockHash: lower(proof.blockHash), transaction: { ...transaction, from }, logs },
    {
      vaults: new Map([[vault, { kind: 'erc4626', share: vault }]]),
      signers: trust.signers.map((each) => lower(String(each))),
      entryPoints: [entryPoint],
      distributors: trust.distributors,
    },
  )
  return { ...proof, entries: entries.map(({ kind: _, vault: __, proved: ___, ...entry }) => entry) }
}
