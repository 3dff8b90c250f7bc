import type { Fact, StateNow, TellStates } from '../../postgres/context.js'
import type { Transaction } from '../../postgres/pool.js'
import { readNows } from '../../sync/storeNow.js'
import type { CatalogueContext } from '../catalogue/index.js'
import { findVaultWithholding, getIndexingStatus } from './getIndexingStatus.js'
import { listVaultStatus } from './storeStatus.js'

type Indexing = Awaited<ReturnType<typeof getIndexingStatus>>

/** Tells others that a chain stalls or goes on, and up to which block it is final. */
export async function tellChains({ db, clock }: CatalogueContext, tellStates: TellStates): Promise<void> {
  const at = clock.now()
  await tellStates(db, 'chains', async (tx) => {
    const { chains } = await getIndexingStatus({ db: tx, clock }, {})
    return chains.flatMap((chain) => [standingOf(chain, at), ...finalityOf(chain, at)])
  })
}

const about = (chainId: number, at: Date) => ({ at, chainId, subject: { kind: 'chain', id: String(chainId) } as const })

function standingOf(chain: Indexing['chains'][number], at: Date): StateNow {
  const { chainId, state } = chain
  const isStalled = state === 'stalled'
  return {
    id: `standing ${chainId}`,
    state: isStalled ? 'stalled' : 'followed',
    facts: (before) =>
      before === undefined
        ? []
        : [{ ...about(chainId, at), type: isStalled ? 'chain.stalled' : 'chain.resumed', data: chain }],
  }
}

function finalityOf({ chainId, finalizedBlock }: Indexing['chains'][number], at: Date): StateNow[] {
  if (finalizedBlock === null) return []
  const fact = { ...about(chainId, at), type: 'chain.final', data: { blockNumber: finalizedBlock } }
  return [{ id: `final ${chainId}`, state: String(finalizedBlock), facts: () => [fact] }]
}

/** Tells others that a vault is paused or withheld, and that it goes on. */
export async function tellVaults({ db, clock }: CatalogueContext, tellStates: TellStates): Promise<void> {
  await tellStates(db, 'vaults', (tx) => listVaultStates(tx, clock))
}

const types = { paused: 'vault.paused', withheld: 'vault.withheld', served: 'vault.resumed' } as const

async function listVaultStates(tx: Transaction, clock: CatalogueContext['clock']): Promise<StateNow[]> {
  const at = clock.now()
  const { vaults } = await getIndexingStatus({ db: tx, clock }, {})
  const [known, nowOf] = await Promise.all([listVaultStatus(tx, at, {}), readNows({ db: tx, clock })])
  const rows = new Map(known.map((vault) => [`${vault.chainId} ${vault.vaultAddress}`, vault]))
  return vaults.flatMap((shown): StateNow[] => {
    const { chainId, opportunityId } = shown
    const row = rows.get(`${chainId} ${shown.vaultAddress.toLowerCase()}`)
    // A vault without an opportunity is shown to nobody, and one whose history is read has no series yet.
    if (!row || opportunityId === null || shown.state === 'backfilling' || shown.state === 'not-started') return []
    const state = row.isPaused ? 'paused' : findVaultWithholding(row, nowOf([chainId])) ? 'withheld' : 'served'
    const fact: Fact = {
      ...{ type: types[state], at, chainId, data: shown },
      subject: { kind: 'opportunity', id: opportunityId },
    }
    return [{ id: opportunityId, state, facts: (before) => (before === undefined ? [] : [fact]) }]
  })
}
