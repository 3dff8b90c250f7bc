type Header = string | readonly string[] | undefined

/** The trace that a caller's request belongs to. */
export const readTraceId = (header: Header): string | undefined => readParent(header)?.traceId

/** The span of a caller's request, by its `traceparent` (W3C Trace Context, level 1); undefined without a valid one. */
export function readParent(header: Header): { traceId: string; spanId: string } | undefined {
  if (typeof header !== 'string') return undefined
  const [, version, traceId = '0', spanId = '0', rest = ''] =
    /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}(-.*)?$/.exec(header) ?? []
  // A version that does not exist yet may say more; the first one says nothing after its flags.
  if (version === undefined || version === 'ff' || (version === '00' && rest !== '')) return undefined
  return /^0+$/.test(traceId) || /^0+$/.test(spanId) ? undefined : { traceId, spanId }
}
