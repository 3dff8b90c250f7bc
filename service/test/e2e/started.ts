import type { ChildProcess } from 'node:child_process'

export type Started = {
  child: ChildProcess
  output(): string
  /** Resolves with everything said once the process has ended. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  /** Asks it to stop and waits for the end. */
  stop(): Promise<void>
  kill(): Promise<void>
}

type DevOpportunity = {
  id: string
  name: string
  kind: string
  vaultAddress: `0x${string}`
  asset: { address: `0x${string}`; symbol: string; decimals: number }
}

export type Dev = {
  baseUrl: string
  opsUrl: string
  rpcUrl: string
  chainId: number
  keys: { publishable: string; secret: string }
  operatorToken: string
  distributorIds: string[]
  organizations: { id: string; name: string }[]
  accounts: { address: `0x${string}`; privateKey: `0x${string}` }[]
  opportunities: DevOpportunity[]
  withheld: (DevOpportunity & { withheld: string })[]
  contracts: Record<string, `0x${string}`>
}
