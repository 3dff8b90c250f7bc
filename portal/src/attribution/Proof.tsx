import { useEarn } from '@openearn/react'
import { getAttributionProof, getVerificationContext } from '@openearn/sdk'
import type { AttributionProof, ProofProvider, ProofVerdict } from '@openearn/sdk/proof'
import { cutName } from '@openearn/widget/parts'
import { type ReactNode, useState } from 'react'
import { usePortal } from '../portal.js'

type Told = { verdict: ProofVerdict; by: string } | { fault: string }

/** Checks in the browser that the entries stand in a block, which the reader knows from elsewhere. */
export function Proof({ txHash, chainId }: { txHash: `0x${string}`; chainId: number }): ReactNode {
  const { earn } = useEarn()
  const { wallet } = usePortal().wallet
  const [hash, setHash] = useState('')
  const [told, setTold] = useState<Told>()
  const [isBusy, setBusy] = useState(false)
  const check = async (run: (proof: AttributionProof, trust: Trust) => Promise<Told>) => {
    setBusy(true)
    try {
      const [proof, trust] = await Promise.all([
        getAttributionProof(earn, { txHash, chainId }),
        getVerificationContext(earn, { chainId }),
      ])
      setTold(await run(proof as AttributionProof, trust))
    } catch (error) {
      setTold({ fault: error instanceof Error ? error.message : String(error) })
    }
    setBusy(false)
  }
  const byWallet = () =>
    check(async (proof, trust) => {
      const { verifyProofOnline } = await import('@openearn/sdk/proof')
      const verdict = await verifyProofOnline(proof, wallet?.provider as ProofProvider, trust)
      return { verdict, by: 'the node of your wallet' }
    })
  const byHash = () =>
    check(async (proof, trust) => {
      const { verifyProof } = await import('@openearn/sdk/proof')
      const verdict = await verifyProof(proof, { chainId, blockHash: hash.trim().toLowerCase(), trust })
      return { verdict, by: 'the block hash that you gave' }
    })
  return (
    <section className="card" aria-labelledby="proof">
      <h2 id="proof">Proof</h2>
      <p className="muted small">
        The service gives the header, the transaction and the receipt with their paths in the block. This page hashes
        them itself; the block’s hash comes from your wallet, or from you. The list of vaults and signers is the
        service’s word.
      </p>
      <div className="bar">
        <label className="wide">
          <span className="label">Hash of the block, from a node or an explorer that you trust</span>
          <input
            value={hash}
            maxLength={80}
            spellCheck={false}
            autoComplete="off"
            placeholder="0x…"
            onChange={({ target }) => setHash(target.value)}
          />
        </label>
        <button type="button" disabled={isBusy || !/^0x[0-9a-f]{64}$/i.test(hash.trim())} onClick={() => void byHash()}>
          Check against it
        </button>
        {wallet && (
          <button type="button" disabled={isBusy} onClick={() => void byWallet()}>
            Check by the wallet
          </button>
        )}
      </div>
      {told && <Verdict told={told} />}
    </section>
  )
}

type Trust = Awaited<ReturnType<typeof getVerificationContext>>

function Verdict({ told }: { told: Told }): ReactNode {
  if ('fault' in told)
    return (
      <p role="alert" className="notice bad" dir="auto">
        {cutName(told.fault, 300)}
      </p>
    )
  const { verdict, by } = told
  const { ok, problems, block, entries } = verdict
  return (
    <div className={`notice ${ok ? 'good' : 'bad'}`} role="status">
      <p className="strong">
        {ok
          ? `Proven by ${by}: ${entries.length === 1 ? 'one entry stands' : `${entries.length} entries stand`} in block ${block?.number}.`
          : 'Not proven.'}
      </p>
      {entries.map(({ logIndex, distributorId, amountRaw, rule }) => (
        <p key={`${logIndex} ${distributorId}`} className="small">
          Log {logIndex}: {amountRaw} units, brought by <bdi>{cutName(distributorId, 60)}</bdi>, {rule}.
        </p>
      ))}
      {problems.map((problem) => (
        <p key={problem} dir="auto">
          {cutName(problem, 200)}
        </p>
      ))}
    </div>
  )
}
