import { createEarnClient, type Trust } from '@openearn/sdk'
import type { Provider } from '@openearn/sdk/flows'
import { EarnWidget, type EarnWidgetProps } from '@openearn/widget'
import { Profiler } from 'react'
import { createRoot } from 'react-dom/client'

/** What a test gives its page. `own`: the widget asks the wallets of the browser. */
type Given = Omit<EarnWidgetProps, 'earn' | 'wallet'> & {
  baseUrl: string
  apiKey: string
  account: `0x${string}`
  trust?: Trust
  own?: boolean
}
type Page = {
  given: Given
  wallet(call: unknown): Promise<{ error?: { code: number; message: string }; result: unknown }>
}
const { given, wallet } = globalThis as unknown as Page

const provider: Provider = {
  request: async (call) => {
    const { error, result } = await wallet(call)
    if (error) throw Object.assign(new Error(error.message), { code: error.code })
    return result
  },
}

const { baseUrl, apiKey, trust, account, own, ...props } = given
const earn = createEarnClient({ baseUrl, apiKey, trust })
const told = { drawings: 0, violations: [] as string[] }
Object.assign(globalThis, { told })
document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
  told.violations.push(`${violatedDirective} ${blockedURI}`),
)

const connected = { provider, account }
const draw = () => told.drawings++
for (const place of document.querySelectorAll<HTMLElement>('[data-widget]'))
  createRoot(place).render(
    <Profiler id="widget" onRender={draw}>
      <EarnWidget earn={earn} wallet={own ? undefined : connected} {...props} />
    </Profiler>,
  )
document.title = 'ready'
