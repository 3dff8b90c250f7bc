import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { urlOf } from '../../test/database.js'
import type { Earn } from '../../test/harness.js'
import type { History } from '../../test/usdDaysHistory.js'
import { openUsdDaysWorld, writeHistory } from '../../test/usdDaysWorld.js'
import { newId } from '../kernel/ids.js'
import { audit } from './audit.js'
import { UsageError } from './terminal.js'

/** Blocks are an hour apart from 2026-11-20T08:00Z on; a share is a dollar, and 100 are held for the last ten days of the month. */
const chain = { chainId: 1, seconds: 3_600, confirmed: 600, head: 620 }
const wallet = `0x${'01'.repeat(20)}`
const held = { block: 16, transaction: 0, wallet: 0, distributorId: 'acme', after: 100_000_000n }
const history = (lots: History['vaults'][number]['lots'] = [held]): History => ({
  chains: [chain],
  vaults: [
    {
      ...{ name: 'inner', chainId: 1, assetDecimals: 6, receiptDecimals: 6, lots },
      ...{ mints: [], readings: new Map(), identities: [] },
      snapshots: [{ block: 0, numerator: 10n ** 18n, exponent: 18, supply: 10n ** 9n, priceUsd: '1' }],
    },
  ],
  rulesAt: -1,
})

let earn: Earn
beforeAll(async () => {
  earn = await openUsdDaysWorld(history())
  vi.stubEnv('DATABASE_URL', urlOf(earn.target))
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await earn?.close()
})
beforeEach(async () => {
  await earn.db`truncate interactions, transaction_attributions`
  await write(history())
})

/** A history on a chain that is final beyond the month. */
async function write(told: History): Promise<void> {
  const { db } = earn
  await writeHistory(db, told)
  await db`update rules_versions set holds_from = 'epoch'`
  await db`insert into snapshot_progress (vault_id, seen_to) select id, '2026-12-02T00:00:00Z' from vaults`
  await db`truncate lots`
  await db`
    insert into lots (chain_id, first_block, vault_id, wallet, distributor_id, shares)
    select distinct chain_id, 0, vault_id, wallet, distributor_id, 0 from lot_changes`
}

const hashOf = (transaction: number) => `0x${transaction.toString(16).padStart(64, '0')}`

/** The deposits that changed the lots, unsigned, each a transaction of its own that the wallet sent. */
async function writeUnsigned(): Promise<void> {
  const { db } = earn
  const changes = await db<{ block: number; transaction: number; vaultId: number }[]>`
    select block_number as block, transaction_index as transaction, vault_id as "vaultId" from lot_changes`
  for (const { block, transaction, vaultId } of changes) {
    const hash = hashOf(transaction)
    await db`
      insert into transaction_attributions (chain_id, block_number, block_timestamp, transaction_index, block_hash,
        transaction_hash, sender, distributor_id, codes)
      select 1, ${block}, min(block_timestamp), ${transaction}, hex_bytes(${hash}), hex_bytes(${hash}), hex_bytes(${wallet}),
        'acme', '{acme}' from lot_changes where block_number = ${block}`
    await db`
      insert into interactions (id, chain_id, vault_id, kind, block_number, block_hash, block_timestamp, transaction_hash,
        transaction_index, log_index, wallet, distributor_id, attribution, assets, shares, amount, is_swap)
      select ${newId()}, 1, ${vaultId}, 'deposit', ${block}, ${hash}, min(block_timestamp), ${hash}, ${transaction}, 0,
        ${wallet}, 'acme', 'unsigned', 1, 1, 1, false from lot_changes where block_number = ${block}`
  }
}

async function run(...words: string[]): Promise<string> {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    await audit.run(['distributor', ...words])
    return write.mock.calls.map(([text]) => String(text)).join('')
  } finally {
    write.mockRestore()
  }
}

const lines = (...own: string[]) => own.map((line) => `${line}\n`).join('')

