import { type FormEvent, type ReactNode, useState } from 'react'
import { useKey } from '../shell/key.js'
import { KeyFacts } from './KeyFacts.js'

/** The key that the pages call the API with, and where another one is typed. */
export function KeyPanel(): ReactNode {
  const { own, setOwn } = useKey()
  const [text, setText] = useState('')
  const [isKept, setKept] = useState(false)
  const [problem, setProblem] = useState<string>()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const key = text.trim()
    if (key.startsWith('sk_'))
      return setProblem(
        'That is a secret key. It belongs to a backend: no page takes it. If it was pasted into a page before, revoke it.',
      )
    if (!/^pk_live_[0-9A-Za-z]{38}$/.test(key))
      return setProblem('A publishable key begins with pk_live_ and has 38 more characters.')
    setProblem(undefined)
    setText('')
    setOwn(key, isKept)
  }
  return (
    <section className="card stack" aria-labelledby="key">
      <h2 id="key">Key</h2>
      <p>
        {own
          ? `These pages call the API with your key ${own.slice(0, 12)}….`
          : 'These pages call the API with the key of the operator. All who read them share its budget.'}
      </p>
      <KeyFacts />
      {own ? (
        <div>
          <button type="button" onClick={() => setOwn(undefined, false)}>
            Forget my key
          </button>
        </div>
      ) : (
        <form className="stack" onSubmit={submit} noValidate aria-label="Your key">
          <label>
            <span className="label">Your publishable key</span>
            <input
              value={text}
              maxLength={100}
              autoComplete="off"
              spellCheck={false}
              aria-invalid={problem !== undefined}
              onChange={({ target }) => setText(target.value)}
            />
          </label>
          <label className="tick">
            <input type="checkbox" checked={isKept} onChange={({ target }) => setKept(target.checked)} />
            <span>Keep it in this browser</span>
          </label>
          {problem && (
            <p role="alert" className="bad">
              {problem}
            </p>
          )}
          <div>
            <button type="submit">Use it</button>
          </div>
        </form>
      )}
      <p className="muted small">A key that is not kept is gone with this page. It is never a part of an address.</p>
    </section>
  )
}
