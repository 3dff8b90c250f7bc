import type { TSchema } from 'typebox'

/** Examples for members known by name, where one made from the schema alone would tell a reader nothing. */
const byName: Record<string, unknown> = {
  distributorId: 'acme',
  referralCode: 'spring',
  depositToken: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913-8453',
  depositTokenSymbols: 'USDC',
  chainIds: '8453',
  tags: 'stable',
  symbol: 'USDC',
  name: 'USD Coin',
  decimals: 6,
  chainId: 1,
  amount: '1000000',
  slippageBps: 50,
  walletEcosystem: 'evm',
  url: 'https://app.example/earn',
  nonce: '9f86d081884c7d659a2feaa0c55ad015',
  search: 'usd',
  page: 1,
  limit: 20,
  total: 1,
  totalPages: 1,
  explorerUrl: 'https://explorer.example',
  logoUrl: 'https://assets.example/usdc.svg',
  estimatedApr: 8.5,
  tvl: 1250000,
  gasLimit: '180000',
  value: '0',
  version: '2.0.0',
}

/** Examples for the texts of the wire, by the pattern their schema has. */
const byPattern: [RegExp, string][] = [
  [/^\^0\[?x.*\{40\}\$?/, '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'],
  [/\{40\}/, '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'],
  [/\{64\}/, '0x2f1b5d0c6d4e3f2a1b0c9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f4a3b2c1d0e9f8a'],
  [/\{8\}-/, '6f1c2a9e-3b7d-4c58-9a0e-2d4b6f8c1e35'],
  [/\{4\}-\[0-9\]\{2\}/, '2026-01-31T12:00:00Z'],
  [/^\^0x\(/, '0x6e553f65'],
  [/\[1-9\]/, '1000000'],
  [/\\\.\[0-9\]/, '1250.5'],
  [/\[0-9\]/, '1000000'],
  [/A-Z/, 'acme'],
]

type Schema = TSchema & Record<string, unknown>

/** A value that fits a schema, for the document: the same every time. */
export function buildExample(schema: TSchema, name = ''): unknown {
  const { type, default: fallback, enum: values, const: constant, anyOf, examples } = schema as Schema
  if (Array.isArray(examples) && examples.length > 0) return examples[0]
  if (constant !== undefined) return constant
  if (Array.isArray(values)) return values.includes(fallback) ? fallback : values[0]
  if (Array.isArray(anyOf)) return buildExample((anyOf as TSchema[]).find((one) => !isNull(one)) ?? {}, name)
  if (type === 'object') return buildObject(schema)
  if (type === 'array') return [buildExample((schema as Schema)['items'] as TSchema, name)]
  const known = byName[name]
  if (typeof known === (type === 'integer' ? 'number' : type)) return known
  if (fallback !== undefined) return fallback
  if (type === 'integer' || type === 'number') return Number((schema as Schema)['minimum'] ?? 1)
  if (type === 'boolean') return true
  if (type === 'string') return buildText(schema as Schema, name)
  return type === 'null' ? null : {}
}

function buildObject(schema: TSchema): Record<string, unknown> {
  const properties = 'properties' in schema ? (schema.properties as Record<string, TSchema>) : {}
  return Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, buildExample(member, name)]))
}

function buildText({ pattern, minLength }: Schema, name: string): string {
  const fitting = byPattern.find(([place]) => typeof pattern === 'string' && place.test(pattern))
  if (fitting) return fitting[1]
  return (name || 'text').padEnd(Number(minLength ?? 0), 'x')
}

function isNull(schema: TSchema): boolean {
  return 'type' in schema && schema.type === 'null'
}
