import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { isAddress } from 'viem'
import { lookAtCatalogue } from '../features/catalogue/differences/index.js'
import { describeProbe, draftEntry, importCatalogue } from '../features/catalogue/import/index.js'
import { readNewVaults } from '../features/catalogue/operator/index.js'
import { systemClock } from '../kernel/clock.js'
import { isRpcUrl } from '../kernel/config.js'
import { EarnError } from '../kernel/errors.js'
import { findPrices, listUnpricedAssets } from '../prices/index.js'
import { ProbeError, probeVault } from '../probing/index.js'
import type { Chain } from '../rpc/chains.js'
import { listChainSettings } from '../rpc/storeChains.js'
import { listAssets } from '../vaults/configured/index.js'
import { changing, readConfig, withContext } from './command.js'
import { priceAdvice } from './doctorPrices.js'
import { parseProbeFile, probeAll } from './probeAll.js'
import { adviseRefetch, listReadBeside } from './readBeside.js'
import { readTextFile } from './readFile.js'
import { answer, type Command, parseFlags, parseWhole, UsageError } from './terminal.js'
import { openUnlisted } from './unlisted.js'

const usage = `openearn catalogue import FILE
openearn catalogue probe CHAIN_ID VAULT_ADDRESS [--rpc URL] [--price USD]
  what a vault is, and a draft of its catalogue entry on standard output. --price: US dollars of a whole unit of its asset, by
  which the draft has an LP floor of a cent's worth; without --rpc the price is that of this installation
openearn catalogue probe --all FILE --out FILE [--rpc URL]
  the same for every vault of a file with a chain id and an address a line; goes on where it was interrupted. Drafts of chains that
  are read as they are configured have LP floors by this installation's prices`

/** Fifty thousand entries with every member take less. */
const mebibytesMax = 64

export const catalogue: Command = {
  usage,
  run: async ([verb, ...words]) => {
    if (verb === 'import') return importFile(words)
    if (verb === 'probe') return probe(words)
    throw new UsageError(`catalogue: say import or probe\n${usage}`)
  },
}

async function importFile([fileName, ...more]: string[]): Promise<void> {
  if (fileName === undefined || more.length > 0) throw new UsageError(`catalogue import: name one file\n${usage}`)
  const text = await readTextFile(fileName, { mebibytesMax })
  await withContext(async (ctx) => {
    const hash = createHash('sha256').update(text).digest('hex')
    const changed = changing(ctx, ['catalogue', 'import', fileName, `sha256:${hash}`], lookAtCatalogue())
    const before = await listReadBeside(ctx.db)
    const { opportunities, tokens, distributors } = await importCatalogue(changed, text, { fileName })
    await readNewVaults(ctx)
    const said = `imported ${fileName}: ${opportunities} opportunities, ${tokens} tokens, ${distributors} distributors`
    const unpriced = await listUnpricedAssets(ctx.db, await listAssets(ctx.db), ctx.clock.now())
    const without = unpriced.map(({ chainId, address }) => `${chainId}:${address}`)
    const warned = without.length === 0 ? [] : [`without a price: ${without.join(', ')}; ${priceAdvice}`]
    const late = adviseRefetch(before, await listReadBeside(ctx.db))
    answer({ opportunities, tokens, distributors, unpriced: without }, [said, ...warned, ...late])
  })
}

async function probe(words: string[]): Promise<void> {
  const flags = {
    rpc: { type: 'string' },
    all: { type: 'string' },
    out: { type: 'string' },
    price: { type: 'string' },
  } as const
  const { values, positionals } = parseFlags(words, flags, 2)
  if (values.all !== undefined) return probeFile({ ...values, all: values.all }, positionals)
  const [chainText, address] = positionals
  const chainId = parseWhole(chainText, 1)
  if (chainId === undefined) throw new UsageError('catalogue probe: give the chain id first')
  if (address === undefined || !isAddress(address, { strict: false }))
    throw new UsageError('catalogue probe: give the address of one vault after the chain id')
  const given = readPrice(values.price)
  const { chain, isStored } = await openProbedChain(chainId, values.rpc)
  try {
    const probed = await probeVault(chain, address)
    const price = given ?? (isStored ? await findKnownPrice(chainId, probed.asset.address) : undefined)
    const draft = draftEntry(chainId, probed.address, probed, price)
    for (const line of [...describeProbe(probed), ...describePrice(draft, price)]) process.stderr.write(`${line}\n`)
    answer(draft, [JSON.stringify(draft, null, 2)])
  } catch (error) {
    if (error instanceof ProbeError || error instanceof EarnError) throw new UsageError(error.message)
    throw error
  }
}

