import * as contracts from '@openearn/contracts'
import {
  type Abi,
  concat,
  encodeAbiParameters,
  encodeErrorResult,
  type Hex,
  toFunctionSelector,
  zeroAddress,
} from 'viem'
import { describe, expect, it } from 'vitest'
import { commonErrors, describeRevert, findMeaning } from '../rpc/revert.js'
import type { PlannedKind } from './kind.js'
import { findVaultKind, listErrors, vaultKinds } from './kinds.js'
import { throughRouter } from './router.js'

/** Contracts of which the service tells no revert, each with the reason. */
const untold: Readonly<Record<string, string>> = {
  askerAbi: 'runs in a call and is read back',
  proberAbi: 'its error carries what it saw',
  readerAbi: 'runs in a call and is read back',
  runnerAbi: 'runs in a call and is read back',
  streamAbi: 'no vault; its errors are told where streams are',
  streamFactoryAbi: 'no vault; its errors are told where streams are',
  aggregatorAbi: 'a price feed, only read',
  priceFeedAbi: 'a price feed, only read',
  faultyVaultAbi: 'stands for errors that nobody knows',
  batchAccountAbi: 'a wallet: what it says of its own batches is not the vault’s',
  ensoRouterAbi: 'a third party’s router: where it reverts another route is tried',
  lifiRouterAbi: 'a third party’s router: where it reverts another route is tried',
  walletCheckAbi: 'begins a settlement of the solver, which tells its own log',
  answeringAbi: 'no vault: it answers what a test told it to',
  listedOnlyAbi: 'no vault: nothing is built for it',
  tellerAbi: 'of the kind in the examples, which declares its errors itself',
  tellerVaultAbi: 'of the kind in the examples, which declares its errors itself',
}

/** The kind a contract is of, where it is not `erc4626`. */
const kindOf: Readonly<Record<string, string>> = {
  asyncVaultAbi: 'erc7540',
  cancellableAsyncVaultAbi: 'erc7540',
  outsideShareVaultAbi: 'erc7540',
  outsideShareAbi: 'erc7540',
  epochAsyncVaultAbi: 'lagoon',
  lagoonVaultAbi: 'lagoon',
  lagoonSiloAbi: 'lagoon',
  standardizedYieldAbi: 'erc5115',
  cooldownVaultAbi: 'cooldown',
  cooldownSiloAbi: 'cooldown',
  windowStakeAbi: 'window-stake',
  umbrellaStakeAbi: 'umbrella',
  maplePoolAbi: 'maple',
  mapleManagerAbi: 'maple',
  mapleQueueAbi: 'maple',
  vedaVaultAbi: 'veda',
  vedaAccountantAbi: 'veda',
  vedaTellerAbi: 'veda',
  vedaReferralTellerAbi: 'veda',
  vedaQueueAbi: 'veda',
}

/** What each contract of ours declares that a plan may call or that stands behind one. */
const declared = Object.entries(contracts).flatMap(([name, value]) =>
  name.endsWith('Abi') && !(name in untold) ? [[name, kindOf[name] ?? 'erc4626', value as Abi] as const] : [],
)
const wallet = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const errorsOf = (name: string) => listErrors(findVaultKind(name)!)
const routed = listErrors(throughRouter(findVaultKind('erc4626') as PlannedKind, zeroAddress))

const samples: Readonly<Record<string, unknown>> = { address: zeroAddress, bytes32: `0x${'00'.repeat(32)}`, bool: true }
const sample = (type: string) => samples[type] ?? (type === 'uint8' ? 1 : 7n)

describe('what a vault says when it refuses', () => {
  const each = declared.flatMap(([name, kind, abi]) =>
    abi.flatMap((item) => (item.type === 'error' ? [[name, item.name, kind, item] as const] : [])),
  )
  it('knows the contracts it walks: each is one of ours', () => {
    expect([...Object.keys(untold), ...Object.keys(kindOf)].filter((name) => !(name in contracts))).toEqual([])
    expect(each.length).toBeGreaterThan(100)
  })

  it.each(each)('has a sentence for each error its contracts declare: %s, %s', (name, _error, kind, error) => {
    const args = error.inputs.map(({ type }) => sample(type))
    const data = encodeErrorResult({ abi: [error], errorName: error.name, args } as never)
    const errors = name === 'depositRouterAbi' ? routed : errorsOf(kind)
    expect(describeRevert(data, errors)).toMatch(/^with [A-Za-z0-9_]+\(.*\): [a-z]/s)
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

  it.each([
    'Unauthorized()',
    'NotAuthorized()',
    'NotWhitelisted(address)',
    'Paused()',
    'Closed()',
    'CannotReceiveShares()',
  ])('%s closes the vault to the wallet, whatever kind the vault is listed as', (signature) => {
    const data = concat([toFunctionSelector(signature), encodeAbiParameters([{ type: 'address' }], [wallet])])
    for (const { name } of vaultKinds)
      expect(findMeaning(signature.endsWith('()') ? (data.slice(0, 10) as Hex) : data, errorsOf(name)), name).toBe(
        'closed',
      )
  })

  it('is read in one way: no kind declares an error twice, and each means something in plain words', () => {
    for (const { name, errors } of vaultKinds) {
      const selectors = errors.map(({ selector, text = '' }) => `${selector} ${text}`)
      expect(new Set(selectors).size, name).toBe(selectors.length)
    }
    for (const { error, sentence } of [...commonErrors, ...vaultKinds.flatMap(({ errors }) => errors)])
      expect(sentence, error.name).toMatch(/^[a-z][^.]*[^.]$/)
  })
})
