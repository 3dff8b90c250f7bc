// Fills the raw store of a chain with one vault: 80 % transfers, 20 % deposits, half of those signed.
import { createHash } from 'node:crypto'
import { buildSuffix, signerAddress } from '../../packages/attribution/dist/index.js'
import { recordSigner } from '../../service/dist/features/catalogue/storeSigners.js'
import { transferTopic } from '../../service/dist/rpc/abis.js'
import { createCursor, moveCursor } from '../../service/dist/sync/storeCursors.js'
import { recordBlocks } from '../../service/dist/sync/storeRaw.js'
import { erc4626 } from '../../service/dist/vaults/kinds/erc4626.js'
import { fillCatalogue } from './database.mjs'

const depositTopic = erc4626.emits.find(({ event }) => event.name === 'Deposit').topic

const vault = `0x${'cc'.repeat(20)}`
const token = `0x${'dd'.repeat(20)}`
const key = `0x${'07'.repeat(32)}`
const zero = `0x${'00'.repeat(20)}`
const distributorId = 'Y2Zi7KWy'

const hash = (text) => `0x${createHash('sha256').update(text).digest('hex')}`
const wallet = (n) => `0x${createHash('sha1').update(`w${n}`).digest('hex')}`
const pad = (value) => (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0')
let seed = 1
const random = (max) => {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
  return seed % max
}

/** Makes a chain of so many events among so many holders; `finalShare` of its blocks are final. */
export async function fillRawStore(db, { chainId, events, holders, finalShare = 0 }) {
  await fillCatalogue(db, { chainId, vault, token, distributorId })
  await recordSigner(db, signerAddress(Buffer.from(key.slice(2), 'hex')), new Date(0))
  await db`insert into sources values (${chainId}, 'positions', ${vault}, 0, 0, true)`
  await createCursor(db, chainId, 1, new Date())
  const made = await makeBlocks(db, { chainId, events, holders })
  await moveCursor(db, {
    ...{ chainId, blockNumber: made.block, blockHash: hash(`b${made.block}`) },
    ...{ blockTimestamp: new Date(), at: new Date() },
  })
  if (finalShare > 0)
    await db`update chain_cursors set finalized_number = ${Math.floor(made.block * finalShare)} where chain_id = ${chainId}`
  return made
}

async function makeBlocks(db, { chainId, events, holders }) {
  const perBlock = 50
  const held = new Map()
  let made = 0
  let block = 0
  let blocks = []
  const log = (number, index, at, transactionHash, first, indexed, data) => ({
    blockNumber: number,
    logIndex: at,
    transactionIndex: index,
    transactionHash,
    address: vault,
    topics: [first, ...indexed.map((value) => `0x${pad(value)}`)],
    data: `0x${data.map(pad).join('')}`,
  })
  while (made < events) {
    block += 1
    const logs = []
    const transactions = []
    for (let index = 0; index < perBlock && made < events; index++) {
      const transactionHash = hash(`${block}:${index}`)
      // A deposit makes two events, its mint and the Deposit; of 9 transactions 1 deposits, so 80 % are transfers.
      if (index % 9 === 0 || held.size < 100) {
        const user = wallet(random(holders))
        const amount = BigInt(1 + random(1_000_000))
        logs.push(log(block, index, logs.length, transactionHash, transferTopic, [zero, user], [amount]))
        logs.push(log(block, index, logs.length, transactionHash, depositTopic, [user, user], [amount, amount]))
        held.set(user, (held.get(user) ?? 0n) + amount)
        const data = `0x6e553f65${pad(amount)}${pad(user)}`
        const suffix =
          (block + index) % 2 === 0
            ? buildSuffix({
                code: distributorId,
                actionId: `0x${hash(`${made}`).slice(2, 34)}`,
                chainId,
                wallet: user,
                target: vault,
                data,
                privateKey: key,
              }).slice(2)
            : ''
        transactions.push({
          blockNumber: block,
          transactionIndex: index,
          hash: transactionHash,
          from: user,
          to: vault,
          input: data + suffix,
        })
        made += 2
        continue
      }
      let from = wallet(random(holders))
      for (let tries = 0; !held.get(from) && tries < 50; tries++) from = wallet(random(holders))
      const to = wallet(random(holders))
      const amount = (held.get(from) ?? 0n) / 3n
      logs.push(log(block, index, logs.length, transactionHash, transferTopic, [from, to], [amount]))
      held.set(from, (held.get(from) ?? 0n) - amount)
      held.set(to, (held.get(to) ?? 0n) + amount)
      made += 1
    }
    blocks.push({
      number: block,
      hash: hash(`b${block}`),
      parentHash: hash(`b${block - 1}`),
      timestamp: 1_700_000_000 + block * 12,
      logs,
      transactions,
    })
    if (blocks.length === 400) {
      await recordBlocks(db, chainId, blocks)
      blocks = []
    }
  }
  await recordBlocks(db, chainId, blocks)
  return { made, block }
}
