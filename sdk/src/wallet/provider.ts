/**
 * A wallet as EIP-1193 has it; viem's wallet client is one. `handOn`: the wallet is that of another page, which gets the whole of
 * what is wanted and checks it anew before it asks; then nothing else is asked of it but accounts, chain and reads.
 */
export type Provider = {
  request: (call: never) => Promise<unknown>
  handOn?: ((wanted: Handed) => Promise<unknown>) | undefined
}

/** A request of which every part is told, so that another page can compare it by itself. `given` is read by `askFor` alone. */
export type Handed = { kind: HandedKind; given: object }
export type HandedKind = (typeof handedKinds)[number]
export const handedKinds = [
  ...(['transaction', 'batch', 'claim'] as const),
  ...(['order', 'orderApproval', 'orderCancellation', 'agreement'] as const),
] as const

/** A refusal of a wallet or node: the code of EIP-1193, EIP-1474 or EIP-5792, where it has one. */
export type ProviderFailure = { code: number | undefined; message: string }

export const ask = (provider: Provider, method: string, params: readonly unknown[] = []): Promise<unknown> =>
  provider.request({ method, params } as never)

/** Wallets wrap errors of others: the innermost code tells most. */
export function readFailure(error: unknown): ProviderFailure {
  let code: number | undefined
  let at: unknown = error
  for (let depth = 0; depth < 4 && typeof at === 'object' && at !== null; depth++) {
    const { code: found, data, cause } = at as { code?: unknown; data?: unknown; cause?: unknown }
    if (typeof found === 'number') code = found
    at = (data as { originalError?: unknown } | undefined)?.originalError ?? cause
  }
  const message = error instanceof Error ? error.message : String((error as { message?: unknown })?.message ?? error)
  return { code, message: message.slice(0, 300) }
}

/**
 * Codes after which nothing was sent: the user said no, or the wallet did not take the request at all. A wallet that lost its
 * chain (4900, 4901) may have sent it before.
 */
const refusals = [4001, 4100, 4200, 5000, 5700, 5710, 5740, 5750, 5760, -32_601, -32_602]

/** Whether it is certain that the wallet sent nothing. */
export const sentNothing = ({ code }: ProviderFailure): boolean => code !== undefined && refusals.includes(code)
