import T from 'typebox'
import { parseTs } from '../kernel/clock.js'

/** Types of the members of a file that an operator imports. */

const patterned = (pattern: string, says: string, maxLength = 2_048) => T.String({ pattern, says, maxLength })

export const Text = T.String()
const slug = '[a-z0-9]+(-[a-z0-9]+)*'
export const Slug = patterned(`^${slug}$`, 'must be lower-case letters, digits and single hyphens', 64)
const uuid = '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}'
export const Id = patterned(`^${uuid}$`, 'must be a uuid (RFC 9562)')
/** A slug of the file (or of an earlier one), or an id. */
export const Ref = patterned(`^(${slug}|${uuid})$`, 'must be a slug or an id', 64)
export const Url = patterned('^(https?://[^\\s/@]+(/\\S*)?)?$', 'must be an http or https url without a user name')
export const RpcUrl = patterned('^(https?|wss?)://\\S+$', 'must be an http, https, ws or wss url')
export const AddressText = patterned('^0[xX][0-9a-fA-F]{40}$', 'must be 0x and 40 hex digits')
export const Code = patterned('^[A-Za-z0-9_-]{1,32}$', 'must be 1 to 32 letters, digits, _ or -')
export const ContractName = patterned(
  '^[a-z][a-z0-9]{0,31}$',
  'must be lower-case letters and digits, a letter first',
  32,
)
export const TagCode = patterned('^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$', 'must be 1 to 64 letters, digits, _, . or -')
export const Instant = T.Refine(
  Text,
  (text) => parseTs(text) !== undefined,
  () => 'must be an RFC 3339 date-time',
)
export const Usd = T.Number({ minimum: 0 })
export const Decimals = T.Integer({ minimum: 0, maximum: 36 })
export const DecimalText = T.String({ pattern: '^[0-9]{1,30}(\\.[0-9]{1,30})?$' })