describe('openearn audit distributor', () => {
  it('tells of a month without findings its USD-days, its wallets and a score of 0', async () => {
    expect(await run('acme', '--month', '2026-11')).toBe(
      lines('acme 2026-11: 1000 USD-days of 1 wallet', 'no findings: score 0'),
    )
    expect(await run('idle', '--month', '2026-11')).toBe(
      lines('idle 2026-11: 0 USD-days of 0 wallets', 'no findings: score 0'),
    )
  })

  it('tells each finding with what it touches, its transactions and its points, and a score that they add up to', async () => {
    // Half a dollar of another wallet, whose transaction is not known.
    const crumb = { block: 16, transaction: 1, wallet: 1, distributorId: 'acme', after: 500_000n }
    await writeUnsigned()
    expect(await run('acme', '--month', '2026-11')).toBe(
      lines(
        'acme 2026-11: 1000 USD-days of 1 wallet',
        'note    unsignedShare: 1, 1000 USD-days, 100 % × 0.04 = 4',
        `        ${hashOf(0)}`,
        'score 4: note',
      ),
    )
    await write(history([held, crumb]))
    expect(await run('acme', '--month', '2026-11')).toBe(
      lines(
        'acme 2026-11: 1005 USD-days of 2 wallets',
        'note    unsignedShare: 1, 1000 USD-days, 99.5 % × 0.04 = 3.98',
        `        ${hashOf(0)}`,
        'look    belowFloor: 1, 5 USD-days, 50 % × 0.5 = 25',
        'score 3.98 + 25 = 28.98: look',
      ),
    )
  })

  it('shows twenty transactions of a finding, and says how many more --json lists', async () => {
    const lots = Array.from({ length: 23 }, (_, index) => ({
      ...{ ...held, block: 16 + index, transaction: index },
      after: BigInt(index + 1) * 10_000_000n,
    }))
    await write(history(lots))
    await writeUnsigned()
    const said = (await run('acme', '--month', '2026-11')).split('\n')
    expect(said.filter((line) => line.startsWith('        0x'))).toEqual(
      Array.from({ length: 20 }, (_, index) => `        ${hashOf(index)}`),
    )
    expect(said.filter((line) => line.includes(' more'))).toEqual(['        and 3 more: --json lists all'])
  })

  it('names the holders of its vaults that are not looked through any more, with the reason', async () => {
    const [holder, other] = ['57', '58'].map((byte) => `0x${byte.repeat(20)}`)
    const states = [
      { holder, detail: 'broken 3 1795000000 its view differs' },
      { holder: other, detail: 'counting 0 -1' },
    ]
    for (const { holder: each, detail } of states)
      await earn.db`
        insert into held_shares (chain_id, first_block, vault_id, holder, wallet, shares, detail)
        select 1, 0, id, hex_bytes(${each ?? ''}), hex_bytes(${each ?? ''}), 0, ${detail} from vaults`
    const [{ address } = expect.fail()] = await earn.db<{ address: string }[]>`select address from vaults`
    const told = await run('acme', '--month', '2026-11')
    expect(await run('idle', '--month', '2026-11')).not.toContain('holder')
    await earn.db`delete from held_shares`
    expect(told).toBe(
      lines(
        'acme 2026-11: 1000 USD-days of 1 wallet',
        `holder not looked through: ${holder} of vault ${address} on chain 1 (its view differs)`,
        'no findings: score 0',
      ),
    )
  })

  it('says why a month is not final', async () => {
    await earn.db`update chain_cursors set finalized_number = 100`
    await earn.db`insert into blocks (chain_id, number, timestamp, hash, parent_hash, has_logs)
      select chain_id, 100, '2026-11-24T12:00:00Z', hash, parent_hash, false from blocks where number = 300`
    expect(await run('acme', '--month', '2026-11')).toBe(
      lines(
        'acme 2026-11: 1000 USD-days of 1 wallet',
        'not final: chain 1 is final up to 2026-11-24T12:00:00Z',
        'no findings: score 0',
      ),
    )
  })

  it.each([
    [[], 'audit distributor: give the builder code first'],
    [['acme'], '--month is missing'],
    [['acme', '--month', '2026-13'], '--month must be a month such as 2026-10'],
    [['acme', '--month', 'November'], '--month must be a month such as 2026-10'],
    [['nobody', '--month', '2026-11'], 'there is no distributor nobody'],
    [['acme', 'beta', '--month', '2026-11'], '"beta" is a word too many'],
  ])('refuses %j in a sentence', async (words, sentence) => {
    await expect(run(...words)).rejects.toThrow(new UsageError(sentence))
  })
})
