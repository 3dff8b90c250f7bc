import {
  dripVaultAbi,
  dripVaultBytecode,
  marketVaultAbi,
  marketVaultBytecode,
  oddMaxVaultAbi,
  oddMaxVaultBytecode,
  strategyVaultAbi,
  strategyVaultBytecode,
  testTokenAbi,
  yieldVaultAbi,
  yieldVaultBytecode,
} from '@openearn/contracts'
import type { Address } from 'viem'
import type { World, WorldVault } from './actionWorld.js'

/** A vault that behaves as a known kind of real one does, and what makes it book its interest. */
export type RealVault = WorldVault & { accrue(): Promise<unknown> }

/** Three thousand millionths of a millionth a second: a tenth in a year. */
const ratePerSecondWad = 3_000_000_000n
const decimals = 6
const offset = 12

/** Deploys and lists vaults over a token with 6 decimals whose shares have 18. */
export function openRealVaults(world: World, token: Address) {
  const list = async (address: Address, accrues: Address = address): Promise<RealVault> => {
    await world.write(token, testTokenAbi, 'setMinter', [accrues, true])
    const vault = await world.list({ address, asset: token, decimals, kind: 'erc4626' })
    return { ...vault, accrue: () => world.write(accrues, dripVaultAbi, 'accrue', []) }
  }
  const args = [token, offset, ratePerSecondWad]
  return {
    /** MetaMorpho: `maxRedeem` is rounded down twice. */
    market: async () => list(await world.anvil.deploy({ abi: marketVaultAbi, bytecode: marketVaultBytecode, args })),
    /** Morpho Vault V2: every `max*` is 0. */
    zeroMax: async () => list(await world.anvil.deploy({ abi: oddMaxVaultAbi, bytecode: oddMaxVaultBytecode, args })),
    /** Euler Earn: what it can pay is what its strategy says. */
    strategy: async () => {
      const rate = ratePerSecondWad * 31_536_000n
      const strategyArgs = [token, 'Strategy', 'sTUSD', offset, rate, true]
      const strategy = await world.anvil.deploy({
        abi: yieldVaultAbi,
        bytecode: yieldVaultBytecode,
        args: strategyArgs,
      })
      const input = { abi: strategyVaultAbi, bytecode: strategyVaultBytecode, args: [strategy, 0] }
      return list(await world.anvil.deploy(input), strategy)
    },
    /** sUSDS: the first interaction of a second writes several slots. */
    drip: async (slots: bigint) =>
      list(await world.anvil.deploy({ abi: dripVaultAbi, bytecode: dripVaultBytecode, args: [...args, slots] })),
  }
}
