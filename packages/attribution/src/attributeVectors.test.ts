import { readFileSync } from 'node:fs'
import type { Address, Hex } from 'viem'
import { describe, expect, test } from 'vitest'
import { entryPoints } from '../test/wrapping.js'
import { attribute, chooseDistributor } from './attribute.js'
import { lowerAddress } from './calldata.js'

type Expectation = { distributorId: string; attribution: string; sender?: string }
type Vector = {
  name: string
  chainId: number
  transaction: { from: Address; to: Address; input: Hex }
  expect: Partial<Expectation> & {
    placement: string
    schema: string
    referralCode?: string
    stacked?: string[]
    perOperation?: Expectation[]
  }
}

const file = new URL('../../../service/test/vectors/attribution.json', import.meta.url)
const published = JSON.parse(readFileSync(file, 'utf8')) as {
  count: number
  vectors: Vector[]
  signers: { address: Address }[]
  registeredDistributors: string[]
}
const isRegistered = (code: string) => published.registeredDistributors.includes(code)
const knownEntryPoints: Address[] = [
  '0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789',
  '0x0000000071727De22E5E9d8BAf0edAc6f37da032',
]

describe('each published attribution vector', () => {
  test(`all ${published.count} are here`, () => expect(published.vectors).toHaveLength(published.count))

  test.each(published.vectors.map((v) => [v.name, v] as const))(
    '%s',
    (_name, { chainId, transaction, expect: wanted }) => {
      const { groups, truncated } = attribute({
        ...transaction,
        chainId,
        signers: published.signers,
        entryPoints: knownEntryPoints,
      })
      expect(truncated).toBe(false)
      const expected = wanted.perOperation ?? [{ distributorId: wanted.distributorId, attribution: wanted.attribution }]
      expect(groups).toHaveLength(expected.length)

      for (const [at, { distributorId, attribution, ...rest }] of expected.entries()) {
        const group = groups[at] ?? expect.fail()
        const [finding, ...others] = group.findings
        if (!finding || others.length > 0) return expect.fail('one finding is enough')
        const chosen = chooseDistributor(finding, isRegistered)
        expect(chosen).toMatchObject({ code: distributorId, attribution })
        expect(finding).toMatchObject({ placement: wanted.placement, attribution })
        expect(finding.readings[0]?.suffix).toMatchObject({ status: 'ok', schemaId: 2 })
        expect(chosen?.error === '').toBe(attribution === 'signed')
        expect(chosen?.reading.referralCode).toBe(wanted.referralCode)
        if ('sender' in rest) expect(group.sender).toBe(lowerAddress(String(rest.sender)))
        if (wanted.stacked) expect(finding.readings.slice(1).flatMap(({ codes }) => codes)).toEqual(wanted.stacked)
      }
    },
  )

  test('the code a bundler appended is shown as the bundler’s and counts for nobody', () => {
    const { chainId, transaction } = published.vectors.find(({ name }) => name.includes('bundler')) ?? expect.fail()
    const { groups, bundler } = attribute({ ...transaction, chainId, signers: published.signers, entryPoints })
    expect(bundler.map(({ codes }) => codes)).toEqual([['bundler']])
    expect(groups.flatMap(({ findings }) => findings.flatMap(({ codes }) => codes))).toEqual(['Y2Zi7KWy'])
  })
})
