import type { Provider } from '@openearn/sdk/flows'
import { startApp } from './startApp.js'

/** A wallet of the test, behind a function of its page. */
const provider: Provider = {
  request: async (call) => {
    const { wallet } = globalThis as unknown as {
      wallet(call: unknown): Promise<{ error?: { code: number; message: string }; result: unknown }>
    }
    const { error, result } = await wallet(call)
    if (error) throw Object.assign(new Error(error.message), { code: error.code })
    return result
  },
}

startApp(provider)
