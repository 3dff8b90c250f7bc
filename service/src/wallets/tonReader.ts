import T from 'typebox'
import { Compile } from 'typebox/compile'
import { createCircuit } from '../kernel/circuit.js'
import type { Clock } from '../kernel/clock.js'
import { type Outbound, OutboundError } from '../kernel/outbound.js'

/** Reads of the TON chain. */
export type TonReader = {
  /** The key a deployed wallet names (`get_public_key`), 32 bytes; undefined when it is not deployed or names none. */
  readPublicKey(address: string): Promise<Uint8Array | undefined>
}

const answerCheck = Compile(
  T.Object({
    result: T.Object({
      exit_code: T.Integer(),
      stack: T.Array(T.Array(T.Unknown())),
    }),
  }),
)

/** Reads over the HTTP API v2 of TON Center, which other providers and self-hosted gateways speak too. */
export function createTonReader(outbound: Outbound, url: string, clock: Pick<Clock, 'monotonicMs'>): TonReader {
  const circuit = createCircuit(new URL(url).host, clock)
  const post = async (body: unknown): Promise<string> => {
    const refusal = circuit.findRefusal()
    if (refusal) throw refusal
    try {
      const text = await outbound.fetchText({
        url: `${url.replace(/\/+$/, '')}/runGetMethod`,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        maxBytes: 1024 * 1024,
      })
      circuit.onAnswer()
      return text
    } catch (error) {
      if (error instanceof OutboundError && error.retryable) circuit.onFailure()
      throw error
    }
  }
  return {
    readPublicKey: async (address) => parsePublicKey(await post({ address, method: 'get_public_key', stack: [] })),
  }
}

/** The one number on the stack of a get method that ended well. */
function parsePublicKey(text: string): Uint8Array | undefined {
  const answer = parseJson(text)
  if (!answerCheck.Check(answer))
    throw new OutboundError('malformed', 'the TON endpoint returned an unexpected response')
  const [kind, value] = answer.result.stack[0] ?? []
  if (answer.result.exit_code !== 0 || kind !== 'num' || typeof value !== 'string') return undefined
  if (!/^0x[0-9a-f]{1,64}$/i.test(value)) return undefined
  return Uint8Array.from(Buffer.from(value.slice(2).padStart(64, '0'), 'hex'))
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new OutboundError('malformed', 'the TON endpoint did not answer JSON', undefined, { cause: error })
  }
}
