export type Document = { info?: unknown; paths?: unknown; components?: unknown }

/** Every breaking difference, one sentence each; none means the new document serves the old clients. */
export function findBreaking(before: Document, after: Document): string[]
