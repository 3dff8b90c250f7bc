// What proofs of entries weigh and take: node bench/micro/proofs.mjs [deposits]. Deposits on a devnet of its own, in blocks of one
// transaction and of twenty; one of them also in a block as full as a mainnet's. Sizes are of the JSON; a proof is verified and its
// bytes are hashed by the same keccak, turn about. The least of each is told too, for other work on the machine lengthens the medians.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { brotliCompressSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { bytesToHex, keccak256, numberToHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { buildTrie, encodeHeader, encodeReceipt, encodeTransaction } from '../../packages/attribution/dist/codec.js'
import { verifyProof } from '../../sdk/dist/proof/index.js'
import { startDevnet } from '../load/devnet.mjs'

const deposits = Number(process.argv[2] ?? 60)
const rounds = 25
const hash = (bytes) => keccak256(bytes, 'bytes')
const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)]
const sizeOf = (proof) => JSON.stringify(proof).length

const curve = await watchCurve()
const devnet = await startDevnet()
try {
  const { dev, rpc } = devnet
  const call = async (method, path, body) => {
    const headers = { 'X-API-Key': dev.keys.secret, 'Content-Type': 'application/json' }
    const answer = await fetch(dev.baseUrl + path, { method, headers, body: body && JSON.stringify(body) })
    const text = await answer.text()
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return JSON.parse(text)
  }
  const vault = dev.opportunities.find(({ kind }) => kind === 'erc4626')
  const [distributorId] = dev.distributorIds
  const users = dev.accounts.slice(1, 9).map(({ privateKey }) => privateKeyToAccount(privateKey))
  for (const account of users) await joinAs(account)
  const nonceOf = new Map()
  const send = async (account, { to, data }) => {
    const { address } = account
    const nonce = nonceOf.get(address) ?? Number(await rpc('eth_getTransactionCount', [address, 'latest']))
    nonceOf.set(address, nonce + 1)
    const fees = { maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 1n }
    const signed = { chainId: dev.chainId, to, data, nonce, gas: 1_000_000n, ...fees }
    return rpc('eth_sendRawTransaction', [await account.signTransaction(signed)])
  }
  const amount = String(10n ** BigInt(vault.asset.decimals))
  /** Sends a deposit by its plan, and returns the hash of its last transaction. */
  const deposit = async (account) => {
    const asked = { userAddress: account.address, tokenIn: vault.asset.address, amount, distributorId, simulate: false }
    const { transactions } = await call('POST', `/v2/actions/deposit/${vault.id}`, asked)
    let last
    for (const { transaction } of transactions) last = await send(account, transaction)
    return last
  }
  const single = []
  for (let at = 0; at < deposits; at++) single.push(await deposit(users[at % users.length]))
  await rpc('evm_setAutomine', [false])
  const together = []
  for (let block = 0; block < deposits / 20; block++) {
    for (let at = 0; at < 20; at++) together.push(await deposit(users[at % users.length]))
    await rpc('evm_mine')
  }
  await rpc('evm_setAutomine', [true])
  await rpc('evm_mine')
  const head = Number(await rpc('eth_blockNumber'))
  while ((await devnet.place()).indexed < head) await new Promise((resolve) => setTimeout(resolve, 200))

  const proofOf = (txHash) => call('GET', `/v2/attribution/${txHash}/proof?chainId=${dev.chainId}`)
  const context = await call('GET', `/v2/verification?chainId=${dev.chainId}`)
  const trust = { ...context, distributors: dev.distributorIds }
  const known = (proof) => ({ chainId: dev.chainId, blockHash: proof.blockHash, trust })
  const proofs = { 'blocks of 1 transaction': [], 'blocks of 20 transactions': [] }
  for (const txHash of single) proofs['blocks of 1 transaction'].push(await proofOf(txHash))
  for (const txHash of together) proofs['blocks of 20 transactions'].push(await proofOf(txHash))
  const [first] = single
  proofs['a block as full as a mainnet’s'] = [await fill(first, await proofOf(first), 0)]
  proofs['the same, of 150 logs more'] = [await fill(first, await proofOf(first), 150)]

  console.log(
    '| proofs | count | JSON bytes, median (most) | its bytes hashed, ms | verified, ms | ratio | of these the curve, ms | ratio without it |',
  )
  console.log('|---|---|---|---|---|---|---|---|')
  const leasts = []
  for (const [name, list] of Object.entries(proofs)) {
    const sizes = list.map(sizeOf)
    for (const proof of list) {
      const { ok, problems } = await verifyProof(proof, known(proof))
      if (!ok) throw new Error(`${name}: ${problems}`)
    }
    const { median: typical, least } = await measure(list, known)
    const { verified, hashed, curve: inCurve } = typical
    const ratios = [verified / hashed, (verified - inCurve) / hashed].map((ratio) => ratio.toFixed(2))
    const [a, b, c] = [hashed, verified, inCurve].map((ms) => ms.toFixed(3))
    leasts.push(
      `${name} ${least.verified.toFixed(2)} / ${least.hashed.toFixed(2)} ms, ${least.curve.toFixed(2)} of it the curve: ` +
        `${(least.verified / least.hashed).toFixed(2)} (${((least.verified - least.curve) / least.hashed).toFixed(2)})`,
    )
    console.log(
      `| ${[name, list.length, `${median(sizes)} (${Math.max(...sizes)})`, a, b, ratios[0], c, ratios[1]].join(' | ')} |`,
    )
  }
  console.log(`least verified / least hashed: ratio (without the curve): ${leasts.join('; ')}`)
  console.log(`\`verifyProof\`, minified, brotli, without the curve: ${await weigh()} bytes`)

  async function joinAs(account) {
    const { address } = account
    if ((await call('GET', `/v2/membership/?address=${address}`)).isMember) return
    const asked = { address, walletEcosystem: 'evm', url: 'https://app.example.com', chainId: String(dev.chainId) }
    const { message, nonce } = await call('POST', '/v2/membership/agreement', asked)
    const signature = await account.signMessage({ message })
    await call('POST', '/v2/membership/', { address, walletEcosystem: 'evm', signature, nonce })
  }

  /** The proof of a transaction as it would be in a block with 300 others, whose logs are as many as a mainnet's. */
  async function fill(txHash, proof, more) {
    const [transaction, receipt] = [
      await rpc('eth_getTransactionByHash', [txHash]),
      await rpc('eth_getTransactionReceipt', [txHash]),
    ]
    let state = 7
    const next = (below) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
      return Math.floor((state / 2 ** 32) * below)
    }
    const bytesHex = (length) => `0x${Array.from({ length }, () => next(256).toString(16).padStart(2, '0')).join('')}`
    const log = () => ({
      ...{ address: bytesHex(20), topics: Array.from({ length: 1 + next(3) }, () => bytesHex(32)) },
      data: bytesHex(32 * (1 + next(8))),
    })
    const logsBloom = bytesHex(256)
    const others = Array.from({ length: 300 }, (_, at) => {
      const logs = Array.from({ length: at % 20 === 0 ? next(150) : next(12) }, log)
      return {
        transaction: encodeTransaction({
          ...transaction,
          nonce: numberToHex(at + 1),
          input: bytesHex(4 + next(1_200)),
        }),
        receipt: encodeReceipt({
          type: '0x2',
          status: '0x1',
          cumulativeGasUsed: numberToHex(21_000 * at),
          logsBloom,
          logs,
        }),
      }
    })
    const logs = [...receipt.logs, ...Array.from({ length: more }, log)]
    const own = {
      transaction: encodeTransaction(transaction),
      receipt: encodeReceipt({ ...receipt, logs }),
    }
    const index = 217
    const all = others.toSpliced(index, 0, own)
    const [left, right] = [all.map((each) => each.transaction), all.map((each) => each.receipt)].map((list) =>
      buildTrie(list, hash),
    )
    const told = await rpc('eth_getBlockByHash', [proof.blockHash, false])
    const roots = { transactionsRoot: bytesToHex(left.root), receiptsRoot: bytesToHex(right.root) }
    const header = encodeHeader({ ...told, ...roots })
    const blockHash = keccak256(header)
    const path = (trie) => ({ index, path: trie.path(index).map((node) => bytesToHex(node)) })
    const entries = proof.entries.map((entry) => ({ ...entry, id: entry.id.replace(proof.blockHash, blockHash) }))
    const places = { transaction: path(left), receipt: path(right) }
    return { ...proof, blockHash, header: bytesToHex(header), ...places, entries }
  }
} finally {
  await devnet.stop()
}

