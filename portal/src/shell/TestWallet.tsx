import type { Provider } from '@openearn/sdk/flows'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { TestWallet as Given } from '../config.js'

type Call = { method: string; params?: readonly unknown[] }
type Asked = { name: string; call: Call; answer(yes: boolean): void }

/** Requests that a wallet asks its owner about. */
const asking = /^(eth_sendTransaction|personal_sign|eth_signTypedData_v4)$/

const refuse = (code: number, message: string) => Object.assign(new Error(message), { code })

/** Calls the devnet's node, which holds the keys of its public accounts. */
async function callNode(rpcUrl: string, { method, params = [] }: Call): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const { result, error } = await response.json()
  if (error) throw refuse(Number(error.code), String(error.message))
  return result
}

/** A wallet of one account. */
function createProvider(given: Given, at: number, ask: (asked: Asked) => void): Provider {
  const { accounts, rpcUrl, chainId } = given
  const { address, name } = accounts[at] ?? { address: '0x', name: '' }
  const request = async (call: Call): Promise<unknown> => {
    const { method } = call
    if (method === 'eth_accounts' || method === 'eth_requestAccounts') return [address]
    if (method === 'wallet_switchEthereumChain') {
      const [{ chainId: wanted = '' } = {}] = (call.params ?? []) as { chainId?: string }[]
      if (Number(wanted) !== chainId) throw refuse(4902, 'the test wallet is on the devnet alone')
      return null
    }
    if (/^wallet_/.test(method)) throw refuse(4200, `the test wallet does not know ${method}`)
    if (asking.test(method)) {
      const isWanted = await new Promise<boolean>((resolve) => ask({ name, call, answer: resolve }))
      if (!isWanted) throw refuse(4001, 'you said no')
    }
    return callNode(rpcUrl, call)
  }
  return { request } as Provider
}

/** Announces the devnet's wallets (EIP-6963), and asks the reader before one of them signs. */
export function TestWallet({ given }: { given: Given }): ReactNode {
  const [queue, setQueue] = useState<readonly Asked[]>([])
  const dialog = useRef<HTMLDialogElement>(null)
  const [asked] = queue
  useEffect(() => {
    const ask = (next: Asked) => setQueue((before) => [...before, next])
    const details = given.accounts.map(({ name, address }, at) =>
      Object.freeze({
        info: { uuid: `devnet-${address}`, name, rdns: `example.openearn.devnet.${at}`, icon: 'data:,' },
        provider: createProvider(given, at, ask),
      }),
    )
    const announce = () => {
      for (const detail of details) dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }))
    }
    addEventListener('eip6963:requestProvider', announce)
    announce()
    return () => removeEventListener('eip6963:requestProvider', announce)
  }, [given])
  useEffect(() => {
    if (asked && !dialog.current?.open) dialog.current?.showModal()
    if (!asked) dialog.current?.close()
  }, [asked])
  const say = (yes: boolean) => {
    asked?.answer(yes)
    setQueue((before) => before.slice(1))
  }
  const refuseOnEscape = (event: { preventDefault(): void }) => {
    event.preventDefault()
    say(false)
  }
  return (
    <dialog ref={dialog} className="sheet test" aria-label="Test wallet" onCancel={refuseOnEscape}>
      {asked && (
        <div className="stack">
          <h2>{asked.name}</h2>
          <p>This page asks the test wallet for:</p>
          <pre>{tell(asked.call)}</pre>
          <p className="muted small">A public account of the devnet: it is worth nothing elsewhere.</p>
          <div className="actions">
            <button type="button" className="main" onClick={() => say(true)}>
              Approve
            </button>
            <button type="button" onClick={() => say(false)}>
              Reject
            </button>
          </div>
        </div>
      )}
    </dialog>
  )
}

const tell = ({ method, params }: Call): string => `${method}\n${JSON.stringify(params, null, 1)}`.slice(0, 1_500)
