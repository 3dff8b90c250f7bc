import { type AttributionProof, type ProofTrust, verifyProof } from '@openearn/sdk/proof'
import { type Hex, keccak256 } from 'viem'
import { expect, it } from 'vitest'
import { readIndependently } from '../../../sdk/test/independentTrie.js'
import { listInteractionsByTx } from '../../src/features/ledger/index.js'
import { openProofWorld, type ProofWorld, type Sent } from './proofWorld.js'
import { createRandom } from './random.js'

/** Short in CI; `npm run test:long` asks for 1,000. */
const wanted = Number(process.env['PROVEN_ENTRIES'] ?? 60)
const seed = Number(process.env['PROOF_SEED'] ?? 20_261_129)

const wallets = ['EOA', '4337', '7702', 'Safe', 'router'] as const

it(`proves ${wanted} entries of random traffic, each verified offline and by an independent library (seed ${seed})`, async () => {
  const random = createRandom(seed)
  const opened = await openProofWorld(random)
  try {
    const proven = new Map<string, number>()
    const sizes: number[] = []
    let [done, blocks, left] = [0, 0, 0]
    while (done < wanted) {
      expect(++blocks).toBeLessThan(wanted)
      const sent = await opened.mine(random.int(1, 24))
      await opened.world.sync()
      // A minute later, so that the budget of the key suffices.
      opened.world.earn.clock.advance(60_000)
      const trust = await readTrust(opened)
      for (const each of sent) {
        const found = await check(opened, each, trust)
        left += found.left
        if (found.size === undefined) continue
        sizes.push(found.size)
        done += found.entries
        proven.set(each.kind, (proven.get(each.kind) ?? 0) + found.entries)
      }
    }
    const median = sizes.sort((a, b) => a - b)[Math.floor(sizes.length / 2)] ?? Number.POSITIVE_INFINITY
    const told = [...proven].map(([kind, count]) => `${kind} ${count}`).sort()
    console.info(
      `${done} entries proven in ${blocks} blocks (${told.join(', ')}), ${left} that rest on more; a proof ${median} bytes at the median, ${sizes.at(-1)} at most`,
    )
    for (const kind of wallets) expect(proven.get(kind) ?? 0, kind).toBeGreaterThanOrEqual(Math.floor(wanted / 20))
    expect(median).toBeLessThanOrEqual(30_000)
  } finally {
    await opened.world.close()
  }
}, 3_600_000)

async function readTrust({ world }: ProofWorld): Promise<ProofTrust> {
  const { body } = await world.earn.call('GetVerificationContext', { query: { chainId: world.chainId } })
  return { ...body, distributors: ['acme', 'bolt'] }
}

type Found = { entries: number; left: number; size?: number }

/** The proof of a transaction's entries against the chain's own block; what the ledger has of it that is not proven. */
async function check({ world }: ProofWorld, { hash, raw, kind, isPlain }: Sent, trust: ProofTrust): Promise<Found> {
  const { client } = world.anvil
  const receipt = await client.getTransactionReceipt({ hash })
  expect(receipt.status, kind).toBe('success')
  const ledger = await listInteractionsByTx(world.earn.db, hash)
  const { status, body } = await world.earn.call('GetAttributionProof', {
    params: { txHash: hash },
    query: { chainId: world.chainId },
  })
  if (status !== 200) {
    expect({ status, isLeft: ledger.length === 0 || !isPlain }, kind).toEqual({ status: 404, isLeft: true })
    return { entries: 0, left: ledger.length }
  }
  const proof = body as AttributionProof
  const verdict = await verifyProof(proof, { chainId: world.chainId, blockHash: receipt.blockHash, trust })
  expect(verdict, kind).toMatchObject({ ok: true, problems: [], block: { number: Number(receipt.blockNumber) } })
  const first = Number(receipt.logs[0]?.logIndex)
  const isOf = (entry: (typeof verdict.entries)[number]) => (each: (typeof ledger)[number]) =>
    each.logIndex === first + entry.logIndex &&
    each.distributorId === entry.distributorId &&
    each.walletAddress === entry.walletAddress &&
    each.amountRaw === entry.amountRaw &&
    each.attribution === entry.rule
  for (const entry of verdict.entries) expect(ledger.filter(isOf(entry)), kind).toHaveLength(1)
  if (isPlain) expect(verdict.entries, kind).toHaveLength(ledger.length)

  const { transactionsRoot, receiptsRoot } = await client.getBlock({ blockHash: receipt.blockHash })
  expect(keccak256(proof.header as Hex)).toBe(receipt.blockHash)
  expect(proof.transaction.index).toBe(receipt.transactionIndex)
  expect(await readIndependently(transactionsRoot, proof.transaction)).toBe(raw)
  const told = await readIndependently(receiptsRoot, proof.receipt)
  const last = receipt.logs.at(-1)
  expect(told?.includes(last?.data.slice(2) ?? 'a log') && told.includes(receipt.logsBloom.slice(2)), kind).toBe(true)
  const size = JSON.stringify(body).length
  return { entries: verdict.entries.length, left: ledger.length - verdict.entries.length, size }
}
