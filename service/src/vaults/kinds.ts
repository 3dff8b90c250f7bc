import type { KnownError } from '../rpc/revert.js'
import type { VaultKind } from './kind.js'
import { cooldown } from './kinds/cooldown.js'
import { erc20 } from './kinds/erc20.js'
import { erc4626 } from './kinds/erc4626.js'
import { erc5115 } from './kinds/erc5115.js'
import { erc7540, erc7540Deposit, erc7540Redeem } from './kinds/erc7540.js'
import { lagoon } from './kinds/lagoon.js'
import { maple } from './kinds/maple.js'
import { other } from './kinds/other.js'
import { umbrella } from './kinds/umbrella.js'
import { veda } from './kinds/veda.js'
import { windowStake } from './kinds/windowStake.js'

/** Every vault kind there is; where several recognise a vault, the last of them is its kind. */
export const vaultKinds: readonly VaultKind[] = [
  erc4626,
  erc5115,
  erc7540,
  erc7540Deposit,
  erc7540Redeem,
  cooldown,
  windowStake,
  umbrella,
  maple,
  veda,
  lagoon,
  erc20,
  other,
]

const byName: ReadonlyMap<string, VaultKind> = new Map(vaultKinds.map((kind) => [kind.name, kind]))

const everyError: readonly KnownError[] = vaultKinds.flatMap(({ errors }) => errors)

/** The known errors of a vault: those of its kind first, then those of all others, which contracts below it may share. */
export function listErrors(kind: Pick<VaultKind, 'errors'>): readonly KnownError[] {
  return [...kind.errors, ...everyError]
}

/** The kind of a vault by its configured name. */
export function findVaultKind(name: string): VaultKind | undefined {
  return byName.get(name)
}
