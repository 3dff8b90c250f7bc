import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
/** TypeScript 7, which no longer resolves as Node 10 did. */
const compiler = fileURLToPath(new URL('../../node_modules/typescript-native/bin/tsc', import.meta.url))
const lastForNode10 = fileURLToPath(import.meta.resolve('typescript/bin/tsc'))

/** A use of the package whose types have to be found: `wrong` is an error, and that it is one is expected. */
export const typedUse = `import { createEarnClient, type EarnClient, type EarnError, listOpportunities, type types } from '@openearn/sdk'
import { advance, beginDeposit, type Flow, isLast, type World } from '@openearn/sdk/flows'
import { type AttributionProof, type ProofVerdict, verifyProof } from '@openearn/sdk/proof'
import { client as turtle, createMembershipV2, getOpportunityHistoricalApr, types as origin } from '@openearn/sdk/turtle'
import { askFor, type Handed, type HandedKind, handedKinds, type Limits, type Provider } from '@openearn/sdk/wallet'
import { attribution, type PlanContext, type StreamContext, type Verdict, verifyPlan, verifyStream } from '@openearn/sdk/verify'
const suffix: attribution.Suffix | undefined = attribution.decode('0x')[0]
export const codes: readonly string[] = suffix ? attribution.listCodes(suffix) : []
export const client: EarnClient = createEarnClient({ baseUrl: '/earn' })
export const names = async () => (await listOpportunities(client, { chainIds: [1], sortOrder: 'asc' })).data.map(({ name }) => name)
export const reasonOf = (error: EarnError): 'NO_ROUTE' | undefined => (error.reason === 'NO_ROUTE' ? error.reason : undefined)
export const curator = (vault: types.Opportunity): string | undefined => vault.curator?.name
// @ts-expect-error
export const wrongOrder = listOpportunities(client, { sortOrder: 'up' })
export const stepped = async (world: World, flow: Flow): Promise<boolean> => isLast(await advance(flow, world, 'go'))
export const began = beginDeposit({ opportunityId: '', userAddress: '0x', tokenIn: 'native', amount: 1n, distributorId: '' }).status
// @ts-expect-error
export const unheard = (world: World, flow: Flow) => advance(flow, world, 'yes')
export const handedOn = (world: World, limits: Limits, handed: Handed): Promise<string> => askFor(world, limits, handed)
export const kinds: readonly HandedKind[] = handedKinds
export const around = (provider: Provider, given: object): Promise<unknown> | undefined => provider.handOn?.({ kind: 'claim', given })
// @ts-expect-error
export const unlimited = (world: World, handed: Handed) => askFor(world, { url: '' }, handed)
turtle.setConfig({ baseUrl: '/earn', headers: { Authorization: 'Bearer pk' } })
export const joined = async (body: origin.CreateMembershipV2Data['body']): Promise<boolean> => (await createMembershipV2({ body, throwOnError: true })).data.isMember
export const rates = async (vaultAddress: string) => {
  const { data, error } = await getOpportunityHistoricalApr({ path: { chainId: 1, vaultAddress }, query: { startDate: '2026-01-01T00:00:00Z' } })
  return error ? error.reason : data.data.length
}
// @ts-expect-error
export const withoutBody = createMembershipV2({})
export const verdict = (context: PlanContext): Promise<Verdict> => verifyPlan({} as never, [], context)
export const funded = (context: StreamContext): Promise<Verdict> => verifyStream({ type: 'claim', userAddress: '0x' }, [], context)
// @ts-expect-error
export const unasked = verifyStream({ type: 'fund' }, [], {} as StreamContext)
export const proved = (proof: AttributionProof): Promise<ProofVerdict> =>
  verifyProof(proof, { chainId: 1, blockHash: proof.blockHash, trust: { vaults: [], signers: [] } })
// @ts-expect-error
export const unproved = (proof: AttributionProof) => verifyProof(proof, { chainId: 1 })
// @ts-expect-error
export const wrong: number = attribution.encode({ codes: ['acme'] })
`

/** Every way TypeScript finds a package, from a module and from a CommonJS file; the first five are tried in every run. */
export const resolutions: Record<string, { file: string; options: Record<string, string> }> = {
  'node16 from a module': { file: 'use.mts', options: { module: 'node16' } },
  'node16 from CommonJS': { file: 'use.cts', options: { module: 'node16' } },
  'a bundler does': { file: 'use.ts', options: { module: 'esnext', moduleResolution: 'bundler' } },
  'nodenext from a module': { file: 'use.mts', options: { module: 'nodenext' } },
  'Node 10 did': {
    file: 'use.ts',
    options: { module: 'commonjs', moduleResolution: 'node10', ignoreDeprecations: '6.0', target: 'es2022' },
  },
  'node20 from CommonJS': { file: 'use.cts', options: { module: 'node20' } },
  'nodenext from CommonJS': { file: 'use.cts', options: { module: 'nodenext' } },
}

/** The errors of a file that uses packages of a folder, as TypeScript tells them where modules are resolved in one of the ways. */
export async function findTypeErrors(folder: string, name: string, text: string): Promise<string> {
  const { file, options } = resolutions[name]!
  const project = join(folder, name.replaceAll(' ', '-'))
  await mkdir(project)
  await writeFile(join(project, file), text)
  const common = { strict: true, noEmit: true, skipLibCheck: true, lib: ['ES2023', 'DOM'], types: [] }
  const compilerOptions = { ...common, ...options }
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }))
  const fitting = name === 'Node 10 did' ? lastForNode10 : compiler
  const { stdout } = await run(process.execPath, [fitting, '-p', project]).catch((error) => error)
  return stdout
}
