import {
  asyncVaultAbi,
  cancellableAsyncVaultAbi,
  cooldownSiloAbi,
  cooldownVaultAbi,
  epochAsyncVaultAbi,
  lagoonVaultAbi,
  outsideShareVaultAbi,
  standardizedYieldAbi,
} from '@openearn/contracts'
import { type Abi, encodeAbiParameters, encodeErrorResult, zeroAddress } from 'viem'
import { describe, expect, it } from 'vitest'
import { commonErrors, describeRevert, findMeaning } from '../rpc/revert.js'
import { findVaultKind, listErrors, vaultKinds } from './kinds.js'

/** What the contracts of each kind declare. */
const declared: readonly (readonly [kind: string, abi: Abi])[] = [
  ['erc7540', asyncVaultAbi],
  ['erc7540', cancellableAsyncVaultAbi],
  ['erc7540', outsideShareVaultAbi],
  ['lagoon', epochAsyncVaultAbi],
  ['lagoon', lagoonVaultAbi],
  ['erc5115', standardizedYieldAbi],
  ['cooldown', cooldownVaultAbi],
  ['cooldown', cooldownSiloAbi],
]
const wallet = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const errorsOf = (name: string) => listErrors(findVaultKind(name)!)

const samples: Readonly<Record<string, unknown>> = { address: zeroAddress, bytes32: `0x${'00'.repeat(32)}`, bool: true }
const sample = (type: string) => samples[type] ?? (type === 'uint8' ? 1 : 7n)

describe('what a vault says when it refuses', () => {
  const each = declared.flatMap(([kind, abi]) =>
    abi.flatMap((item) => (item.type === 'error' ? [[kind, item.name, item] as const] : [])),
  )
  it.each(each)('has a sentence for each error its contracts declare: %s, %s', (kind, _name, error) => {
    const args = error.inputs.map(({ type }) => sample(type))
    const data = encodeErrorResult({ abi: [error], errorName: error.name, args } as never)
    expect(describeRevert(data, errorsOf(kind))).toMatch(/^with [A-Za-z0-9_]+\(.*\): [a-z]/s)
  })

  it('names errors of vaults that are known to be met, whatever kind the vault is listed as', () => {
    for (const { name } of vaultKinds) {
      const errors = errorsOf(name)
      expect(describeRevert('0xf50a3b52', errors)).toMatch(/^with OperationNotAllowed\(\): /)
      expect(describeRevert('0xb097d841', errors)).toMatch(/^with OnlySyncDepositAllowed\(\): /)
      const listed = encodeAbiParameters([{ type: 'address' }], [wallet])
      const refused = `0x51ee5ed5${listed.slice(2)}` as const
      expect(describeRevert(refused, errors)).toMatch(new RegExp(`^with AddressNotAllowed\\(${wallet}\\): `))
      expect(findMeaning(refused, errors)).toBe('closed')
    }
  })

  it('is read in one way: no kind declares an error twice, and each means something in plain words', () => {
    for (const { name, errors } of vaultKinds) {
      const selectors = errors.map(({ selector }) => selector)
      expect(new Set(selectors).size, name).toBe(selectors.length)
    }
    for (const { error, sentence } of [...commonErrors, ...vaultKinds.flatMap(({ errors }) => errors)])
      expect(sentence, error.name).toMatch(/^[a-z][^.]*[^.]$/)
  })
})
