import type { IncomingMessage } from 'node:http'
import { type EarnError, headTooLarge, invalidArgument, unauthorized } from '../../kernel/errors.js'

/** 64 KiB for a request head: 1,000 addresses fit a query. One header value gets 8 KiB of it. */
export const headBytesMax = 64 * 1024
const valueBytesMax = 8 * 1024

/** The error in the head of a request, if any, for every caller and path. */
export function checkHead({ rawHeaders, headers, httpVersion }: IncomingMessage): EarnError | undefined {
  if (headers.host === undefined && httpVersion === '1.1') return invalidArgument('the request has no Host header')
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = [rawHeaders[at], rawHeaders[at + 1]]
    if (value.length > valueBytesMax) return valueTooLong()
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  if (hosts > 1) return invalidArgument('the request has more than one Host header')
  // A header sent in parts is one value.
  for (const name in headers) if ((headers[name]?.length ?? 0) > valueBytesMax) return valueTooLong()
  return undefined
}

function valueTooLong(): EarnError {
  return headTooLarge(`a header value is longer than ${valueBytesMax} bytes`)
}

/** The `Authorization` of a request; two different ones are refused, since nobody can tell which one is meant. */
export function readAuthorization({ rawHeaders, headers }: IncomingMessage): string | undefined {
  const { authorization } = headers
  if (authorization === undefined) return undefined
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.toLowerCase() === 'authorization' && rawHeaders[at + 1] !== authorization)
      throw unauthorized('the request has two different Authorization headers; send one')
  return authorization
}
