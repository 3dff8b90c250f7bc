import { numberToHex } from 'viem'
import { createEarnClient, type Trust } from '../src/client/index.js'
import type { World } from '../src/flows/index.js'

type Answer = (params: never) => unknown

const failure = (code: number, message: string) => Object.assign(new Error(message), { code })

/**
 * A wallet that does all that reaches it, with what reached it, and a service that answers as it is told. `calls`: what
 * contracts return, by address and the selector of the call.
 */
export function openAskedWallet(options: {
  account: string
  chainId: number
  trust?: Trust
  calls: Record<string, string | ((data: string) => string)>
  answers: (path: string, body: unknown) => unknown
}) {
  const { account, chainId, trust, calls, answers } = options
  const asked: { method: string; params: unknown }[] = []
  const state = { chainId, account, nonce: 3, now: 1_795_000_000_000 - 600_000, rejects: false, mines: true }
  const mined = new Map<string, boolean>()
  const act = (answer: () => string) => {
    if (state.rejects) throw failure(4001, 'the user said no')
    return answer()
  }
  const methods: Record<string, Answer> = {
    eth_accounts: () => [state.account],
    eth_chainId: () => numberToHex(state.chainId),
    wallet_switchEthereumChain: () => {
      throw failure(4902, 'unknown chain')
    },
    eth_getCode: () => '0x',
    eth_gasPrice: () => '0x77359400',
    eth_getTransactionCount: () => numberToHex(state.nonce),
    eth_getBlockByNumber: () => ({ baseFeePerGas: '0x3b9aca00', timestamp: numberToHex(state.now / 1_000) }),
    eth_getTransactionByHash: ([hash]: [string]) => (mined.has(hash) ? { hash, from: account } : null),
    eth_getTransactionReceipt: ([hash]: [string]) =>
      mined.get(hash) ? { blockNumber: '0x1', transactionHash: hash, status: '0x1' } : null,
    eth_call: ([{ to, data }]: [{ to: string; data: string }]) => {
      const found = state.chainId === chainId ? calls[`${to.toLowerCase()} ${data.slice(0, 10)}`] : undefined
      if (found === undefined) throw failure(3, 'reverted')
      return typeof found === 'string' ? found : found(data)
    },
    eth_sendTransaction: () =>
      act(() => {
        const hash = numberToHex(0xabc0000 + mined.size, { size: 32 })
        mined.set(hash, state.mines)
        if (state.mines) state.nonce++
        return hash
      }),
    eth_signTypedData_v4: () => act(() => `0x${'11'.repeat(65)}`),
    personal_sign: () => act(() => `0x${'22'.repeat(65)}`),
  }
  const provider = {
    request: (async ({ method, params }: { method: string; params: unknown }) => {
      asked.push({ method, params })
      const answer = methods[method]
      if (!answer) throw failure(-32_601, `no ${method}`)
      return answer(params as never)
    }) as never,
  }
  const earn = createEarnClient({
    baseUrl: 'https://earn.example',
    retries: 0,
    ...(trust ? { trust } : {}),
    fetch: async (input, init) => {
      const body = typeof init?.body === 'string' ? JSON.parse(init.body) : undefined
      return new Response(JSON.stringify(answers(new URL(String(input)).pathname, body)))
    },
  })
  const world: World = { earn, provider, url: 'https://app.example/earn', now: () => state.now }
  const reached = () => asked.filter(({ method }) => /^(eth_send|wallet_send|personal_|eth_sign)/.test(method))
  return { world, state, asked, reached }
}