function readPrice(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  if (!/^[0-9]{1,12}(\.[0-9]{1,18})?$/.test(text) || !/[1-9]/.test(text))
    throw new UsageError('--price must be US dollars of a whole unit of the asset, such as 1 or 1830.25')
  return text
}

/** The prices of assets in this installation, as far as it has them. */
async function findKnownPrices(chainId: number, assets: readonly string[]): Promise<Map<string, string>> {
  let found = new Map<string, string>()
  await withContext(async ({ db, clock }) => {
    const wanted = [...new Set(assets.map((asset) => asset.toLowerCase()))]
    const prices = await findPrices(db, chainId, wanted, clock.now())
    found = new Map([...prices].map(([asset, { priceUsd }]) => [asset, priceUsd]))
  })
  return found
}

async function findKnownPrice(chainId: number, asset: string): Promise<string | undefined> {
  return (await findKnownPrices(chainId, [asset])).get(asset.toLowerCase())
}

function describePrice(draft: ReturnType<typeof draftEntry>, price: string | undefined): string[] {
  if (price === undefined)
    return [
      `price of the asset: none yet; ${priceAdvice}`,
      "LP floor: none in the draft; say --price for a cent's worth",
    ]
  const [floor] = draft.opportunities?.[0]?.vault.lpFloor ?? []
  return [`price of the asset: ${price} USD`, `LP floor: ${floor?.shares} shares in smallest units, a cent's worth`]
}

async function probeFile(
  values: { all: string; out?: string; rpc?: string; price?: string },
  words: readonly string[],
): Promise<void> {
  const { all, out, rpc, price } = values
  if (price !== undefined)
    throw new UsageError('catalogue probe --all: the vaults have many assets; --price is for one vault')
  if (out === undefined || words.length > 0)
    throw new UsageError('catalogue probe --all: say --out FILE, and nothing else')
  const text = await readTextFile(all, { mebibytesMax })
  const vaults = parseProbeFile(text)
  const chains = new Map<number, ReturnType<typeof openProbedChain>>()
  const open = (chainId: number) => {
    const opened = chains.get(chainId) ?? openProbedChain(chainId, rpc)
    chains.set(chainId, opened)
    return opened
  }
  const draft = await probeAll({
    ...{ vaults, progressFile: `${out}.progress`, clock: systemClock },
    openChain: async (chainId) => (await open(chainId)).chain,
    findPrices: async (chainId, assets) =>
      (await open(chainId)).isStored ? findKnownPrices(chainId, assets) : new Map(),
    say: (line) => process.stderr.write(`${line}\n`),
  })
  await writeFile(out, `${JSON.stringify(draft, null, 2)}\n`)
  const drafted = draft.opportunities?.length ?? 0
  answer({ probed: vaults.length, drafted }, [`probed ${vaults.length} addresses; ${drafted} drafted into ${out}`])
}

/** The chain by the url given, by the environment, or as it is configured; `isStored`: the last. */
async function openProbedChain(chainId: number, url: string | undefined): Promise<{ chain: Chain; isStored: boolean }> {
  if (url !== undefined && !isRpcUrl(url)) throw new UsageError('--rpc must be an http, https, ws or wss url')
  const given = url === undefined ? readConfig().rpcUrls.get(chainId) : [url]
  if (given) return { chain: openUnlisted(chainId, given), isStored: false }
  let chain: Chain | undefined
  await withContext(async ({ db }) => {
    const found = (await listChainSettings(db)).find((row) => row.chainId === chainId && row.rpcUrls.length > 0)
    if (found) chain = openUnlisted(chainId, found.rpcUrls, found.name)
  })
  if (!chain) throw new UsageError(`chain ${chainId} has no RPC url: add the chain, or say --rpc URL`)
  return { chain, isStored: true }
}
