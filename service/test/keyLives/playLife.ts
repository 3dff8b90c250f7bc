import { signDigest } from '@openearn/attribution'
import { numberToHex, parseEther, parseGwei, toHex } from 'viem'
import { fakeClock } from '../../src/kernel/clock.js'
import { EarnError } from '../../src/kernel/errors.js'
import { silentLog } from '../../src/kernel/log.js'
import { OutboundError } from '../../src/kernel/outbound.js'
import type { Database } from '../../src/postgres/pool.js'
import type { Chain } from '../../src/rpc/chains.js'
import {
  cancelOutgoing,
  createSender,
  findOutgoing,
  listOutgoingStates,
  type Outgoing,
  recordOutgoing,
  releaseSender,
} from '../../src/rpc/sender/index.js'
import { createKeySigner } from '../../src/rpc/signer.js'
import { Death, dyingDb, dyingRpc } from '../dying.js'
import type { Random } from '../simulation/random.js'
import { createKeyNode } from './keyNode.js'
import { createLiar, createNodes, lies } from './lies.js'

const chainId = 31_337
const target = `0x${'77'.repeat(20)}`
const finalityDepth = 64

export type Life = {
  sent: number
  confirmed: number
  toldFailed: number
  /** Transactions that are not over after honest blocks. */
  stuck: string[]
  /** Transactions that were mined twice, or whose state does not tell what the chain has. */
  wrong: string[]
  /** Forms that were signed above their cap, or cost more. */
  aboveCap: string[]
  releases: number
}

