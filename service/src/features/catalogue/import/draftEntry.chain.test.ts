import {
  asyncVaultAbi,
  asyncVaultBytecode,
  dripVaultAbi,
  dripVaultBytecode,
  oddMaxVaultAbi,
  oddMaxVaultBytecode,
  testTokenAbi,
  testTokenBytecode,
  yieldVaultAbi,
  yieldVaultBytecode,
} from '@openearn/contracts'
import type { Address } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Anvil, startAnvil } from '../../../../../contracts/test/anvil.js'
import { openTestDatabase } from '../../../../test/database.js'
import { systemClock } from '../../../kernel/clock.js'
import { createOutbound } from '../../../kernel/outbound.js'
import { probeVault } from '../../../probing/index.js'
import { type Chain, openChain } from '../../../rpc/chains.js'
import { buildSnapshot, findOpportunityByVault } from '../memory/snapshot.js'
import { readCatalogue } from '../store.js'
import { describeProbe, draftEntry } from './draftEntry.js'
import { importCatalogue } from './importCatalogue.js'

let anvil: Anvil
let chain: Chain
let token: Address
let vault: Address

const settings = { nativeSymbol: 'ETH', confirmations: 1, finalityDepth: 64, pollIntervalMs: 1000 }
const open = (chainId: number) =>
  openChain(createOutbound(systemClock), {
    ...{ chainId, name: 'Anvil', rpcUrls: [anvil.url], reorgRecheckSeconds: 2, entryPoints: [] },
    ...settings,
  })

beforeAll(async () => {
  anvil = await startAnvil({ timestamp: 1_700_000_000 })
  chain = open(31337)
  token = await anvil.deploy({ abi: testTokenAbi, bytecode: testTokenBytecode, args: ['Do<b>llar', 'U\u202eSD', 6] })
  await anvil.client.mine({ blocks: 5 })
  const args = [token, 'Yield vault', 'yUSD', 6, 0n, true]
  vault = await anvil.deploy({ abi: yieldVaultAbi, bytecode: yieldVaultBytecode, args })
  await anvil.client.mine({ blocks: 20 })
})
afterAll(() => anvil.stop())

describe('probing a vault', () => {
  it('finds kind, tokens, cap and first block, and drafts an entry that imports', async () => {
    const cap = { address: vault, abi: yieldVaultAbi, functionName: 'setDepositCap', args: [2_500_000n] } as const
    await anvil.done(anvil.client.writeContract(cap))
    const probed = await probeVault(chain, vault)
    expect(probed).toMatchObject({ kind: 'erc4626', maxDeposit: 2_500_000n, startBlock: 7, notes: [] })
    expect(describeProbe(probed)).toContain('deposit cap: 2.5 USD')
    const draft = draftEntry(31337, vault, probed)
    expect(draft).toEqual({
      tokens: [
        { chainId: 31337, address: token, decimals: 6, symbol: 'USD', name: 'Dollar' },
        { chainId: 31337, address: vault, decimals: 12, symbol: 'yUSD', name: 'Yield vault' },
      ],
      opportunities: [
        {
          slug: 'yield-vault-31337',
          name: 'Yield vault',
          type: 'vault',
          vault: { chainId: 31337, address: vault, kind: 'erc4626', asset: token, startBlock: 7 },
        },
      ],
    })
    const { db, close } = await openTestDatabase()
    const chains = [{ chainId: 31337, name: 'Anvil', slug: 'anvil' }]
    await importCatalogue({ db, clock: systemClock }, JSON.stringify({ ...draft, chains }))
    expect(findOpportunityByVault(buildSnapshot(await readCatalogue(db)), 31337, vault)).toMatchObject({
      vault: { kind: 'erc4626', startBlock: 7, receiptDecimals: 12 },
    })
    await close()
  })

  it('knows an asynchronous vault by ERC-165', async () => {
    const how = { asyncDeposit: true, asyncRedeem: true, separateIds: true, decimalsOffset: 0 }
    const args = [token, 'Async', 'aUSD', how]
    const address = await anvil.deploy({ abi: asyncVaultAbi, bytecode: asyncVaultBytecode, args })
    const probed = await probeVault(chain, address)
    expect(probed).toMatchObject({ kind: 'erc7540', maxDeposit: undefined })
    // A Lagoon vault is known by itself.
    expect(probed.notes.join()).not.toMatch(/lagoon/i)
    expect(probed.state.depositOpen).toBe(true)
    expect(draftEntry(31337, address, probed).opportunities).toMatchObject([{ vault: { kind: 'erc7540' } }])
  })

  it('tells what stands in the way of listing', async () => {
    const pause = { address: vault, abi: yieldVaultAbi, functionName: 'setDepositsPaused', args: [true] } as const
    await anvil.done(anvil.client.writeContract(pause))
    expect((await probeVault(chain, vault)).notes).toEqual([
      expect.stringMatching(
        /^deposits: The vault takes no deposits at present. One would revert with ERC4626ExceededMaxDeposit\(/,
      ),
    ])
  })

  it('says when withdrawals would revert, so that money would go in and not come out', async () => {
    const args = [token, 6, 0n, 4n]
    const drip = await anvil.deploy({ abi: dripVaultAbi, bytecode: dripVaultBytecode, args })
    expect((await probeVault(chain, drip)).notes).toEqual([])
    const wait = { address: drip, abi: dripVaultAbi, functionName: 'setWaits', args: [true] } as const
    await anvil.done(anvil.client.writeContract(wait))
    const probed = await probeVault(chain, drip)
    expect(draftEntry(31337, drip, probed).opportunities).toMatchObject([
      { depositEnabled: false, withdrawEnabled: false },
    ])
    expect(probed.notes).toEqual([
      expect.stringMatching(
        /^withdrawals would revert with WaitsForCooldown\(\): redemptions wait, .*: set withdrawEnabled to false/,
      ),
    ])
  })

  it('takes no fee from a preview that answers strangers nothing, and finds one by depositing and redeeming', async () => {
    const odd = await anvil.deploy({ abi: oddMaxVaultAbi, bytecode: oddMaxVaultBytecode, args: [token, 6, 0n] })
    const preview = { address: odd, abi: oddMaxVaultAbi, functionName: 'setSilentToStrangers', args: [true] } as const
    await anvil.done(anvil.client.writeContract(preview))
    expect(await probeVault(chain, odd)).toMatchObject({ roundTripLossBps: 0, maxDeposit: undefined, notes: [] })
  })

  it('refuses a wallet, a token and the wrong chain, each in a sentence', async () => {
    const wallet = anvil.client.account.address
    await expect(probeVault(chain, wallet)).rejects.toThrow(`there is no contract at ${wallet} on Anvil`)
    await expect(probeVault(chain, token)).rejects.toThrow(`${token} is no ERC-4626 vault`)
    await expect(probeVault(open(1), vault)).rejects.toThrow('serves chain 31337, not 1')
  })
})
