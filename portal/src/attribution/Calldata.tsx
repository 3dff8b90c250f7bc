import type { Provider } from '@openearn/sdk/flows'
import { type ReactNode, useState } from 'react'
import { usePortal } from '../portal.js'
import { Num } from '../ui/Num.js'
import { cutCalldata } from './calldata.js'
import type { Inspection } from './words.js'

/** Bytes before the suffix that are shown. */
const shownBytes = 1_024

/** The suffix by its bytes; within the whole calldata where the reader's wallet gives it. The page asks nobody else. */
export function Calldata({ inspection, txHash }: { inspection: Inspection; txHash: string }): ReactNode {
  const { wallet } = usePortal().wallet
  const [input, setInput] = useState<string>()
  const [error, setError] = useState<string>()
  const { suffix, start, end, placement } = inspection
  const parts = input === undefined ? undefined : cutCalldata(input, inspection)
  const read = async () => {
    try {
      setInput(await readInput(wallet?.provider, txHash))
      setError(undefined)
    } catch (failure) {
      setError(failure instanceof Error ? failure.message : String(failure))
    }
  }
  return (
    <>
      <p className="small muted">
        From byte <Num value={start} as="count" name="calldata.start" /> up to byte{' '}
        <Num value={end} as="count" name="calldata.end" />, which is no part of it any more, of the{' '}
        {placement === 'transaction' ? 'transaction’s' : ''} input. Count them yourself, the first as zero: two hex
        digits are a byte.
      </p>
      <pre className="bytes">
        {parts ? (
          <>
            {parts.before.length > 2 * shownBytes ? `…${parts.before.slice(-2 * shownBytes)}` : parts.before}
            <mark>{parts.suffix}</mark>
            {parts.after.slice(0, 2 * shownBytes)}
          </>
        ) : (
          <mark>{suffix}</mark>
        )}
      </pre>
      {input !== undefined && !parts && (
        <p role="alert" className="bad">
          The wallet tells of other bytes at this place: the service or the wallet is wrong.
        </p>
      )}
      {error && (
        <p role="alert" className="bad" dir="auto">
          {error.slice(0, 300)}
        </p>
      )}
      {wallet && input === undefined && (
        <button type="button" onClick={() => void read()}>
          Show the whole calldata through the wallet
        </button>
      )}
    </>
  )
}

async function readInput(provider: Provider | undefined, txHash: string): Promise<string> {
  const ask = provider?.request as ((call: { method: string; params: unknown[] }) => Promise<unknown>) | undefined
  const found = (await ask?.({ method: 'eth_getTransactionByHash', params: [txHash] })) as { input?: unknown } | null
  if (typeof found?.input !== 'string') throw new Error('the node of the wallet does not know this transaction')
  return found.input
}
