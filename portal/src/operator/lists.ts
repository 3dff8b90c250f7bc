import { serviceUrl } from '../place.js'

/** `/ops/v1/{name}.json`. Instants are RFC 3339, amounts are decimal texts in the smallest unit. */
export type List<T> = {
  /** When the service read it. */
  at: string
  /** Rows it has at most; absent: all there are. */
  limit?: number
  data: T[]
}

export type Chain = {
  chainId: number
  name: string
  watched: boolean
  state: 'backfilling' | 'live' | 'stalled' | null
  reason: string | null
  headBlock: number | null
  indexedBlock: number | null
  finalizedBlock: number | null
  lagBlocks: number | null
  updatedAt: string | null
  reorgs24h: number
  evidence: 'trace' | 'calldata'
  tracesAwaited: number
  tracesMissing: number
}

export type Vault = {
  chainId: number
  vaultAddress: string
  kind: string
  protocol: string | null
  synced: boolean | null
  fromBlock: number | null
  isPaused: boolean
  lastSnapshotAt: string | null
  checkedAt: string | null
  checkedBlock: number | null
  samples: number | null
  mismatches: number | null
  cutMoves: number
}

export type Job = {
  name: string
  isRunning: boolean
  attempts: number
  failedSince: string | null
  error: string
  overdueSeconds: number
}

export type Sender = {
  chainId: number
  address: string
  stopped: string | null
  stoppedAt: string | null
  isReleased: boolean
  open: number
  oldestId: string | null
  oldestAt: string | null
  oldestReason: string | null
  spentDay: string
  /** The most that may be spent in 24 hours. */
  spentDayMax: string
}

type Held = 'tooDear' | 'noFunds' | 'dayBudget'

export type Transaction = {
  id: string
  chainId: number
  sender: string
  to: string
  purpose: string
  state: 'queued' | 'sent'
  held: Held | null
  reason: string | null
  nonce: number | null
  cancelling: boolean
  costMax: string
  reserved: string | null
  createdAt: string
}

export type Settlement = {
  id: string
  orderId: string
  chainId: number
  owner: string
  attempt: number
  isOpen: boolean
  isRisky: boolean
  costMax: string
  cost: string | null
  outcome: string | null
  state: string | null
  held: Held | null
  reason: string | null
  createdAt: string
  closedAt: string | null
}

export type Stream = {
  id: string
  chainId: number
  contract: string | null
  alarm: string | null
  snapshotComputationPaused: boolean
  merkleTreeComputationPaused: boolean
  hashCommitmentPaused: boolean
  claimPaused: boolean
  standing: string | null
  snapshotAt: string | null
  root: string | null
  total: string | null
  vetoUntil: string | null
  isVetoable: boolean
  commit: { id: string; state: string; held: Held | null; reason: string | null } | null
  /** A root that was counted again and is something else; by whom. */
  doubted: { root: string; at: string; sources: string[] } | null
}

export type Change = { id: string; at: string; osUser: string; command: string; before: unknown; after: unknown }

export type Difference = {
  kind: string
  id: string
  name: string
  change: 'added' | 'changed' | 'removed'
  members: Record<string, { before: unknown; after: unknown }>
}

export type Import = {
  id: string
  at: string
  osUser: string
  command: string
  /** Null: it was imported before differences were kept. */
  differences: Difference[] | null
  /** Differences that are left out. */
  more: number
  added: number
  changed: number
  removed: number
}

export type Key = {
  id: string
  kind: string
  hint: string
  name: string
  organizationId: string
  distributorId: string | null
  hourlyUnits: number
  monthlyUnits: number | null
  addressUnits: number | null
  createdAt: string
  expiresAt: string | null
  revokedAt: string | null
}

/** The lists by name. */
export type Lists = {
  chains: Chain
  vaults: Vault
  jobs: Job
  senders: Sender
  transactions: Transaction
  settlements: Settlement
  streams: Stream
  imports: Import
  changes: Change
  keys: Key
}

/** A list that could not be read. `status` 0: the service does not answer. */
export class ListError extends Error {
  override readonly name = 'ListError'
  constructor(
    readonly status: number,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** Reads a list with the operator's token. @throws ListError with a sentence for the operator. */
export async function readList<N extends keyof Lists>(name: N, token: string): Promise<List<Lists[N]>> {
  const response = await fetch(`${serviceUrl}ops/v1/${name}.json`, {
    headers: { authorization: `Bearer ${token}` },
    credentials: 'omit',
    cache: 'no-store',
    redirect: 'error',
  }).catch((cause: unknown) => {
    throw new ListError(0, 'the operator listener cannot be reached: it has stopped, or there is no network', { cause })
  })
  const body = await response.json().catch((cause: unknown) => {
    throw new ListError(response.status, `the service answers ${response.status} without JSON`, { cause })
  })
  if (!response.ok)
    throw new ListError(response.status, String(body?.error ?? `the service answers ${response.status}`))
  return body
}
