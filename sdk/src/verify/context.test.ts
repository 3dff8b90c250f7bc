import { describe, expect, it } from 'vitest'
import { attacker } from '../../test/mutations.js'
import { namedPlan, type Plan, readPlans, verify } from '../../test/plans.js'

async function know(change: object, name = 'erc4626 deposit without approval') {
  const plan = namedPlan(name)
  return verify({ ...plan, context: { ...plan.context, ...change } as Plan['context'] })
}

const inVault = (change: object) => ({
  vault: { ...namedPlan('erc4626 deposit without approval').context.vault, ...change },
})

describe('a context', () => {
  it('is what public answers say: an opportunity, its kind with it, and the indexing status', async () => {
    for (const { name, request, transactions, context } of readPlans()) {
      const { chainId, vault, signers } = context
      const opportunity = {
        chainId,
        vaultAddress: vault.address,
        kind: vault.kind,
        baseToken: { address: vault.asset },
      }
      const attributionSigners = [
        { address: attacker, from: '2025-01-01T00:00:00Z', to: '2026-01-01T00:00:00Z' },
        { address: String(signers[0]), from: '2026-01-01T00:00:00Z', to: null },
      ]
      const known = {
        chainId: opportunity.chainId,
        vault: {
          address: opportunity.vaultAddress,
          kind: opportunity.kind,
          asset: opportunity.baseToken.address,
        },
        signers: attributionSigners,
      }
      expect((await verify({ request, transactions, context: known })).problems, name).toEqual([])
    }
  })

  it.each<[string, object, string]>([
    ['no vault', { vault: undefined }, 'address: undefined is no address'],
    ['a vault without an address', inVault({ address: '' }), 'address:  is no address'],
    ['a vault without an asset', inVault({ asset: null }), 'asset: null is no address'],
    ['a vault of no kind', inVault({ kind: undefined }), 'vaults of the kind undefined cannot be verified'],
    [
      'a vault of a kind from a prototype',
      inVault({ kind: 'toString' }),
      'vaults of the kind toString cannot be verified',
    ],
    ['a chain in hex', { chainId: '0x7a69' }, 'chainId: 0x7a69 is no chain'],
    ['half a chain', { chainId: 31337.5 }, 'chainId: 31337.5 is no chain'],
    ['chain 0', { chainId: 0 }, 'chainId: 0 is no chain'],
    ['a chain beyond 2^53', { chainId: 2 ** 53 }, 'chainId: 9007199254740992 is no chain'],
    ['no signers', { signers: undefined }, 'signers is no list of signers'],
    ['a signer for a list', { signers: attacker }, 'signers is no list of signers'],
    ['more signers than anyone has', { signers: Array(1_001).fill(attacker) }, 'signers is no list of signers'],
    ['a signer that is none', { signers: [attacker, null] }, 'signers: null is no address'],
    ['a signer without an address', { signers: [{ from: '' }] }, 'signers: undefined is no address'],
    ['a list for a signer', { signers: [[attacker]] }, 'signers: an object is no address'],
    ['an action that is no id', { actionId: 'latest' }, 'actionId: latest is no id'],
    ['a function for an action', { actionId: () => '' }, 'actionId: a function is no id'],
    ['a negative allowance', { allowance: -1n }, 'allowance is no amount'],
    ['an allowance beyond 256 bits', { allowance: 2n ** 256n }, 'allowance is no amount'],
    ['an allowance that is null', { allowance: null }, 'allowance is no amount'],
    ['a minimum that is a number', { minimumOut: 1 }, 'minimumOut is no amount'],
    ['a claim in hex', { requestAmount: '0x1' }, 'requestAmount is no amount'],
    ['a gas cap that is none', { gasCap: 'much' }, 'gasCap is no amount'],
    ['a text for a flag', { approvalReset: 'false' }, 'approvalReset is neither true nor false'],
    ['a wrapped token that is none', { wrappedNative: 'WETH' }, 'wrappedNative: WETH is no address'],
    ['a number for who brought it', { distributorId: 7 }, 'distributorId is no text'],
  ])('with %s is refused', async (_title, change, problem) => {
    const { ok, problems } = await know(change)
    expect(ok).toBe(false)
    expect(problems).toContain(problem)
  })

  it('with 1,000 signers is taken', async () => {
    const [address] = namedPlan('erc4626 withdraw').context.signers
    expect((await know({ signers: [...Array(999).fill(attacker), address] })).ok).toBe(true)
  })

  it('with a signer that is retired is refused, and taken where the same one is in use or given by its address', async () => {
    const [address] = namedPlan('erc4626 withdraw').context.signers
    const retired = { address: String(address), from: '2025-01-01T00:00:00Z', to: '2026-01-01T00:00:00Z' }
    expect((await know({ signers: [retired] })).problems).toEqual(['the suffix is signed by a signer that is retired'])
    for (const signer of [address, { address }, { address, to: null }, { address, to: undefined }])
      expect((await know({ signers: [retired, signer] })).ok).toBe(true)
  })
})
