import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Earn } from '../../../test/harness.js'
import { createRandom } from '../../../test/simulation/random.js'
import { drawHistory, type History } from '../../../test/usdDaysHistory.js'
import { openUsdDaysWorld, writeHistory } from '../../../test/usdDaysWorld.js'
import { signatureUsed } from '../../derive/index.js'
import { newId } from '../../kernel/ids.js'
import { auditDistributor } from './auditDistributor.js'
import { readAuditLimits } from './auditLimits.js'
import { runAudits } from './jobAudits.js'
import { reportDistributor } from './reportDistributor.js'

let earn: Earn
let history: History
const month = '2026-11'
const range = { from: new Date('2026-11-01T00:00:00Z'), to: new Date('2026-12-01T00:00:00Z') }

/** The first history in which every price is guarded, so that a lot counts by the paid price all the time. */
function drawGuarded(): History {
  for (let seed = 1; ; seed++) {
    const drawn = { ...drawHistory(createRandom(seed)), rulesAt: -1 }
    const isGuarded = drawn.vaults.every(({ readings }) => [...readings.values()].every((each) => each !== null))
    const hasLots = drawn.vaults.some(({ lots }) => lots.filter((lot) => lot.distributorId === 'acme').length > 3)
    if (isGuarded && hasLots) return drawn
  }
}

beforeAll(async () => {
  history = drawGuarded()
  earn = await openUsdDaysWorld(history)
})
afterAll(() => earn?.close())

/** A month that is over and final on each chain. */
beforeEach(async () => {
  const { db } = earn
  await db`truncate audits, interactions, transaction_attributions, flows, transactions`
  await writeHistory(db, history)
  await db`update rules_versions set holds_from = to_timestamp(0)`
  await db`update chain_cursors set block_timestamp = '2026-12-01T00:10:00Z', head_number = block_number + 99,
    finalized_number = block_number`
  await db`update projections p set derived_to = c.block_number from chain_cursors c where c.chain_id = p.chain_id`
  await db`insert into snapshot_progress (vault_id, seen_to) select id, '2026-12-01T00:10:00Z' from vaults`
  await db`truncate lots`
  await db`
    insert into lots (chain_id, first_block, vault_id, wallet, distributor_id, shares)
    select distinct chain_id, 0, vault_id, wallet, distributor_id, 0 from lot_changes`
  earn.clock.set('2026-12-02T00:00:00Z')
})

const audit = () => auditDistributor(earn.ctx, { distributorId: 'acme', month })

type Deposit = { chainId: number; block: number; index: number; vaultId: number; wallet: string }

/** The first time that shares of each wallet in a vault grew, as a deposit of a transaction. */
async function writeDeposits(of: { attribution: string; problems: string[]; sender?: string }): Promise<string[]> {
  const { db } = earn
  const found = await db<Deposit[]>`
    select distinct on (vault_id, wallet) chain_id as "chainId", block_number as block, transaction_index as index,
      vault_id as "vaultId", hex_text(wallet) as wallet
    from lot_changes where distributor_id = 'acme' and after > before
    order by vault_id, wallet, block_number, transaction_index`
  const hashes: string[] = []
  for (const { chainId, block, index, vaultId, wallet } of found) {
    const hash = `0x${(block * 1_000 + index * 10 + chainId).toString(16).padStart(64, '0')}`
    await db`
      insert into transaction_attributions (chain_id, block_number, block_timestamp, transaction_index, block_hash,
        transaction_hash, sender, distributor_id, codes, problems)
      select ${chainId}, ${block}, min(block_timestamp), ${index}, hex_bytes(${hash}), hex_bytes(${hash}),
        hex_bytes(${of.sender ?? wallet}), 'acme', '{acme}', ${of.problems}::text[]
      from lot_changes where chain_id = ${chainId} and block_number = ${block} on conflict do nothing`
    await db`
      insert into interactions (id, chain_id, vault_id, kind, block_number, block_hash, block_timestamp, transaction_hash,
        transaction_index, log_index, wallet, distributor_id, attribution, assets, shares, amount, is_swap)
      select ${newId()}, ${chainId}, ${vaultId}, 'deposit', ${block}, ${hash}, min(block_timestamp), ${hash}, ${index},
        ${index * 100 + vaultId}, ${wallet}, 'acme', ${of.attribution}, 1, 1, 1, false
      from lot_changes where chain_id = ${chainId} and block_number = ${block}`
    hashes.push(hash)
  }
  return hashes
}

