import {
  EarnProvider,
  type FlowHandle,
  type FlowOptions,
  opportunitiesQuery,
  useCancel,
  useClaim,
  useClaimRewards,
  useDeposit,
  useEarnStatus,
  useJoin,
  useOpportunities,
  useOpportunity,
  useOrder,
  usePortfolio,
  useRequests,
  useSwap,
  useWithdraw,
} from '@openearn/react'
import { createEarnClient, type EarnClient, type Trust } from '@openearn/sdk'
import type { Flow, Provider } from '@openearn/sdk/flows'
import {
  type DehydratedState,
  dehydrate,
  HydrationBoundary,
  QueryClient,
  QueryClientProvider,
} from '@tanstack/react-query'
import { type ReactNode, StrictMode, useEffect } from 'react'

/** What the page of a test is given. */
export type Settings = {
  baseUrl: string
  apiKey: string
  wallet: `0x${string}`
  trust?: Trust
  review?: boolean
  strict?: boolean
  /** The page that asks for a membership. */
  url?: string
}

/** What each component drew, in order, and the handles of the flows: a test reads and uses both. */
export type Told = { drawn: Record<string, unknown[]>; flows: Record<string, FlowHandle<Flow, never>> }

const told: Told = { drawn: {}, flows: {} }
export const getTold = (): Told => told

/** Notes each drawing that reached the page: React may begin one that it does not end. */
const useDrawn = (name: string, what: unknown) =>
  useEffect(() => {
    told.drawn[name] ??= []
    told.drawn[name].push(what)
  })

const symbols = { depositTokenSymbols: ['USDC'], limit: 2 }

function Vaults() {
  const { data, error } = useOpportunities(symbols)
  const names = data?.items.map(({ name }) => name) ?? []
  useDrawn('vaults', data)
  const [first] = data?.items ?? []
  return (
    <section>
      <h1>{error ? error.message : data ? `${data.total} vaults` : 'loading'}</h1>
      <ul>
        {names.map((name) => (
          <li key={name}>{name}</li>
        ))}
      </ul>
      <Vault id={first?.id} />
    </section>
  )
}

function Vault({ id }: { id: string | undefined }) {
  const { data } = useOpportunity({ id })
  useDrawn('vault', data?.name)
  return <p>{data ? `${data.name}: ${data.tvl ?? 'no TVL'}` : 'no vault'}</p>
}

function Portfolio({ wallet }: { wallet: `0x${string}` | undefined }) {
  const { data } = usePortfolio({ address: wallet })
  useDrawn('portfolio', data)
  return <p>{data ? 'portfolio' : 'no portfolio'}</p>
}

function Wallet({ wallet }: { wallet: `0x${string}` | undefined }) {
  const { data: requests } = useRequests({ address: wallet })
  const { data: status } = useEarnStatus()
  return (
    <p>
      {requests?.requests.map(({ state }) => state).join(' ')}, {status?.chains.length}
    </p>
  )
}

const hooks = {
  join: useJoin,
  deposit: useDeposit,
  withdraw: useWithdraw,
  claim: useClaim,
  cancel: useCancel,
  swap: useSwap,
  order: useOrder,
  claimRewards: useClaimRewards,
} satisfies Record<Flow['kind'], unknown>

function FlowPanel({ kind, options }: { kind: Flow['kind']; options: FlowOptions }) {
  const handle = (hooks[kind] as (options: FlowOptions) => FlowHandle<Flow, never>)(options)
  const { flow, needs, error } = handle
  told.flows[kind] = handle
  useDrawn(kind, flow)
  useDrawn(`${kind} error`, error === undefined ? undefined : String(error))
  return (
    <p>
      {kind}: {flow?.status ?? 'none'} {needs}
    </p>
  )
}

/** The parts that a server draws: nothing of a wallet. */
export function Page({ earn, queries, state }: { earn: EarnClient; queries: QueryClient; state: DehydratedState }) {
  return (
    <QueryClientProvider client={queries}>
      <HydrationBoundary state={state}>
        <EarnProvider earn={earn}>
          <Vaults />
          <FlowPanel kind="deposit" options={{}} />
        </EarnProvider>
      </HydrationBoundary>
    </QueryClientProvider>
  )
}

/** What a server reads for the page: the list, and the vault that it shows. */
export async function readPage(earn: EarnClient) {
  const queries = new QueryClient()
  const { opportunityQuery } = await import('@openearn/react')
  const list = await queries.fetchInfiniteQuery(opportunitiesQuery(earn, symbols))
  const [first] = list.pages[0]?.data ?? []
  if (first) await queries.prefetchQuery(opportunityQuery(earn, { id: first.id }))
  return { queries, state: JSON.parse(JSON.stringify(dehydrate(queries))) as DehydratedState }
}

/** All of it, with a wallet. */
export function App({
  settings,
  provider,
  earn,
}: {
  settings: Settings
  provider: Provider | undefined
  earn: EarnClient
}): ReactNode {
  const options = { review: settings.review }
  const page = (
    <EarnProvider earn={earn} provider={provider} url={settings.url}>
      <Vaults />
      <Portfolio wallet={settings.wallet} />
      <Wallet wallet={settings.wallet} />
      {(Object.keys(hooks) as Flow['kind'][]).map((kind) => (
        <FlowPanel key={kind} kind={kind} options={options} />
      ))}
    </EarnProvider>
  )
  return settings.strict ? <StrictMode>{page}</StrictMode> : page
}

export const openEarn = ({ baseUrl, apiKey, trust }: Settings): EarnClient =>
  createEarnClient({ baseUrl, apiKey, trust })
