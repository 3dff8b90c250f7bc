import type { VerificationContext } from './generated/types.js'

/** The metadata of a response: its cost, and the rest of the key's budget. */
export type ResponseInfo = {
  operation: string
  /** The HTTP status; 0 where no answer came. */
  code: number
  /** From 0; above 0 for a repetition. */
  attempt: number
  /** Units of this call (`X-Request-Cost`). */
  cost: number | undefined
  /** Units of the key's hour that are left (`X-RateLimit-Remaining`). */
  remaining: number | undefined
  /** Seconds to wait before the next call (`Retry-After`). */
  retryAfter: number | undefined
  /** Names this call in the service's log; null where no answer came. */
  requestId: string | null
  /** All headers; empty where no answer came. */
  headers: Headers
}

/**
 * The contracts and signers that a program believes, by chain: the file of `openearn trust export`, shipped with the program.
 * A plan with another vault, router or signer is refused, whatever the service says of it.
 */
export type Trust = { readonly version: number; readonly chains: readonly Plain<VerificationContext>[] }

/** The same as TypeScript reads it from a JSON file. */
type Plain<T> = T extends string
  ? string
  : T extends readonly (infer U)[]
    ? readonly Plain<U>[]
    : T extends object
      ? { readonly [K in keyof T]: Plain<T[K]> }
      : T

export type EarnClientOptions = {
  /** The url of the service, `https://earn.example`; a proxy of your own may add a path and keep the key. */
  baseUrl: string
  /** A publishable key (`pk_…`), or a secret one (`sk_…`) outside of pages only. Absent where a proxy adds it. */
  apiKey?: string | undefined
  /** Used instead of the global `fetch`. */
  fetch?: typeof globalThis.fetch | undefined
  /** Sent with each call. */
  headers?: Readonly<Record<string, string>> | undefined
  /** How often a failed call is repeated where that is safe; 2 unless given. A wait above ten seconds is not waited for. */
  retries?: number | undefined
  /** The longest one attempt may take, in milliseconds; 30,000 unless given. */
  timeoutMs?: number | undefined
  /** The facts that plans are compared with; absent: those that the service gives (GetVerificationContext). */
  trust?: Trust | undefined
  /** Called for each answer, also for the refused and repeated ones. */
  onResponse?: ((info: ResponseInfo) => void) | undefined
}

/** A service and how it is called; handed to every operation. */
export type EarnClient = Readonly<EarnClientOptions>

/**
 * A client of one service.
 * @throws TypeError if `baseUrl` is not a url, or if a secret key is used in a page, where every visitor could read it.
 */
export function createEarnClient(options: EarnClientOptions): EarnClient {
  if (!/^(https?:\/)?\//.test(options.baseUrl)) throw new TypeError('bad baseUrl')
  if (options.apiKey?.startsWith('sk_') && 'document' in globalThis) throw new TypeError('no secret key in a page')
  return { ...options, baseUrl: options.baseUrl.replace(/\/+$/, '') }
}
