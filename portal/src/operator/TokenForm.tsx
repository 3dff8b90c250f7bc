import { type FormEvent, type ReactNode, useState } from 'react'
import { Title } from '../ui/Title.js'
import { ListFault } from './ListFault.js'
import { ListError, readList } from './lists.js'

/** As the setting has it: others could not be the token, and are not sent. */
const form = /^[!-~]{32,}$/

/** Asks for the operator's token, and tries it. `refusal`: why one that was accepted before is not any more. */
export function TokenForm({ refusal, open }: { refusal: ListError | undefined; open(token: string): void }): ReactNode {
  const [token, setToken] = useState('')
  const [error, setError] = useState(refusal)
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const typed = token.trim()
    if (!form.test(typed)) {
      setError(new ListError(401, 'a token has at least 32 visible characters; it is the setting OPERATOR_TOKEN'))
      return
    }
    setBusy(true)
    try {
      await readList('jobs', typed)
      open(typed)
    } catch (failure) {
      setError(failure as ListError)
      setBusy(false)
    }
  }
  return (
    <>
      <Title text="Operator">What this installation does, for who has its token.</Title>
      <form className="card stack" onSubmit={(event) => void submit(event)} noValidate>
        <label>
          <span className="label">Operator token</span>
          <input
            type="password"
            name="token"
            value={token}
            onChange={({ target }) => setToken(target.value)}
            autoComplete="off"
            spellCheck={false}
            autoCapitalize="off"
            aria-describedby="token-note"
          />
        </label>
        <p id="token-note" className="muted small">
          The setting <code>OPERATOR_TOKEN</code> of the service; on a devnet <code>operatorToken</code> in its{' '}
          <code>dev.json</code>. It is kept in the memory of this page only: a reload asks for it again.
        </p>
        {error && <ListFault error={error} />}
        <div className="actions">
          <button type="submit" className="main" disabled={isBusy}>
            {isBusy ? 'Opening …' : 'Open'}
          </button>
        </div>
      </form>
    </>
  )
}
