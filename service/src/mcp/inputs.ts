/** The forms of what a tool takes, in JSON Schema. A tool takes its own members and no others. */

export type Input = Readonly<Record<string, InputMember>>
type InputMember = {
  readonly type: 'string' | 'integer' | 'boolean' | 'object' | 'array'
  readonly description: string
  readonly pattern?: string
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
  readonly items?: object
  readonly maxItems?: number
  readonly optional?: true
}

const uuid = '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'
const evm = '^0x[0-9a-fA-F]{40}$'

export const optional = <M extends InputMember>(member: M): M & { optional: true } => ({ ...member, optional: true })
export const id = (description: string) => ({ type: 'string', pattern: uuid, description }) as const
export const address = (description: string) => ({ type: 'string', pattern: evm, description }) as const
export const token = (description: string) =>
  ({ type: 'string', pattern: `^(native|0x[0-9a-fA-F]{40})$`, description }) as const
export const raw = (description: string) =>
  ({
    type: 'string',
    pattern: '^[1-9][0-9]{0,77}$',
    description: `${description}, in the smallest unit of the token`,
  }) as const
export const chainId = { type: 'integer', minimum: 1, description: 'Id of the chain' } as const
export const page = {
  type: 'integer',
  minimum: 1,
  maximum: 100_000,
  description: 'Page, from 1',
  optional: true,
} as const
export const instant = (description: string) =>
  ({ type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$', description }) as const
export const slippageBps = {
  type: 'integer',
  minimum: 1,
  maximum: 5_000,
  description: 'The most that may be lost to the price, in hundredths of a percent',
} as const

/** The JSON Schema of a tool's input. */
export function toSchema(input: Input): object {
  const members = Object.entries(input)
  return {
    type: 'object',
    properties: Object.fromEntries(members.map(([name, { optional: _, ...member }]) => [name, member])),
    required: members.filter(([, member]) => !member.optional).map(([name]) => name),
    additionalProperties: false,
  }
}

/** The first thing that is wrong with what a tool was given; undefined where nothing is. */
export function findFault(input: Input, given: Readonly<Record<string, unknown>>): string | undefined {
  for (const name of Object.keys(given))
    if (!Object.hasOwn(input, name)) return `there is no member "${name.slice(0, 40)}"`
  for (const [name, member] of Object.entries(input)) {
    const value = given[name]
    if (value === undefined) {
      if (!member.optional) return `${name} is missing`
    } else if (!isOfForm(value, member)) return `${name} is not of its form: ${member.description}`
  }
  return undefined
}

function isOfForm(value: unknown, { type, pattern, enum: values, minimum, maximum, maxLength, maxItems }: InputMember) {
  if (type === 'boolean') return typeof value === 'boolean'
  if (type === 'integer')
    return (
      Number.isSafeInteger(value) && Number(value) >= (minimum ?? -Infinity) && Number(value) <= (maximum ?? Infinity)
    )
  if (type === 'array') return Array.isArray(value) && value.length <= (maxItems ?? Infinity)
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value)
  if (typeof value !== 'string') return false
  if (values && !values.includes(value)) return false
  return value.length <= (maxLength ?? 200) && (pattern === undefined || new RegExp(pattern).test(value))
}
