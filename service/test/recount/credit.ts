import type { Decision } from './deciding.js'

/** How an event is credited: the shares each wallet keeps or loses in it, and whose they are. */
export type Credit = { kept: Map<string, bigint>; decisions: Map<string, Decision | undefined> }
