import T, { type Static, type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { derivedId } from '../../../kernel/ids.js'
import { ChainId, describeViolation } from '../../../kernel/wire.js'
import { AddressText, Id, Ref, Slug, TagCode } from '../../../postgres/fileMembers.js'
import { fileMembersOf } from '../../../postgres/imported.js'
import { tokensTable } from '../../../prices/index.js'
import { chainsTable } from '../../../rpc/storeChains.js'
import { protocolsTable, vaultsTable } from '../../../vaults/configured/index.js'
import { tables } from '../tables.js'

const strict = { additionalProperties: false }

const TokenRef = T.Union([AddressText, T.Object({ chainId: ChainId, address: AddressText }, strict)])

const Incentive = T.Object({ id: T.Optional(Id), ...fileMembersOf(tables.incentives) }, strict)

const Vault = T.Object(
  {
    ...fileMembersOf(vaultsTable),
    protocol: T.Optional(Ref),
    receiptToken: T.Optional(AddressText),
  },
  strict,
)

const Opportunity = T.Object(
  {
    id: T.Optional(Id),
    ...fileMembersOf(tables.opportunities),
    vault: Vault,
    curator: T.Optional(Ref),
    providers: T.Optional(T.Array(Ref)),
    partners: T.Optional(T.Array(Ref)),
    lendingProtocols: T.Optional(T.Array(Ref)),
    tags: T.Optional(T.Array(TagCode)),
    products: T.Optional(T.Array(Ref)),
    depositTokens: T.Optional(T.Array(TokenRef)),
    incentives: T.Optional(T.Array(Incentive)),
    /** Follow from the kind of the vault; a file that says otherwise is refused. */
    asyncDeposit: T.Optional(T.Boolean()),
    asyncWithdraw: T.Optional(T.Boolean()),
  },
  strict,
)

const Distributor = T.Object(
  {
    ...fileMembersOf(tables.distributors),
    organization: Ref,
    signedOnly: T.Optional(T.Boolean()),
    opportunities: T.Optional(T.Array(Ref)),
    products: T.Optional(T.Array(Ref)),
  },
  strict,
)

/** The members that every entry with a slug has in addition to those of its row. */
const named = { id: T.Optional(Id), slug: Slug }
const List = <S extends TSchema>(entry: S) => T.Optional(T.Array(entry))

/** The catalogue file: the members of the rows in tables.ts, and references. docs/catalogue.md explains each. */
export const CatalogueFileSchema = T.Object(
  {
    organizations: List(T.Object({ ...named, ...fileMembersOf(tables.organizations) }, strict)),
    chains: List(T.Object(fileMembersOf(chainsTable), strict)),
    tokens: List(T.Object(fileMembersOf(tokensTable), strict)),
    protocols: List(T.Object({ ...named, ...fileMembersOf(protocolsTable) }, strict)),
    tags: List(T.Object({ id: T.Optional(Id), ...fileMembersOf(tables.tags) }, strict)),
    products: List(T.Object({ ...named, ...fileMembersOf(tables.products), organization: T.Optional(Ref) }, strict)),
    opportunities: List(Opportunity),
    distributors: List(Distributor),
  },
  strict,
)

export type CatalogueFile = Static<typeof CatalogueFileSchema>
export type FileOpportunityEntry = Static<typeof Opportunity>

const validator = Compile(CatalogueFileSchema)

/** True when a parsed value has the shape of a catalogue file. */
export function isCatalogueFile(value: unknown): value is CatalogueFile {
  return validator.Check(value)
}

/** Members that do not fit the schema, each as a JSON pointer and a message; the first for each pointer. */
export function listShapeProblems(value: unknown): { pointer: string; message: string }[] {
  const problems = new Map<string, string>()
  const add = (pointer: string, message: string) => {
    if (!problems.has(pointer)) problems.set(pointer, message)
  }
  for (const error of validator.Errors(value)) {
    const { keyword, instancePath, params } = error
    if (keyword === 'additionalProperties') continue
    const missing = 'requiredProperties' in params ? params.requiredProperties : undefined
    if (Array.isArray(missing)) for (const name of missing) add(`${instancePath}/${name}`, 'is required')
    else if (keyword === 'boolean') add(instancePath, 'is not a member of the format')
    else add(instancePath, describeViolation(CatalogueFileSchema, error))
  }
  return [...problems].map(([pointer, message]) => ({ pointer, message }))
}

/** Ids of entries that give none: version 5 uuids of their slugs, the same at every import and everywhere. */
export const slugId = {
  organization: (slug: string) => derivedId(`organization:${slug}`),
  protocol: (slug: string) => derivedId(`protocol:${slug}`),
  product: (slug: string) => derivedId(`product:${slug}`),
  opportunity: (slug: string) => derivedId(`opportunity:${slug}`),
  tag: (code: string) => derivedId(`tag:${code}`),
  incentive: (opportunityId: string, index: number) => derivedId(`incentive:${opportunityId}:${index}`),
}