/** Verifying and hashing turn about: medians a proof, and the least of each. */
async function measure(list, known) {
  const took = { verified: [], hashed: [], curve: [] }
  // What is compiled on the way is warm before.
  for (let run = 0; run < 200; run++) await verifyProof(list[run % list.length], known(list[run % list.length]))
  for (let round = 0; round < rounds; round++)
    for (const proof of list) {
      const bytes = new TextEncoder().encode(JSON.stringify(proof))
      curve.ms = 0
      const from = performance.now()
      await verifyProof(proof, known(proof))
      const verified = performance.now()
      keccak256(bytes)
      took.hashed.push(performance.now() - verified)
      took.verified.push(verified - from)
      took.curve.push(curve.ms)
    }
  const each = (of) => Object.fromEntries(Object.entries(took).map(([name, all]) => [name, of(all)]))
  return { median: each(median), least: each((all) => Math.min(...all)) }
}

/** Counts the time in which the curve recovers who signed. */
async function watchCurve() {
  const beside = createRequire(import.meta.resolve('viem'))
  const file = join(dirname(beside.resolve('@noble/curves/secp256k1')), 'esm', 'secp256k1.js')
  const { secp256k1 } = await import(pathToFileURL(file))
  const { recoverPublicKey } = secp256k1.Signature.prototype
  const watched = { ms: 0 }
  secp256k1.Signature.prototype.recoverPublicKey = function (...given) {
    const from = performance.now()
    try {
      return recoverPublicKey.apply(this, given)
    } finally {
      watched.ms += performance.now() - from
    }
  }
  return watched
}

async function weigh() {
  const folder = await mkdtemp(join(tmpdir(), 'openearn-proof-'))
  try {
    const file = join(folder, 'use.mjs')
    const entry = JSON.stringify(fileURLToPath(new URL('../../sdk/dist/proof/index.js', import.meta.url)))
    await writeFile(file, `import { verifyProof } from ${entry}\nconsole.log(verifyProof)`)
    const bundle = await rolldown({ input: file, platform: 'browser' })
    const { output } = await bundle.generate({ format: 'esm', minify: true })
    await bundle.close()
    return brotliCompressSync(output[0].code).length
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
