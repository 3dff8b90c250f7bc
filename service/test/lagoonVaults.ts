import { lagoonVaultAbi, lagoonVaultBytecode } from '@openearn/contracts'
import { type Address, erc20Abi } from 'viem'
import type { World, WorldVault } from './actionWorld.js'

export type LagoonVersion = '0.5' | '0.6'

/** Deploys and lists vaults that behave as those of Lagoon do; the world's owner is their safe and values them. */
export function openLagoonVaults(world: World, token: Address) {
  const write = (vault: WorldVault, functionName: string, args: readonly unknown[] = []) =>
    world.write(vault.address, lagoonVaultAbi, functionName, args)
  const totalAssets = (vault: WorldVault) =>
    world.anvil.client.readContract({ address: vault.address, abi: lagoonVaultAbi, functionName: 'totalAssets' })
  /** A valuation ends the epoch and is settled at once; `gain` is what the safe earned. */
  const value = async (vault: WorldVault, gain: bigint, settle: 'settleDeposit' | 'settleRedeem' | 'close') => {
    await write(vault, 'expireTotalAssets')
    const worth = (await totalAssets(vault)) + gain
    if (gain > 0n) await world.mint(token, world.owner.address, gain)
    await write(vault, 'updateNewTotalAssets', [worth])
    await write(vault, settle, [worth])
  }
  return {
    open: async (version: LagoonVersion): Promise<WorldVault> => {
      const args = [token, 'Lagoon', 'lTUSD', 12, version === '0.6']
      const address = await world.anvil.deploy({ abi: lagoonVaultAbi, bytecode: lagoonVaultBytecode, args })
      await world.write(token, erc20Abi, 'approve', [address, 2n ** 200n])
      return world.list({ address, asset: token, decimals: 6, kind: 'lagoon' })
    },
    write,
    value,
    /** Valuations stay valid from now on: deposits complete at once. */
    openSync: async (vault: WorldVault) => {
      await write(vault, 'updateTotalAssetsLifespan', [10n ** 9n])
      await value(vault, 0n, 'settleDeposit')
    },
    close: async (vault: WorldVault) => {
      await write(vault, 'expireTotalAssets')
      await write(vault, 'initiateClosing')
      await value(vault, 0n, 'close')
    },
  }
}
