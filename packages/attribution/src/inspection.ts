import { type Address, getAddress, type Hex } from 'viem'
import type { Attribution, Placement, Reading } from './attribute.js'
import { formatHex, lowerAddress } from './calldata.js'
import type { Suffix } from './erc8021.js'
import type { Registry } from './erc8021Fields.js'
import type { Frame } from './frames.js'
import { describeProblem } from './problems.js'
import { type JsonObject, renderMetadata } from './render.js'
import { tailSpan } from './tails.js'

/** One suffix or tracker, as it is served. `start` and `end` index the bytes of the transaction input. */
export type SuffixInspection = {
  /** A suffix or tracker that could be read is there; a malformed one is not, and says why in `problems`. */
  found: boolean
  schema: 'erc8021-0' | 'erc8021-1' | 'erc8021-2' | 'legacy' | null
  placement: Placement | null
  app: string | null
  wallet: string | null
  services: string[]
  codes: string[]
  registries: JsonObject | null
  metadata: JsonObject | null
  suffix: Hex | null
  start: number | null
  end: number | null
  signature: { present: boolean; valid: boolean; signer: Address | null }
  problems: string[]
}

/** The outermost suffix that can be read, and in `stacked` every other, outermost first. */
export type Inspection = SuffixInspection & { stacked: SuffixInspection[] }

/** The problem of a code that would count only if calldata alone said who made the call. */
export const needsTrace = 'needs a trace'

/** An inspection that found nothing, with the reasons. */
export function emptyInspection(...problems: string[]): Inspection {
  return { ...nothing(), problems, stacked: [] }
}

/**
 * The attributions in a transaction's calldata, as they are served: safe to print as JSON for every calldata. The first suffix
 * that names a code comes first, else the first that can be read, else the first of all.
 */
export function inspect(attribution: Attribution): Inspection {
  const all = attribution.groups.flatMap(({ findings }) =>
    findings.flatMap(({ placement, frame, readings }) =>
      readings.map((reading) => inspectReading(reading, placement, frame)),
    ),
  )
  const problems = attribution.truncated ? ['some inner calls were too many or too deep to be read'] : []
  const main = all.find(({ codes }) => codes.length > 0) ?? all.find(({ found }) => found) ?? all[0]
  if (main) {
    return { ...main, problems: [...main.problems, ...problems], stacked: all.filter((other) => other !== main) }
  }
  const bundlers = attribution.bundler.map(({ codes }) => {
    const named = codes.length > 0 ? ` (${codes.join(', ')})` : ''
    return `the suffix at the end of the bundle${named} is the bundler's and counts for none of its operations`
  })
  return emptyInspection(...bundlers, ...problems)
}

function inspectReading(reading: Reading, placement: Placement, { proven, data }: Frame): SuffixInspection {
  const { start, end } = tailSpan(reading)
  const { present, valid, signer, error } = reading.signature
  const metadata = readMetadata(reading)
  const rendered = metadata && renderMetadata(metadata)
  const problems = [
    describeProblem(reading),
    present && !valid ? error : undefined,
    proven ? undefined : needsTrace,
    rendered?.truncated ? 'some metadata is left out' : undefined,
  ]
  return {
    ...nothing(),
    ...(reading.kind === 'erc8021' ? inspectSuffix(reading.suffix) : { schema: 'legacy' }),
    found: reading.suffix.status !== 'malformed',
    placement,
    codes: reading.codes,
    metadata: rendered?.value ?? null,
    suffix: formatHex(data, start, end),
    start,
    end,
    signature: { present, valid, signer: signer ? getAddress(signer) : null },
    problems: problems.filter((problem) => problem !== undefined),
  }
}

function inspectSuffix(suffix: Suffix): Partial<SuffixInspection> {
  const schema = ([`erc8021-0`, `erc8021-1`, `erc8021-2`] as const)[suffix.schemaId ?? -1] ?? null
  if (suffix.status === 'malformed' || suffix.status === 'unknown-schema' || suffix.schemaId === 0) return { schema }
  if (suffix.schemaId === 1) return { schema, registries: { codes: inspectRegistry(suffix.codeRegistry) } }
  const { appCode, walletCode, serviceCodes, registries } = suffix
  const named = Object.entries(registries ?? {}).map(([name, registry]) => [name, inspectRegistry(registry)] as const)
  return {
    schema,
    app: appCode ?? null,
    wallet: walletCode ?? null,
    services: serviceCodes ?? [],
    registries: registries ? Object.fromEntries(named) : null,
  }
}

function inspectRegistry({ chainId, address }: Registry): JsonObject {
  return { chainId, address: getAddress(lowerAddress(address)) }
}

function readMetadata({ suffix }: Reading): ReadonlyMap<unknown, unknown> | undefined {
  return 'metadata' in suffix ? suffix.metadata : undefined
}

function nothing(): SuffixInspection {
  return {
    found: false,
    schema: null,
    placement: null,
    app: null,
    wallet: null,
    services: [],
    codes: [],
    registries: null,
    metadata: null,
    suffix: null,
    start: null,
    end: null,
    signature: { present: false, valid: false, signer: null },
    problems: [],
  }
}
