import { useEarn } from '@openearn/react'
import { type EarnError, getAttribution, type types } from '@openearn/sdk'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { go, toPath, withQuery } from '../place.js'
import { usePortal } from '../portal.js'
import { Empty, Fault, Loading } from '../ui/Notice.js'
import { Title } from '../ui/Title.js'
import { Found } from './Found.js'

const hashForm = /^0x[0-9a-f]{64}$/i

/** Who brought a transaction: the ledger, the watcher, and the bytes of its calldata. */
export function AttributionPage({ query }: { query: URLSearchParams }): ReactNode {
  return (
    <>
      <Title text="Who brought it?">
        The code at the end of a transaction’s calldata names the distributor. Everything shown here can be checked by
        hand.
      </Title>
      <Form query={query} path="attribution" />
      <Lookup query={query}>{(found) => <Found found={found} />}</Lookup>
    </>
  )
}

/** A transaction and its chain; both stand in the URL. */
export function Form({ query, path }: { query: URLSearchParams; path: string }): ReactNode {
  const { chains } = usePortal().config
  const [text, setText] = useState(query.get('tx') ?? '')
  const [problem, setProblem] = useState<string>()
  const chainId = query.get('chainId') ?? `${chains[0]?.chainId ?? ''}`
  const show = (changes: Readonly<Record<string, string | undefined>>) =>
    go(toPath(path, withQuery(query, { chainId, ...changes })))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const tx = text.trim()
    if (!hashForm.test(tx)) return setProblem('A transaction hash is 0x and 64 hex digits.')
    setProblem(undefined)
    show({ tx: tx.toLowerCase() })
  }
  return (
    <form className="bar lookup" onSubmit={submit} noValidate aria-label="Transaction">
      <label className="wide">
        <span className="label">Transaction hash</span>
        <input
          value={text}
          maxLength={120}
          spellCheck={false}
          autoComplete="off"
          placeholder="0x…"
          aria-invalid={problem !== undefined}
          onChange={({ target }) => setText(target.value)}
        />
      </label>
      <label>
        <span className="label">Chain</span>
        <select value={chainId} onChange={({ target }) => show({ chainId: target.value })}>
          {chains.map(({ chainId: id, name }) => (
            <option key={id} value={`${id}`}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <button type="submit" className="main">
        Look up
      </button>
      {problem && (
        <p role="alert" className="bad">
          {problem}
        </p>
      )}
    </form>
  )
}

/** Looks up the transaction of the URL. */
export function Lookup({
  query,
  children,
}: {
  query: URLSearchParams
  children(found: types.GetAttributionResult): ReactNode
}): ReactNode {
  const { earn } = useEarn()
  const tx = query.get('tx') ?? ''
  const chainId = Number(query.get('chainId') ?? 0)
  const isAsked = hashForm.test(tx) && Number.isSafeInteger(chainId) && chainId > 0
  const { data, error, refetch } = useQuery<types.GetAttributionResult, EarnError>({
    queryKey: ['portal', 'attribution', tx.toLowerCase(), chainId],
    queryFn: ({ signal }) => getAttribution(earn, { txHash: tx as `0x${string}`, chainId }, { signal }),
    enabled: isAsked,
    ...{ staleTime: 10_000, retry: false },
  })
  if (!isAsked) return <Empty title="Paste a transaction.">Its hash and its chain are enough.</Empty>
  // The hash is one: the chain is refused.
  if (error?.code === 400)
    return <Empty title="This service does not read that chain.">Choose the chain that the transaction is on.</Empty>
  return (
    <>
      <Fault error={error} retry={() => void refetch()} />
      {!data && !error && <Loading rows={3} label="Looking" />}
      {data && children(data)}
    </>
  )
}
