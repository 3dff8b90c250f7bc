import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Earn, openEarn } from '../../../test/harness.js'
import { loadConfiguration } from '../positions/storeConfiguration.js'
import { listSigners, recordSigner } from './storeSigners.js'

const test = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const own = '0x1234567890123456789012345678901234567890'
let earn: Earn

beforeAll(async () => {
  earn = await openEarn()
  await recordSigner(earn.db, test, new Date('2026-01-01T00:00:00Z'))
  await recordSigner(earn.db, own, new Date('2026-02-01T00:00:00Z'))
})
afterAll(() => earn?.close())

const addresses = (signers: readonly { address: string }[]) => signers.map(({ address }) => address)

describe('attribution keys of ours', () => {
  it('never count on a chain that is not the devnet when everyone holds them, used once or not', async () => {
    expect(addresses(await listSigners(earn.db, 1))).toEqual([own])
    expect((await loadConfiguration(earn.db, 1)).signers).toEqual(new Set([own]))
  })

  it('are published without public test keys, unless there is a devnet', async () => {
    expect(addresses(await listSigners(earn.db))).toEqual([own])
    const { body } = await earn.call('GetIndexingStatus')
    expect(addresses(body.attributionSigners)).toEqual([own])
    await earn.db`insert into chains (chain_id, name, slug) values (31337, 'Devnet', 'devnet')`
    expect(addresses(await listSigners(earn.db))).toEqual([test, own])
    expect(addresses(await listSigners(earn.db, 31_337))).toEqual([test, own])
    expect(addresses(await listSigners(earn.db, 1))).toEqual([own])
  })

  it('are retired at the instant another one signs, and keep their dates', async () => {
    expect((await listSigners(earn.db)).map(({ to }) => to?.toISOString() ?? null)).toEqual([
      '2026-02-01T00:00:00.000Z',
      null,
    ])
  })
})
