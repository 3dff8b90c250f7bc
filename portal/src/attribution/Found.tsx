import { cutName } from '@openearn/widget/parts'
import type { ReactNode } from 'react'
import { Entry } from '../portfolio/Activity.js'
import { Address } from '../ui/Address.js'
import { Num } from '../ui/Num.js'
import { Calldata } from './Calldata.js'
import { Proof } from './Proof.js'
import { type Found as Answer, formTexts, type Inspection, toVerdict } from './words.js'

/** Everything that is known of a transaction. */
export function Found({ found }: { found: Answer }): ReactNode {
  const { text, kind } = toVerdict(found)
  const { action, interactions, watched, calldata, txHash, chainId } = found
  return (
    <div className="stack">
      <p className={`notice verdict ${kind}`} role="status" dir="auto">
        <span className="strong">{cutName(text, 200)}</span>
      </p>
      {interactions.length > 0 && (
        <section className="card" aria-labelledby="entries">
          <h2 id="entries">Entries of the ledger</h2>
          <ul className="plain-list">
            {interactions.map((row) => (
              <Entry key={row.id} row={row} />
            ))}
          </ul>
        </section>
      )}
      {calldata && <Inspected inspection={calldata} txHash={txHash} />}
      {interactions.length > 0 && chainId !== null && <Proof txHash={txHash} chainId={chainId} />}
      {action && (
        <section className="card" aria-labelledby="action">
          <h2 id="action">The plan that it carries out</h2>
          <p>
            A {cutName(action.kind, 30)} that this service built is {action.status}. Its id is{' '}
            <Address text={action.actionId} />.
          </p>
        </section>
      )}
      {watched.length > 0 && (
        <section className="card" aria-labelledby="watched">
          <h2 id="watched">Seen by the watcher</h2>
          <ul className="plain-list">
            {watched.map((each) => (
              <li key={`${each.blockHash} ${each.codes.join()}`} className="tags small" data-id={each.blockHash}>
                <span>
                  block <Num value={each.blockNumber} as="count" name="blockNumber" />
                </span>
                <span>
                  from <Address text={each.from} to={`portfolio/${each.from}`} />
                </span>
                {each.codes.length > 0 ? (
                  <>
                    <bdi>{cutName(each.codes.join(', '), 80)}</bdi>
                    <span>by its {each.evidence}</span>
                  </>
                ) : (
                  <span>no code in its {each.evidence}</span>
                )}
                {each.retracted && <span className="chip">retracted</span>}
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}

const placements: Readonly<Record<string, string>> = {
  transaction: 'at the end of the transaction’s calldata',
  userOperation: 'in a user operation of a bundle (ERC-4337)',
  innerCall: 'in a call within the transaction',
}

function Inspected({ inspection, txHash }: { inspection: Inspection; txHash: string }): ReactNode {
  const { found, schema, placement, codes, signature, problems, metadata } = inspection
  return (
    <section className="card" aria-labelledby="calldata">
      <h2 id="calldata">Calldata</h2>
      <dl className="facts">
        <div>
          <dt className="muted">Suffix</dt>
          <dd>{found ? `found, ${placements[placement ?? ''] ?? ''}` : 'not found'}</dd>
        </div>
        {schema && (
          <div>
            <dt className="muted">Form</dt>
            <dd>
              <code>{schema}</code>
              {formTexts[schema] && <span className="muted small"> {formTexts[schema]}</span>}
            </dd>
          </div>
        )}
        {codes.length > 0 && (
          <div>
            <dt className="muted">Codes</dt>
            <dd>
              <bdi>{cutName(codes.join(', '), 200)}</bdi>
            </dd>
          </div>
        )}
        <div>
          <dt className="muted">Signature</dt>
          <dd>
            {signature.present
              ? signature.valid
                ? 'valid'
                : 'there, and not valid'
              : 'none: a code is credited without one too, and marked as unsigned'}
            {signature.signer && (
              <>
                , by <Address text={signature.signer} />
              </>
            )}
          </dd>
        </div>
      </dl>
      {problems.length > 0 && (
        <ul className="notice">
          {problems.map((problem) => (
            <li key={problem} dir="auto">
              {cutName(problem, 300)}
            </li>
          ))}
        </ul>
      )}
      {found && <Calldata inspection={inspection} txHash={txHash} />}
      {metadata && (
        <details>
          <summary>Metadata of the suffix</summary>
          <pre className="bytes">{JSON.stringify(metadata, null, 1).slice(0, 4_000)}</pre>
        </details>
      )}
    </section>
  )
}