/** A life of a key: transactions, and all that can happen to them and to it; then honest blocks until all is over. */
export async function playLife(db: Database, random: Random, key: `0x${string}`, life: number): Promise<Life> {
  const signer = createKeySigner(key, signDigest)
  const clock = fakeClock('2026-01-01T00:00:00Z')
  const isPoor = random.chance(0.15)
  const withoutDay = random.chance(0.1)
  const oneUrl = random.chance(0.5)
  const withStrangers = random.chance(0.1)
  const restores = random.chance(0.15)
  const node = createKeyNode(signer.address, {
    random,
    balance: isPoor ? random.pick([0n, 1n, parseEther('0.0005'), parseEther('0.002')]) : parseEther('100'),
    count: random.pick([0, 0, 3, 57]),
    l1Fee: random.chance(0.2) ? parseGwei('20000') : 0n,
  })
  const liar = createLiar(node.request, random)
  const honest: typeof node.request = node.request
  // A second url lies as well, and never both at once.
  const nodes = oneUrl ? [liar.answer] : random.chance(0.5) ? [liar.answer, honest] : [honest, liar.answer]
  const rpc = createNodes(nodes)
  const chain: Chain = {
    ...{ chainId, name: 'Life', rpcUrls: [], nativeSymbol: 'ETH', headUrls: [], entryPoints: [], rpc },
    ...{ confirmations: random.pick([1, 2, 6, 12]), finalityDepth, pollIntervalMs: 1_000 },
    reorgRecheckSeconds: oneUrl ? 30 : 2,
  }
  let caps = { gasPrice: parseGwei('500'), spending: withoutDay ? 0n : parseEther('50') }
  const open = (over: { db?: Database; rpc?: typeof rpc } = {}) =>
    createSender(
      { db: over.db ?? db, clock, log: silentLog },
      { chain: { ...chain, rpc: over.rpc ?? rpc }, signer, caps, inFlightMax: random.pick([1, 3, 8]) },
    )
  const wanted: Outgoing[] = []
  const want = async (): Promise<void> => {
    const at = wanted.length
    const id = `${life.toString(16).padStart(8, '0')}-0000-4000-8000-${at.toString(16).padStart(12, '0')}`
    const data = `0xfeed${toHex(BigInt(life) * 1_000n + BigInt(at), { size: 8 }).slice(2)}`
    const value = random.chance(0.1) ? parseGwei('1000') : 0n
    // From what is too little for any block up to what base fees of a hundred times allow.
    const costMax = random.pick([1n, parseGwei('1200000'), parseGwei('5000000'), parseEther('0.05'), parseEther('0.2')])
    wanted.push({ id, chainId, sender: signer.address, to: target, data, value, costMax, purpose: 'a life' })
    clock.advance(1)
    await recordOutgoing(db, wanted[at] as Outgoing, clock.now())
  }
  let sender = open()
  let releases = 0
  let stoppedFor = 0
  let lyingForMs = 0
  const step = async (): Promise<void> => {
    const dies = random.next()
    const at = random.int(0, 25)
    const own =
      dies < 0.1
        ? open({ rpc: dyingRpc(rpc, at, random.chance(0.5)) })
        : dies < 0.2
          ? open({ db: dyingDb(db, at) })
          : sender
    if (dies < 0.25) sender = open()
    try {
      await own.step()
    } catch (error) {
      const isExpected = error instanceof Death || error instanceof OutboundError || error instanceof EarnError
      if (!isExpected) throw error
    }
    const [row] = await db<{ stopped: string | null }[]>`
      select stopped from senders where chain_id = ${chainId} and address = hex_bytes(${signer.address})`
    stoppedFor = row?.stopped ? stoppedFor + 1 : 0
    // An operator looks, some while after the strangers are gone.
    if (stoppedFor > 8 && (await releaseSender(db, { chainId, address: signer.address }, clock.now()))) {
      releases += 1
      stoppedFor = 0
    }
  }
  const kept = await openKept(db, signer.address, life)
  const size = random.int(5, 50)
  const rounds = size + 15
  let spike = 0
  for (let round = 0; round < rounds; round++) {
    while (wanted.length < size && random.chance(0.6)) await want()
    const draw = random.next()
    if (draw < 0.12)
      node.reorganise(random.int(1, 60), restores ? random.pick(['all', 'none']) : random.pick(['all', 'none', 'some']))
    else if (draw < 0.16) node.dropPool()
    else if (draw < 0.2 && wanted.length > 0) await cancelOutgoing(db, random.pick(wanted).id)
    else if (draw < 0.24) spike = random.pick([10, 12])
    else if (draw < 0.3 && lyingForMs <= 0) {
      liar.begin(random.pick(lies))
      lyingForMs = oneUrl ? 20_000 : random.int(20_000, 200_000)
    } else if (draw < 0.33 && withStrangers) await sendAsStranger(node, signer.address, random)
    else if (draw < 0.36 && restores) {
      if (random.chance(0.5)) await kept.keep()
      else {
        // Nobody could know of these again; docs/runbook.md says what an operator waits for after a restore.
        node.dropHidden()
        await kept.restore(wanted, clock)
      }
    }
    if (spike > 0) {
      spike -= 1
      // A hundred times in ten blocks, and back.
      node.setBaseFee(spike === 0 ? 10n ** 10n : (node.baseFee() * 158n) / 100n)
    } else node.setBaseFee((10n ** 10n * BigInt(random.int(50, 200))) / 100n)
    if (isPoor && random.chance(0.05)) node.pay(parseEther('0.002'))
    if (random.chance(0.7)) node.mine(random.int(1, 3))
    const passedMs = random.int(1, 15) * 1_000
    clock.advance(passedMs)
    lyingForMs -= passedMs
    if (lyingForMs <= 0) liar.end()
    await step()
  }
  liar.end()
  node.setBaseFee(10n ** 10n)
  node.pay(parseEther('100'))
  caps = { ...caps, spending: parseEther('1000') }
  sender = open()
  const isOver = async () => {
    const states = await listOutgoingStates(
      db,
      wanted.map(({ id }) => id),
    )
    return [...states.values()].every(({ state }) => !['queued', 'sent'].includes(state))
  }
  const endings = size * 6 + 60
  // One url tells the same for a while before it is believed, and processes end meanwhile: what was over may begin anew.
  const endingsLeast = 24
  const isEnding = async (round: number) =>
    round < endings && !(round >= endingsLeast && round % 4 === 0 && (await isOver()))
  for (let round = 0; await isEnding(round); round++) {
    node.mine(random.int(1, 3))
    clock.advance(16_000)
    await step()
    // What is too dear for its cap at any price is nobody's to send: whoever wanted it takes it back.
    if (round > 20 && round % 10 === 0)
      for (const { id } of wanted) {
        const row = await findOutgoing(db, id)
        if (row && ['queued', 'sent'].includes(row.state) && row.held === 'tooDear') await cancelOutgoing(db, id)
      }
  }
  node.mine(finalityDepth + 2)
  await sender.step()
  await kept.close()
  return judge({ db, node, wanted, address: signer.address, releases })
}

