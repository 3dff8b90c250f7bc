import type { Span, SpanAttributes } from './spans.js'

const kinds = { server: 2, client: 3 }

/** Spans as a collector takes them: OTLP/HTTP in JSON, with ids in hexadecimal digits and 64-bit numbers as strings. */
export function encodeSpans(spans: readonly Span[], resource: SpanAttributes): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: encodeAttributes(resource) },
        scopeSpans: [{ scope: { name: 'openearn' }, spans: spans.map(encodeSpan) }],
      },
    ],
  })
}

function encodeSpan({ traceId, spanId, parentId, name, kind, startMs, endMs, attributes, isFailed }: Span) {
  return {
    ...{ traceId, spanId, ...(parentId === undefined ? {} : { parentSpanId: parentId }) },
    ...{ name, kind: kinds[kind], startTimeUnixNano: toNanos(startMs), endTimeUnixNano: toNanos(endMs) },
    attributes: encodeAttributes(attributes),
    // Whether all is well is for who reads it to say, unless it failed.
    status: isFailed ? { code: 2 } : {},
  }
}

/** A double has no room for nanoseconds since 1970. */
const toNanos = (ms: number) => String(BigInt(Math.floor(ms)) * 1_000_000n + BigInt(Math.round((ms % 1) * 1e6)))

const encodeAttributes = (attributes: SpanAttributes) =>
  Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'string' ? { stringValue: value } : { intValue: String(value) },
  }))