describe('the audit of a month', () => {
  it('counts the USD-days of the report, piece by piece, and finds nothing where transactions are not known', async () => {
    const found = await audit()
    const report = await reportDistributor(earn.ctx, { distributorId: 'acme', ...range })
    const told = report.reduce((sum, { usdDays }) => sum + Number(usdDays), 0)
    expect(told).toBeGreaterThan(0)
    expect(Number(found.usdDays) / 1e18 / told).toBeCloseTo(1, 9)
    expect(found).toMatchObject({ rulesVersion: 3, openReasons: [] })
    expect(found.findings.filter(({ code }) => code !== 'belowFloor' && code !== 'staged')).toEqual([])
  })

  it('finds used signatures, who deposits for others, and what is not signed, each with its transactions', async () => {
    const hashes = await writeDeposits({
      ...{ attribution: 'unsigned', problems: [signatureUsed], sender: `0x${'5e'.repeat(20)}` },
    })
    const { findings, score } = await audit()
    for (const code of ['replayedSignature', 'unsignedShare', 'foreignCaller']) {
      const finding = findings.find((each) => each.code === code)
      expect(finding?.count, code).toBeGreaterThan(0)
      expect(finding?.usdDays, code).toBeGreaterThan(0n)
      expect(hashes).toEqual(expect.arrayContaining(finding?.transactions ?? ['none']))
    }
    expect(findings.reduce((sum, { points }) => sum + points, 0)).toBe(score)
    await earn.db`truncate interactions, transaction_attributions`
    await writeDeposits({ attribution: 'signed', problems: [] })
    const codes = (await audit()).findings.map(({ code }) => code)
    expect(codes.filter((code) => ['replayedSignature', 'unsignedShare', 'foreignCaller'].includes(code))).toEqual([])
  })

  it('names transactions that carry the code, approve, deposit, and were not credited', async () => {
    const [hash, other] = [`0x${'a9'.repeat(32)}`, `0x${'b9'.repeat(32)}`]
    const write = async (index: number, own: string, input: string) => {
      const { db } = earn
      await db`
        insert into transaction_attributions (chain_id, block_number, block_timestamp, transaction_index, block_hash,
          transaction_hash, sender, codes)
        values (1, 1, '2026-11-20T08:00:07Z', ${index}, hex_bytes(${own}), hex_bytes(${own}), '\\x01', '{acme}')`
      await db`insert into transactions (chain_id, block_number, transaction_index, hash, sender, input)
        values (1, 1, ${index}, hex_bytes(${own}), '\\x01', hex_bytes(${input}))`
      await db`insert into flows (chain_id, block_number, block_timestamp, vault_id, transaction_index, wallet, kind, shares, assets)
        select 1, 1, '2026-11-20T08:00:07Z', min(id), ${index}, '\\x01', 'deposit', 1, 1 from vaults`
    }
    await earn.db`insert into blocks (chain_id, number, timestamp, hash, parent_hash, has_logs)
      values (1, 1, '2026-11-20T08:00:07Z', '\\x01', '\\x00', true) on conflict do nothing`
    await write(900, hash, '0x34fcd5be095ea7b300')
    await write(901, other, '0x34fcd5be6e553f6500')
    const finding = (await audit()).findings.find(({ code }) => code === 'approvalCode')
    expect(finding).toMatchObject({ count: 1, usdDays: 0n, transactions: [hash] })
  })

  it('is kept by the job once the month is final, one a distributor, and never again', async () => {
    const kept = () => earn.db<{ distributorId: string; month: string }[]>`
      select distributor_id as "distributorId", month from audits order by distributor_id, month`
    await earn.db`update chain_cursors set finalized_number = 0 where chain_id = 1`
    await runAudits(earn.ctx)
    expect((await kept()).filter((each) => each.month === month)).toEqual([])
    await earn.db`update chain_cursors set finalized_number = block_number`
    await runAudits(earn.ctx)
    const first = await earn.db`select * from audits`
    expect((await kept()).filter((each) => each.month === month)).toEqual(
      ['acme', 'beta'].map((distributorId) => ({ distributorId, month })),
    )
    await writeDeposits({ attribution: 'unsigned', problems: [signatureUsed] })
    await runAudits(earn.ctx)
    expect(await earn.db`select * from audits`).toEqual(first)
  })
})

describe('the thresholds of audits', () => {
  it('stand in docs/audit.md with their defaults', async () => {
    const text = await readFile(new URL('../../../../docs/audit.md', import.meta.url), 'utf8')
    const rows = [...text.matchAll(/^\| (`[a-zA-Z`, ]+) \| ([0-9][0-9., ]*)/gm)]
    const told = rows.flatMap(([, names = '', values = '']) => {
      const numbers = values.split(',').map(Number)
      return [...names.matchAll(/`(\w+)`/g)].map(([, name = ''], place) => [name, numbers[place]])
    })
    expect(Object.fromEntries(told)).toEqual(readAuditLimits(undefined))
  })

  it('are set by name; a name or a number that there is not is refused with those there are', () => {
    expect(readAuditLimits(' look=7.5, weightLoop=3,')).toMatchObject({ look: 7.5, weightLoop: 3, refuse: 50 })
    expect(readAuditLimits(undefined, 80).stagedBps).toBe(80)
    expect(() => readAuditLimits('looks=1')).toThrow(/AUDIT_LIMITS names "looks": the names are look, refuse/)
    for (const text of ['look', 'look=', 'look=-1', 'look=1e3', 'look=0x1'])
      expect(() => readAuditLimits(text)).toThrow(/must be a number/)
  })
})
