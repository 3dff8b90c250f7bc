import T, { type Static, type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { derivedId } from '../../../kernel/ids.js'
import { ChainId, parseTs } from '../../../kernel/wire.js'
import { opportunityTypes, organizationTypes, rewardTypes } from '../schema.js'

const strict = { additionalProperties: false }
const Maybe = <S extends TSchema>(schema: S) => T.Optional(schema)
/** What a person should write where a pattern does not match. */
const wanted = new Map<string, string>()
const patterned = (pattern: string, sentence: string, lengthMax = 2_048) => {
  wanted.set(pattern, sentence)
  return T.String({ pattern, maxLength: lengthMax })
}
const Text = T.String()
const slug = '[a-z0-9]+(-[a-z0-9]+)*'
const Slug = patterned(`^${slug}$`, 'must be lower-case letters, digits and single hyphens', 64)
const uuid = '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}'
const Id = patterned(`^${uuid}$`, 'must be a uuid (RFC 9562)')
/** A slug of the file (or of an earlier one), or an id. */
const Ref = patterned(`^(${slug}|${uuid})$`, 'must be a slug or an id', 64)
const Url = patterned('^(https?://[^\\s/@]+(/\\S*)?)?$', 'must be an http or https url without a user name')
const RpcUrl = patterned('^(https?|wss?)://\\S+$', 'must be an http, https, ws or wss url')
const AddressText = patterned('^0[xX][0-9a-fA-F]{40}$', 'must be 0x and 40 hex digits')
const Code = patterned('^[A-Za-z0-9_-]{1,32}$', 'must be 1 to 32 letters, digits, _ or -')
const TagCode = patterned('^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$', 'must be 1 to 64 letters, digits, _, . or -')
const Instant = T.Refine(
  Text,
  (text) => parseTs(text) !== undefined,
  () => 'must be an RFC 3339 date-time',
)
const Decimals = T.Integer({ minimum: 0, maximum: 36 })
const Usd = T.Number({ minimum: 0 })

const TokenRef = T.Union([AddressText, T.Object({ chainId: ChainId, address: AddressText }, strict)])

const FileIncentive = T.Object(
  {
    id: Maybe(Id),
    name: Text,
    description: Maybe(Text),
    iconUrl: Maybe(Url),
    rewardType: T.Enum([...rewardTypes]),
    rewardTypeName: Maybe(Text),
    apr: Maybe(T.Number()),
    minApr: Maybe(T.Number()),
    maxApr: Maybe(T.Number()),
    estPriceUsd: Maybe(Usd),
    fdvEstimate: Maybe(Usd),
    tokenSupplyAllocation: Maybe(Usd),
    indexed: Maybe(T.Boolean()),
    active: Maybe(T.Boolean()),
  },
  strict,
)

const FileVault = T.Object(
  {
    chainId: ChainId,
    address: AddressText,
    kind: Slug,
    protocol: Maybe(Ref),
    asset: AddressText,
    receiptToken: Maybe(AddressText),
    escrow: Maybe(AddressText),
    startBlock: Maybe(T.Integer({ minimum: 0 })),
    activeFrom: Maybe(Instant),
    snapshotIntervalSeconds: Maybe(T.Integer({ minimum: 60, maximum: 86_400 })),
  },
  strict,
)

const FileOpportunity = T.Object(
  {
    id: Maybe(Id),
    slug: Slug,
    name: Text,
    description: Maybe(Text),
    type: T.Enum([...opportunityTypes]),
    vault: FileVault,
    curator: Maybe(Ref),
    providers: Maybe(T.Array(Ref)),
    partners: Maybe(T.Array(Ref)),
    lendingProtocols: Maybe(T.Array(Ref)),
    tags: Maybe(T.Array(TagCode)),
    products: Maybe(T.Array(Ref)),
    depositTokens: Maybe(T.Array(TokenRef)),
    incentives: Maybe(T.Array(FileIncentive)),
    minDepositAmountUsd: Maybe(Usd),
    minWithdrawAmount: Maybe(T.Number({ minimum: 0 })),
    featured: Maybe(T.Boolean()),
    active: Maybe(T.Boolean()),
    depositEnabled: Maybe(T.Boolean()),
    withdrawEnabled: Maybe(T.Boolean()),
    depositDisabledReason: Maybe(Text),
    withdrawDisabledReason: Maybe(Text),
    directInteractionEnabled: Maybe(T.Boolean()),
    routedSwapEnabled: Maybe(T.Boolean()),
    isSecondaryMarket: Maybe(T.Boolean()),
    asyncDeposit: Maybe(T.Boolean()),
    asyncWithdraw: Maybe(T.Boolean()),
  },
  strict,
)

/** The catalogue file; docs/catalogue.md says what each member means. */
export const CatalogueFileSchema = T.Object(
  {
    organizations: Maybe(
      T.Array(
        T.Object(
          {
            id: Maybe(Id),
            slug: Slug,
            name: Text,
            description: Maybe(Text),
            iconUrl: Maybe(Url),
            landingUrl: Maybe(Url),
            organizationType: T.Enum([...organizationTypes]),
            premium: Maybe(T.Boolean()),
          },
          strict,
        ),
      ),
    ),
    chains: Maybe(
      T.Array(
        T.Object(
          {
            chainId: ChainId,
            name: Text,
            slug: Slug,
            logoUrl: Maybe(Url),
            explorerUrl: Maybe(Url),
            nativeSymbol: Maybe(Text),
            active: Maybe(T.Boolean()),
            watched: Maybe(T.Boolean()),
            rpcUrls: Maybe(T.Array(RpcUrl)),
            confirmations: Maybe(T.Integer({ minimum: 1, maximum: 100_000 })),
            finalityDepth: Maybe(T.Integer({ minimum: 1, maximum: 1_000_000 })),
            pollIntervalMs: Maybe(T.Integer({ minimum: 50, maximum: 3_600_000 })),
            reorgRecheckSeconds: Maybe(T.Integer({ minimum: 0, maximum: 3_600 })),
            entryPoints: Maybe(T.Array(AddressText)),
            wrappedNative: Maybe(AddressText),
            transactionGasCap: Maybe(T.Integer({ minimum: 1_000_000, maximum: 1_000_000_000 })),
            l1GasInLimit: Maybe(T.Boolean()),
          },
          strict,
        ),
      ),
    ),
    tokens: Maybe(
      T.Array(
        T.Object(
          {
            chainId: ChainId,
            address: AddressText,
            decimals: Decimals,
            symbol: Text,
            name: Text,
            logoUrl: Maybe(Url),
            active: Maybe(T.Boolean()),
            pegUsd: Maybe(T.Union([Usd, T.String({ pattern: '^[0-9]{1,30}(\\.[0-9]{1,30})?$' })])),
            approvalReset: Maybe(T.Boolean()),
            unsupportedReason: Maybe(Text),
          },
          strict,
        ),
      ),
    ),
    protocols: Maybe(
      T.Array(T.Object({ id: Maybe(Id), slug: Slug, name: Text, logoUrl: Maybe(Url), siteUrl: Maybe(Url) }, strict)),
    ),
    tags: Maybe(
      T.Array(
        T.Object({ id: Maybe(Id), code: TagCode, name: Text, description: Maybe(Text), color: Maybe(Text) }, strict),
      ),
    ),
    products: Maybe(T.Array(T.Object({ id: Maybe(Id), slug: Slug, name: Text, organization: Maybe(Ref) }, strict))),
    opportunities: Maybe(T.Array(FileOpportunity)),
    distributors: Maybe(
      T.Array(
        T.Object(
          {
            id: Code,
            organization: Ref,
            name: Maybe(Text),
            activeFrom: Maybe(Instant),
            signedOnly: Maybe(T.Boolean()),
            opportunities: Maybe(T.Array(Ref)),
            products: Maybe(T.Array(Ref)),
          },
          strict,
        ),
      ),
    ),
  },
  strict,
)

export type CatalogueFile = Static<typeof CatalogueFileSchema>
export type FileOpportunityEntry = Static<typeof FileOpportunity>

const validator = Compile(CatalogueFileSchema)

/** True when a parsed value has the shape of a catalogue file. */
export function isCatalogueFile(value: unknown): value is CatalogueFile {
  return validator.Check(value)
}

/** What does not fit the shape, each as a JSON pointer and a message; the first per place. */
export function listShapeProblems(value: unknown): { pointer: string; message: string }[] {
  const problems = new Map<string, string>()
  const add = (pointer: string, message: string) => {
    if (!problems.has(pointer)) problems.set(pointer, message)
  }
  for (const { keyword, instancePath, message, params } of validator.Errors(value)) {
    if (keyword === 'additionalProperties') continue
    const missing = 'requiredProperties' in params ? params.requiredProperties : undefined
    if (Array.isArray(missing)) for (const name of missing) add(`${instancePath}/${name}`, 'is required')
    else if (keyword === 'boolean') add(instancePath, 'is not a member of the format')
    else add(instancePath, ('pattern' in params && wanted.get(String(params.pattern))) || message)
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
