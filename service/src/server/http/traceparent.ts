/** The trace that a caller's request belongs to, by its `traceparent` (W3C Trace Context, level 1); undefined without a valid one. */
export function readTraceId(header: string | readonly string[] | undefined): string | undefined {
  if (typeof header !== 'string') return undefined
  const [, version, trace, parent, rest = ''] =
    /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}(-.*)?$/.exec(header) ?? []
  // A version that does not exist yet may say more; the first one says nothing after its flags.
  if (version === undefined || version === 'ff' || (version === '00' && rest !== '')) return undefined
  return /^0+$/.test(trace ?? '0') || /^0+$/.test(parent ?? '0') ? undefined : trace
}