/** What a database was at an instant, of one key; and that it becomes so again. */
async function openKept(db: Database, address: string, life: number) {
  const names = ['senders', 'outgoing_transactions', 'outgoing_attempts'] as const
  const own = {
    senders: db`address = hex_bytes(${address})`,
    outgoing_transactions: db`sender = hex_bytes(${address})`,
    outgoing_attempts: db`transaction_id in (select id from outgoing_transactions where sender = hex_bytes(${address}))`,
  }
  let isKept = false
  const copyOf = (name: string) => db(`kept_${life}_${name}`)
  const clear = async () => {
    for (const name of names) await db`drop table if exists ${copyOf(name)}`
  }
  return {
    keep: async () => {
      await clear()
      for (const name of names) await db`create table ${copyOf(name)} as select * from ${db(name)} where ${own[name]}`
      isKept = true
    },
    /** Whoever wanted what is not there any more wants it again. */
    restore: async (wanted: readonly Outgoing[], clock: { now(): Date }) => {
      if (!isKept) return
      for (const name of [...names].reverse()) await db`delete from ${db(name)} where ${own[name]}`
      for (const name of names) await db`insert into ${db(name)} select * from ${copyOf(name)}`
      for (const outgoing of wanted) await recordOutgoing(db, outgoing, clock.now())
    },
    close: clear,
  }
}

/** Another installation, or a wallet, that has the key. */
async function sendAsStranger(node: ReturnType<typeof createKeyNode>, address: string, random: Random): Promise<void> {
  const stranger = createKeySigner(numberToHex(random.int(1, 1_000_000), { size: 32 }), signDigest)
  const { signOutgoing } = await import('../../src/rpc/sender/signed.js')
  const { raw } = await signOutgoing(stranger, {
    ...{ chainId, nonce: node.count(), to: address, data: '0x5742', value: 0n, gasLimit: 90_000n },
    fees: { maxFee: 10n ** 12n, tip: 10n ** 11n },
  })
  await node.request({ method: 'eth_sendRawTransaction', params: [raw] }).catch(() => undefined)
}

async function judge(given: {
  db: Database
  node: ReturnType<typeof createKeyNode>
  wanted: readonly Outgoing[]
  address: string
  releases: number
}): Promise<Life> {
  const { db, node, wanted, address, releases } = given
  const mined = node.listMined()
  const life: Life = { sent: wanted.length, confirmed: 0, toldFailed: 0, stuck: [], wrong: [], aboveCap: [], releases }
  for (const { id, data, costMax } of wanted) {
    const row = await findOutgoing(db, id)
    const own = mined.filter((each) => each.data === data)
    const done = own.filter(({ success }) => success).length
    if (row === undefined || ['queued', 'sent'].includes(row.state))
      life.stuck.push(`${id} ${row?.state}: ${row?.reason}`)
    else if (
      own.length > 1 ||
      (row.state === 'confirmed' && done !== 1) ||
      (row.state === 'reverted') !== (own.length - done === 1)
    )
      life.wrong.push(`${id} is ${row.state}, and mined ${own.length} times`)
    else if (row.state !== 'confirmed' && done > 0) life.wrong.push(`${id} is ${row.state}, and done`)
    else if (row.state === 'confirmed') life.confirmed += 1
    else life.toldFailed += 1
    for (const { gasUsed, price, value, l1Fee } of own)
      if (gasUsed * price + value + l1Fee > costMax) life.aboveCap.push(`${id} cost more than ${costMax}`)
  }
  const above = await db<{ id: string }[]>`
    select t.id from outgoing_attempts a join outgoing_transactions t on t.id = a.transaction_id
    where t.sender = hex_bytes(${address}) and a.max_fee * (case when a.is_cancellation then 21000 else t.gas_limit end)
      + (case when a.is_cancellation then 0 else t.value end) > t.cost_max and t.gas_limit is not null`
  life.aboveCap.push(...above.map(({ id }) => `${id} was signed above its cap`))
  return life
}
