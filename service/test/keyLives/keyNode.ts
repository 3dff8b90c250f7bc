import { type Hex, keccak256, numberToHex, parseTransaction } from 'viem'
import { RpcError, type RpcRequest } from '../../src/rpc/rpc.js'
import type { Random } from '../simulation/random.js'

type Sent = {
  raw: Hex
  hash: Hex
  nonce: number
  to: Hex
  data: Hex
  value: bigint
  gas: bigint
  maxFee: bigint
  tip: bigint
}
type Mined = Sent & { success: boolean; gasUsed: bigint; price: bigint; l1Fee: bigint }
type Block = {
  number: number
  hash: Hex
  parentHash: Hex
  baseFee: bigint
  mined: Mined[]
  count: number
  balance: bigint
}

/** Gas that a call with data uses; an empty transaction uses 21,000. */
const callGas = 60_000n
/** Where the OP Stack has the contract that tells the part for posting. */
const gasPriceOracle = '0x420000000000000000000000000000000000000f'
const smaller = (a: bigint, b: bigint) => (a < b ? a : b)
const nobody: Hex = `0x${'00'.repeat(20)}`

/**
 * A node as one account sees it, honest and in memory: blocks with a base fee (EIP-1559), a pool that takes, replaces and
 * refuses as Geth's does, reorganisations. Answers have the shapes of JSON-RPC.
 */
