import { attribute, type Inspection, inspect, type OperationEvent } from '@openearn/attribution'
import type { Address, Hex } from 'viem'
import { openFastRecover } from '../../derive/fastRecover.js'
import type { RawLog } from '../../rpc/raw.js'
import { boundInspection } from './boundAnswer.js'
import { type Carried, listCarried } from './carried.js'
import { decodeEvents } from './decodeEvents.js'
import type { DecodedEvent } from './schema.js'
import { listStatements, type Statement } from './statements.js'

/** A transaction to judge, with the known keys and entry points. */
export type Subject = {
  chainId: number
  from: Address
  to: Address | null
  input: Hex
  signers: readonly Address[]
  entryPoints: readonly Address[]
  /** Events of EntryPoints about operations it ran. */
  operations: readonly OperationEvent[]
  /** Logs to be decoded; none where nobody asks for the events. */
  logs: readonly RawLog[]
}

/** The attributions in a transaction's calldata, as plain values of limited size. */
export type Judgement = {
  statements: Statement[]
  inspection: Inspection
  /** Stacked suffixes the inspection counts and does not list. */
  stackedOmitted: number
  /** The actions whose calls it makes. */
  carried: Carried[]
  events: DecodedEvent[]
}

const recover = openFastRecover()

/** Reads and judges a transaction. Takes no more than a bounded time, but up to a second where no native code helps. */
export function judge(subject: Subject): Judgement {
  const { signers, logs, ...transaction } = subject
  const attribution = attribute({ ...transaction, signers: signers.map((address) => ({ address })), recover })
  return {
    statements: listStatements(attribution),
    ...boundInspection(inspect(attribution)),
    carried: listCarried(attribution, transaction.operations),
    events: decodeEvents(logs),
  }
}
