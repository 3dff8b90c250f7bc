/** A call of a transaction that lies on the way to a log of ours, as a node's call tree tells it. */
export type PathCall = {
  /** The index of the call it runs in; undefined for the transaction's own. A call comes after the one it runs in. */
  parent: number | undefined
  kind: 'call' | 'delegatecall' | 'callcode' | 'create'
  /** Lower-case; of a delegatecall the account whose name it runs in. */
  caller: string
  /** Lower-case; of a delegatecall the contract whose code runs. */
  target: string
  input: string
  /** Logs of ours that it emitted itself, by their index in the block; none anywhere where the tree has no logs. */
  logs: readonly number[]
  /** Its bytes do not stand in the transaction's input, and no second node told the same: one node's word. */
  isWord: boolean
}

/** The calls from a transaction to its logs of ours, checked against the transaction and its receipt. */
export type CallPaths = { calls: readonly PathCall[]; hasLogs: boolean }

/** Evidence of how a transaction ran: its call paths, or that no trace was available. */
export type Evidence = CallPaths | 'no trace'
