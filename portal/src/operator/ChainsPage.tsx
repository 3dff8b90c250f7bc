import { cutName } from '@openearn/widget/parts'
import type { ReactNode } from 'react'
import { states } from '../status/states.js'
import { Num } from '../ui/Num.js'
import { Title } from '../ui/Title.js'
import type { Chain, Vault } from './lists.js'
import { Commands, Fact, Facts, Head, Part, Since, Why } from './parts.js'

const isChainWell = ({ state, watched }: Chain) => state === 'live' && watched
const isVaultWell = ({ mismatches, synced, isPaused }: Vault) => !mismatches && synced === true && !isPaused

/** How far each chain is followed, and whether balances are what the chain says. */
export function ChainsPage(): ReactNode {
  return (
    <>
      <Title text="Chains">How far each chain is followed, and whether balances are what the chain says.</Title>
      <div className="stack">
        <Part
          name="chains"
          title="Chains"
          isWell={isChainWell}
          idOf={({ chainId }) => String(chainId)}
          none="No chain is followed: openearn chains add takes one in."
        >
          {(chain, list) => <ChainRow chain={chain} list={list} />}
        </Part>
        <Part
          name="vaults"
          title="Vaults"
          isWell={isVaultWell}
          none="The catalogue has no vault."
          idOf={({ chainId, vaultAddress }) => `${chainId} ${vaultAddress}`}
        >
          {(vault, list) => <VaultRow vault={vault} list={list} />}
        </Part>
      </div>
    </>
  )
}

function ChainRow({ chain, list }: { chain: Chain; list: { at: string } }): ReactNode {
  const { chainId, name, watched, state, reason } = chain
  const shown = states[state ?? 'not-started'] ?? state ?? ''
  return (
    <>
      <Head state={watched ? shown : 'not watched'} isWell={isChainWell(chain)}>
        {cutName(name, 60)} <span className="muted">{chainId}</span>
      </Head>
      <Why text={reason} />
      <Facts>
        <Fact title="Newest block">
          <Num value={chain.headBlock} as="count" name="headBlock" />
        </Fact>
        <Fact title="Read up to">
          <Num value={chain.indexedBlock} as="count" name="indexedBlock" />
        </Fact>
        <Fact title="Blocks behind">
          <Num value={chain.lagBlocks} as="count" name="lagBlocks" />
        </Fact>
        <Fact title="Final up to">
          <Num value={chain.finalizedBlock} as="count" name="finalizedBlock" />
        </Fact>
        <Fact title="Heard of">
          <Since name="updatedAt" at={chain.updatedAt} list={list} />
        </Fact>
        <Fact title="Reorganisations, 24 h">
          <Num value={chain.reorgs24h} as="count" name="reorgs24h" />
        </Fact>
        {chain.evidence === 'trace' && (
          <Fact title="Traces awaited, missing">
            <Num value={chain.tracesAwaited} as="count" name="tracesAwaited" />,{' '}
            <Num value={chain.tracesMissing} as="count" name="tracesMissing" />
          </Fact>
        )}
      </Facts>
      <Commands
        lines={[
          'openearn doctor',
          `openearn chains refetch ${chainId} --from BLOCK --to BLOCK`,
          `openearn chains rewind ${chainId} --to BLOCK`,
        ]}
      />
    </>
  )
}

function VaultRow({ vault, list }: { vault: Vault; list: { at: string } }): ReactNode {
  const { chainId, vaultAddress, kind, protocol, isPaused, synced, fromBlock, checkedBlock, mismatches } = vault
  const state = mismatches ? 'drifts' : isPaused ? 'paused' : synced === true ? 'followed' : 'the past is being read'
  const range = `--from ${fromBlock ?? 'BLOCK'} --to ${checkedBlock ?? 'BLOCK'}`
  return (
    <>
      <Head state={state} isWell={isVaultWell(vault)}>
        <code>{vaultAddress}</code>
      </Head>
      <p className="muted small" dir="auto">
        {cutName(protocol ?? 'without a protocol', 60)}, {kind}, chain {chainId}
      </p>
      <Facts>
        <Fact title="Balances that differ">
          <Num value={mismatches} as="count" name="mismatches" /> of{' '}
          <Num value={vault.samples} as="count" name="samples" />
        </Fact>
        <Fact title="Compared">
          <Since name="checkedAt" at={vault.checkedAt} list={list} />
        </Fact>
        <Fact title="Moves above the balance">
          <Num value={vault.cutMoves} as="count" name="cutMoves" />
        </Fact>
        <Fact title="Last snapshot">
          <Since name="lastSnapshotAt" at={vault.lastSnapshotAt} list={list} />
        </Fact>
      </Facts>
      <Commands
        lines={[
          ...(mismatches ? [`openearn chains refetch ${chainId} ${range}`] : []),
          `openearn vaults ${isPaused ? 'resume' : 'pause'} ${chainId} ${vaultAddress}`,
        ]}
      />
    </>
  )
}
