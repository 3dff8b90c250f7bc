import T, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import type { DeriveConfig, SignedOnlySetting } from '../../derive/config.js'
import type { Queryable } from '../../postgres/pool.js'
import type { DeclaredHolder } from '../../vaults/holders/index.js'
import { loadConfiguration } from './storeConfiguration.js'

/** The configuration that decides, with the chain, who brought the shares of a vault by an instant: plain JSON, stored in files. */
export type KeptConfiguration = Static<typeof schema>

const instant = T.Integer()
const schema = T.Object({
  vaults: T.Array(
    T.Object({
      ...{ address: T.String(), kind: T.String(), receiptToken: T.String(), asset: T.String() },
      ...{ assetDecimals: T.Integer(), escrow: T.Union([T.String(), T.Null()]), startBlock: T.Integer() },
      ...{ contracts: T.Optional(T.Record(T.String(), T.String())), activeFrom: instant },
      /** Absent: none, as in files of older releases. */
      holders: T.Optional(
        T.Array(
          T.Object({
            ...{ address: T.String(), kind: T.String(), from: instant },
            markets: T.Optional(T.Array(T.String())),
          }),
        ),
      ),
      /** Holders whose view was found to contradict their events, and when. Absent: none, as in files of older releases. */
      doubts: T.Optional(T.Array(T.Object({ holder: T.String(), at: instant }))),
    }),
  ),
  distributors: T.Array(T.Tuple([T.String(), instant])),
  signedOnly: T.Array(T.Tuple([T.String(), instant, T.Boolean()])),
  signers: T.Array(T.String()),
  entryPoints: T.Array(T.String()),
  trustTraces: T.Boolean(),
  forwarders: T.Array(T.Object({ address: T.String(), from: instant, startBlock: T.Optional(T.Integer()) })),
  settlements: T.Array(T.String()),
  /** Absent: not in force at that instant, as in files of older releases. */
  operationsApartFrom: T.Optional(instant),
})
const checker = Compile(schema)

/** The configuration of a chain as far as it decides by an instant; a vault is named, whenever it came into force. */
export async function readConfiguration(
  db: Queryable,
  { chainId, vault, at }: { chainId: number; vault: string; at: number },
): Promise<KeptConfiguration> {
  return keepConfiguration(await loadConfiguration(db, chainId), { vault, at })
}

/** The part of a configuration that decides by an instant, in one order. Pure. */
export function keepConfiguration(config: DeriveConfig, { vault: own, at }: { vault: string; at: number }) {
  const { operationsApartFrom: apartFrom = 0 } = config
  const kept: KeptConfiguration = {
    vaults: config.vaults
      .filter(({ address, activeFrom }) => address === own || activeFrom <= at)
      .map(({ id, contracts, holders, doubts = [], ...vault }) => ({
        ...vault,
        ...(contracts ? { contracts: { ...contracts } } : {}),
        ...(holders ? { holders: holders.map(keepHolder) } : {}),
        ...keepDoubts(doubts, at),
      }))
      .sort((a, b) => (a.address < b.address ? -1 : 1)),
    distributors: [...config.distributors].filter(([, from]) => from <= at).sort(byName),
    signedOnly: [...config.signedOnly]
      .sort(byName)
      .flatMap(([id, settings]) =>
        settings.flatMap(({ from, signedOnly }): [string, number, boolean][] =>
          from <= at ? [[id, from, signedOnly]] : [],
        ),
      ),
    signers: [...config.signers].sort(),
    entryPoints: [...config.entryPoints].sort(),
    trustTraces: config.trustTraces === true,
    forwarders: (config.forwarders ?? []).filter(({ from }) => from <= at),
    settlements: [...(config.settlements ?? [])].sort(),
    ...(apartFrom <= at ? { operationsApartFrom: apartFrom } : {}),
  }
  return kept
}

const keepHolder = ({ address, kind, from, markets }: DeclaredHolder) => ({
  ...{ address, kind, from, ...(markets ? { markets: [...markets] } : {}) },
})

/** Those that decide a transaction by an instant: of one at that instant only earlier ones do. */
function keepDoubts(doubts: readonly { holder: string; at: number }[], by: number) {
  const kept = doubts.filter(({ at }) => at < by).map(({ holder, at }) => ({ holder, at }))
  return kept.length > 0 ? { doubts: kept } : {}
}

/** Whether shares of a vault count for the accounts of declared holders. */
export function hasHolders({ vaults }: KeptConfiguration, vault: string): boolean {
  return vaults.some(({ address, holders = [] }) => address === vault && holders.length > 0)
}

/** Parses the configuration in a file; undefined if malformed. */
export function parseConfiguration(value: unknown): KeptConfiguration | undefined {
  return checker.Check(value) ? value : undefined
}

/** A kept configuration as derivation takes it. Vaults are numbered in their order. */
export function openConfiguration(chainId: number, kept: KeptConfiguration): DeriveConfig {
  const signedOnly = new Map<string, SignedOnlySetting[]>()
  for (const [id, from, isOnly] of kept.signedOnly)
    signedOnly.set(id, [...(signedOnly.get(id) ?? []), { from, signedOnly: isOnly }])
  return {
    chainId,
    vaults: kept.vaults.map((vault, index) => ({ ...vault, id: index + 1 })),
    distributors: new Map(kept.distributors),
    signedOnly,
    signers: new Set(kept.signers),
    ...{ entryPoints: kept.entryPoints, trustTraces: kept.trustTraces },
    ...{ forwarders: kept.forwarders, settlements: kept.settlements },
    operationsApartFrom: kept.operationsApartFrom ?? Number.POSITIVE_INFINITY,
  }
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1)