export function createKeyNode(
  address: string,
  given: { random: Random; balance: bigint; count: number; l1Fee: bigint },
) {
  const { random } = given
  let forks = 0
  let baseFee = 10n ** 10n
  const hashOf = (number: number): Hex =>
    keccak256(`0x${number.toString(16).padStart(16, '0')}${(forks++).toString(16).padStart(16, '0')}`)
  const blocks: Block[] = []
  const pool = new Map<number, Sent>()
  const makeBlock = (mined: Mined[], count: number, balance: bigint): void => {
    const number = blocks.length
    blocks.push({
      number,
      hash: hashOf(number),
      parentHash: blocks.at(-1)?.hash ?? `0x${'0'.repeat(64)}`,
      baseFee,
      mined,
      count,
      balance,
    })
  }
  for (let at = 0; at < 100; at++) makeBlock([], given.count, given.balance)
  const tipOf = () => blocks.at(-1) as Block
  const costOf = ({ value, gas, maxFee }: Sent) => value + gas * maxFee

  const mineOne = (): void => {
    const parent = tipOf()
    let { count, balance } = parent
    const mined: Mined[] = []
    for (let next = pool.get(count); next; next = pool.get(count)) {
      if (next.maxFee < baseFee || costOf(next) + given.l1Fee > balance) break
      const needed = next.data === '0x' ? 21_000n : callGas
      const success = next.gas >= needed
      const gasUsed = success ? needed : next.gas
      const price = smaller(next.maxFee, baseFee + next.tip)
      mined.push({ ...next, success, gasUsed, price, l1Fee: given.l1Fee })
      balance -= gasUsed * price + given.l1Fee + (success ? next.value : 0n)
      if (next.to === address && success) balance += next.value
      pool.delete(count)
      count += 1
    }
    makeBlock(mined, count, balance)
  }

  const take = (raw: Hex): Hex => {
    const {
      nonce = 0,
      to,
      data = '0x',
      value = 0n,
      gas = 0n,
      maxFeePerGas = 0n,
      maxPriorityFeePerGas = 0n,
    } = parseTransaction(raw)
    const hash = keccak256(raw)
    const sent: Sent = {
      raw,
      hash,
      nonce,
      to: (to ?? nobody).toLowerCase() as Hex,
      data,
      value,
      gas,
      maxFee: maxFeePerGas,
      tip: maxPriorityFeePerGas,
    }
    const { count, balance } = tipOf()
    if (nonce < count) throw new RpcError(-32_000, `nonce too low: next nonce ${count}, tx nonce ${nonce}`, undefined)
    const other = pool.get(nonce)
    if (other?.hash === hash) throw new RpcError(-32_000, 'already known', undefined)
    const others = [...pool.values()].filter((each) => each.nonce < nonce).reduce((sum, each) => sum + costOf(each), 0n)
    if (others + costOf(sent) + given.l1Fee > balance)
      throw new RpcError(
        -32_000,
        `insufficient funds for gas * price + value: balance ${balance}, tx cost ${costOf(sent)}`,
        undefined,
      )
    if (other && (sent.maxFee * 10n < other.maxFee * 11n || sent.tip * 10n < other.tip * 11n))
      throw new RpcError(-32_000, 'replacement transaction underpriced', undefined)
    pool.set(nonce, sent)
    return hash
  }

  const receiptOf = (hash: string) => {
    for (const block of [...blocks].reverse()) {
      const found = block.mined.find((each) => each.hash === hash)
      if (found)
        return {
          ...{
            transactionHash: hash,
            blockNumber: numberToHex(block.number),
            blockHash: block.hash,
            transactionIndex: '0x0',
          },
          ...{ status: found.success ? '0x1' : '0x0', gasUsed: numberToHex(found.gasUsed), logs: [] },
          ...{
            effectiveGasPrice: numberToHex(found.price),
            ...(found.l1Fee > 0n ? { l1Fee: numberToHex(found.l1Fee) } : {}),
          },
        }
    }
    return null
  }
  const pendingCount = () => {
    let { count } = tipOf()
    while (pool.has(count)) count += 1
    return count
  }
  const blockAt = (at: unknown) => (at === 'latest' ? tipOf() : blocks[Number(at)])

  const answerTo = (method: string, params: readonly unknown[]): unknown => {
    const [first, second] = params
    if (method === 'eth_getBlockByNumber') {
      const block = blockAt(first)
      if (!block) return null
      const { number, hash, parentHash, mined } = block
      const transactions = mined.map((each) => ({
        ...{ hash: each.hash, from: address, to: each.to, nonce: numberToHex(each.nonce), input: each.data },
        ...{ value: numberToHex(each.value), gas: numberToHex(each.gas), maxFeePerGas: numberToHex(each.maxFee) },
        ...{ maxPriorityFeePerGas: numberToHex(each.tip), gasPrice: numberToHex(each.price) },
      }))
      return {
        number: numberToHex(number),
        hash,
        parentHash,
        timestamp: numberToHex(1_760_000_000 + number * 12),
        transactions: second === true ? transactions : [],
      }
    }
    if (method === 'eth_getTransactionCount')
      return numberToHex(second === 'pending' ? pendingCount() : (blockAt(second)?.count ?? 0))
    if (method === 'eth_getTransactionReceipt') return receiptOf(String(first))
    if (method === 'eth_getBalance') return numberToHex(tipOf().balance)
    if (method === 'eth_feeHistory')
      return {
        baseFeePerGas: [numberToHex(tipOf().baseFee), numberToHex(baseFee)],
        gasUsedRatio: [0.5],
        oldestBlock: '0x1',
        reward: [['0x3b9aca00']],
      }
    if (method === 'eth_call')
      return given.l1Fee > 0n && (first as { to: string }).to === gasPriceOracle
        ? numberToHex(given.l1Fee, { size: 32 })
        : '0x'
    if (method === 'eth_estimateGas') {
      const { data, maxFeePerGas } = first as { data: string; maxFeePerGas?: Hex }
      const gas = data === '0x' ? 21_000n : callGas
      if (maxFeePerGas && BigInt(maxFeePerGas) * gas > tipOf().balance)
        throw new RpcError(
          -32_000,
          `gas required exceeds allowance (${tipOf().balance / (BigInt(maxFeePerGas) || 1n)})`,
          undefined,
        )
      return numberToHex(gas)
    }
    if (method === 'eth_sendRawTransaction') return take(first as Hex)
    throw new RpcError(-32_601, `the method ${method} does not exist`, undefined)
  }

  return {
    request: async ({ method, params = [] }: RpcRequest) => answerTo(method, params as unknown[]),
    mine: (count: number) => {
      for (let at = 0; at < count; at++) mineOne()
    },
    /** Takes blocks back and makes as many others and one more; what was in them returns to the pool, or is forgotten. */
    reorganise: (depth: number, keep: 'all' | 'none' | 'some') => {
      const dropped = blocks.splice(blocks.length - Math.min(depth, blocks.length - 10))
      for (const each of dropped.flatMap(({ mined }) => mined))
        if ((keep === 'all' || (keep === 'some' && random.next() < 0.5)) && !pool.has(each.nonce))
          pool.set(each.nonce, each)
      const isQuick = random.next() < 0.5
      for (let at = 0; at <= dropped.length; at++) {
        const { count, balance } = tipOf()
        if (isQuick) mineOne()
        else makeBlock([], count, balance)
      }
    },
    dropPool: () => pool.clear(),
    /** Forgets what waits behind a gap of nonces: a node tells nobody of it. */
    dropHidden: () => {
      const visible = pendingCount()
      for (const nonce of pool.keys()) if (nonce > visible) pool.delete(nonce)
    },
    setBaseFee: (fee: bigint) => {
      baseFee = fee < 7n ? 7n : fee
    },
    baseFee: () => baseFee,
    pay: (amount: bigint) => {
      const { count, balance } = tipOf()
      makeBlock([], count, balance + amount)
    },
    count: () => tipOf().count,
    head: () => tipOf().number,
    /** All that stands on the chain, the oldest first. */
    listMined: () => blocks.flatMap(({ mined }) => mined),
  }
}

export type KeyNode = ReturnType<typeof createKeyNode>
