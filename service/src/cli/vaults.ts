import { announceCatalogue } from '../features/catalogue/index.js'
import { parseTs } from '../kernel/clock.js'
import { inTransaction, type Queryable } from '../postgres/pool.js'
import {
  changeGrowthSources,
  findVaultSettings,
  type GrowthSourceName,
  growthSourceNames,
  pauseVault,
  resumeVault,
} from '../vaults/configured/index.js'
import { changing, withContext } from './command.js'
import { answer, type Command, parseFlags, parseWhole, UsageError } from './terminal.js'

const usage = `openearn vaults growth CHAIN_ID VAULT share-price|nav|none [--from RFC3339]
  what the vault's APY is measured by from then on (default now): the share price, the US dollars of a share, or nothing;
  what was in force ends there, and points before it are still served of ranges that end before it
openearn vaults pause CHAIN_ID VAULT [--from RFC3339]    withholds share prices, APR and APY
openearn vaults resume CHAIN_ID VAULT [--from RFC3339]   serves them again; snapshots of the pause are no readings`

export const vaults: Command = {
  usage,
  run: async ([verb, ...words]) => {
    if (verb === 'growth') return growth(words)
    if (verb === 'pause' || verb === 'resume') return pauseOrResume(verb, words)
    throw new UsageError(`vaults: say growth, pause or resume\n${usage}`)
  },
}

type Asked = { vault: { chainId: number; address: string }; from: Date | undefined; rest: string[] }

function parseAsked(verb: string, words: string[], wordsMax: number): Asked {
  const { values, positionals } = parseFlags(words, { from: { type: 'string' } }, wordsMax)
  const [chain, address, ...rest] = positionals
  const chainId = parseWhole(chain, 1)
  if (chainId === undefined || address === undefined || !/^0[xX][0-9a-fA-F]{40}$/.test(address))
    throw new UsageError(`vaults ${verb}: give the chain id and the address of the vault\n${usage}`)
  const from = values.from === undefined ? undefined : parseTs(values.from)
  if (values.from !== undefined && !from) throw new UsageError('--from must be an RFC 3339 date-time')
  return { vault: { chainId, address: address.toLowerCase() }, from, rest }
}

async function growth(words: string[]): Promise<void> {
  const { vault, from, rest } = parseAsked('growth', words, 3)
  const source = [...growthSourceNames, 'none' as const].find((name) => name === rest[0])
  if (!source) throw new UsageError('vaults growth: say share-price, nav or none')
  await withContext(async (ctx) => {
    const { db, clock } = changing(ctx, ['vaults', 'growth', ...words], (tx) => findVaultSettings(tx, vault))
    await assertKnown(db, vault)
    const at = from ?? clock.now()
    await inTransaction(db, async (tx) => {
      await changeGrowthSources(tx, vault, source === 'none' ? undefined : (source as GrowthSourceName), at)
      await announceCatalogue(tx)
    })
    answer({ ...vault, source, from: at.toISOString() }, [`${vault.address}: ${source} from ${at.toISOString()}`])
  })
}

async function pauseOrResume(verb: 'pause' | 'resume', words: string[]): Promise<void> {
  const { vault, from } = parseAsked(verb, words, 2)
  await withContext(async (ctx) => {
    const { db, clock } = changing(ctx, ['vaults', verb, ...words], (tx) => findVaultSettings(tx, vault))
    const { vaultId } = await assertKnown(db, vault)
    const at = from ?? clock.now()
    const change = verb === 'pause' ? pauseVault : resumeVault
    if (!(await inTransaction(db, (tx) => change(tx, vaultId, at))))
      throw new UsageError(
        verb === 'pause' ? 'the vault is paused already' : 'the vault is not paused, or was paused after that instant',
      )
    const said = verb === 'pause' ? 'its series are withheld' : 'its series are served again'
    answer({ ...vault, [verb]: at.toISOString() }, [`${vault.address}: ${said} from ${at.toISOString()}`])
  })
}

async function assertKnown(db: Queryable, vault: Asked['vault']) {
  const found = await findVaultSettings(db, vault)
  if (!found) throw new UsageError(`there is no vault ${vault.address} on chain ${vault.chainId} in the catalogue`)
  return found
}
