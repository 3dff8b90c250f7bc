import { ensoRouterAbi, lifiRouterAbi } from '@openearn/contracts'
import { type Address, decodeFunctionData, encodeFunctionData, type Hex } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { patient } from '../../../../contracts/test/patience.js'
import type { WorldVault } from '../../../test/actionWorld.js'
import { type ApiFault, type Loose, openSwapApis } from '../../../test/chain/swapApis.js'
import { openSwapWorldWith, type SwapWorld, type Wanted } from '../../../test/chain/swapWorld.js'
import type { Answer } from '../../../test/harness.js'
import { refused } from '../../../test/refused.js'
import { createOutbound } from '../../kernel/outbound.js'
import { RpcError } from '../../rpc/rpc.js'
import { openSwapApis as openClients } from '../../server/swapApis.js'

const user = account(1)
const stranger = account(4).address
const usd = 10n ** 6n
const ether = 10n ** 18n
const amount = 1_000n * usd
const names = ['enso', 'lifi'] as const
type Name = (typeof names)[number]

let opened: SwapWorld<readonly [Wanted, Wanted]>
let world: typeof opened.world
let apis: Awaited<ReturnType<typeof openSwapApis>>
let vault: WorldVault
let given: Address
let got: Address

beforeAll(async () => {
  opened = await openSwapWorldWith({ verifyPlans: false }, { pegUsd: '1' }, { decimals: 18 })
  ;({ world } = opened)
  ;[given, got] = opened.tokens
  // What the chain's own exchange gives is less than what they route over.
  await opened.exchange.v2Pool(given, got, 1_000_000n * usd, 500n * ether)
  await opened.exchange.v2Pool(opened.weth, given, 100n * ether, 200_000n * usd)
  apis = await openSwapApis(world, opened.weth)
  await apis.pool(given, got, 1_000_000n * usd, 600n * ether)
  await apis.pool(opened.weth, given, 100n * ether, 300_000n * usd)
  await world.mint(given, user.address, 1_000_000n * usd)
  await world.mint(got, user.address, 1_000n * ether)
  await world.join(user.address)
  vault = await world.vault(got)
  await world.earn.db`update opportunities set routed_swap_enabled = true where id = ${vault.opportunityId}`
})
afterAll(async () => {
  await apis?.stop()
  await world.close()
})
beforeEach(() => {
  // New circuits: what a service did in one test is not held against it in the next.
  const [enso, lifi] = names.map((name) => ({ url: apis.url, key: `key of ${name}` }))
  const io = {
    outbound: createOutbound(world.earn.clock),
    clock: world.earn.clock,
    bounds: { tryMs: patient(300), allMs: patient(500) },
  }
  Object.assign(world.earn.ctx.swapApis, openClients({ swapApis: { enso: enso!, lifi: lifi! } }, io))
  apis.state.asked = []
})
afterEach(() => {
  apis.state.fault = undefined
})

/** The routers the chain names: one of a service, and the exchange beside it or not. */
async function use(name: Name, exchange: boolean) {
  await opened.exchange.configure()
  const own = { [name]: { router: apis[name].toLowerCase() } }
  const kept = exchange ? await world.earn.db<{ swap: object }[]>`select swap from chains` : []
  await world.earn.db`update chains set swap = ${JSON.stringify({ ...kept[0]?.swap, ...own })}::text::jsonb`
  await world.refresh()
}

const swap = (changes: Record<string, string | number | boolean> = {}) =>
  opened.swap({ tokenIn: given, tokenOut: got, amountIn: String(amount), ...changes })
const routed = (answer: Answer) => answer.body.transactions.find(({ metadata }: { metadata?: object }) => metadata)
const providerOf = (answer: Answer) => routed(answer).metadata.provider
const quotedBy = (answer: Answer) => BigInt(routed(answer).metadata.amountOut)

describe.each(names)('%s', (name) => {
  it('is asked with its key, called at its router with our minimum for the wallet, and gives what it quoted', async () => {
    await use(name, true)
    const before = await world.balance(got, user.address)
    const answer = await swap()
    expect(answer.status, answer.text).toBe(200)
    expect(providerOf(answer)).toBe(name)
    expect(answer.body.simulation.status).toBe('ok')
    const { transaction } = routed(answer)
    expect(transaction.to).toBe(apis[name])
    const abi = name === 'enso' ? ensoRouterAbi : lifiRouterAbi
    const call = decodeFunctionData({ abi: abi as typeof lifiRouterAbi, data: transaction.data as Hex }) as Loose
    const minimum = (quotedBy(answer) * 9_950n) / 10_000n
    expect(call.args.slice(0, 5)).toContain(user.address)
    expect(transaction.data).toContain(minimum.toString(16).padStart(64, '0'))
    if (name === 'lifi') expect(call.args[4]).toBe(minimum)
    else expect(call.functionName).toBe('safeRouteSingle')
    const { headers } = apis.state.asked[0]!
    expect(name === 'enso' ? headers.authorization : headers['x-lifi-api-key']).toContain(`key of ${name}`)
    await world.send(answer, user)
    expect((await world.balance(got, user.address)) - before).toBe(quotedBy(answer))
  })

  it('swaps from and to the native token', async () => {
    await use(name, false)
    const { client } = world.anvil
    const before = await world.balance(given, user.address)
    const from = await swap({ tokenIn: 'native', amountIn: String(ether / 100n), tokenOut: given })
    expect(from.status, from.text).toBe(200)
    expect(from.body.transactions.map(({ type }: { type: string }) => type)).toEqual(['swap'])
    await world.send(from, user)
    expect((await world.balance(given, user.address)) - before).toBe(quotedBy(from))
    const to = await swap({ tokenOut: 'native', amountIn: String(10n * usd) })
    expect(to.status, to.text).toBe(200)
    const had = await client.getBalance({ address: user.address })
    const receipts = await world.send(to, user)
    const paid = receipts.reduce((sum, { gasUsed, effectiveGasPrice }) => sum + gasUsed * effectiveGasPrice, 0n)
    expect((await client.getBalance({ address: user.address })) - had + paid).toBe(quotedBy(to))
  })

  it('takes part in deposits and withdrawals by another token', async () => {
    await use(name, true)
    const into = await world.earn.call('CreateDepositInteraction', {
      params: { opportunityId: vault.opportunityId },
      body: {
        ...{ userAddress: user.address, tokenIn: given, amount: String(amount), mode: 'swap' },
        distributorId: world.distributorId,
      },
    })
    expect(into.status, into.text).toBe(200)
    expect(providerOf(into)).toBe(name)
    await world.send(into, user)
    const shares = await world.balance(vault.address, user.address)
    expect(shares).toBeGreaterThan(0n)
    const out = await world.earn.call('CreateWithdrawInteraction', {
      params: { opportunityId: vault.opportunityId },
      body: {
        ...{ userAddress: user.address, tokenOut: given, amount: String(shares) },
        distributorId: world.distributorId,
      },
    })
    expect(out.status, out.text).toBe(200)
    const before = await world.balance(given, user.address)
    await world.send(out, user)
    expect((await world.balance(given, user.address)) - before).toBe(quotedBy(out))
  })

  /** What it does instead of answering; `alone`: how that is told where there is no other provider. */
  const faults: [string, ReturnType<ApiFault>, 503 | 'NO_ROUTE'][] = [
    ['does not answer in time', 'hang', 503],
    ['is asked too much', { status: 429 }, 503],
    ['fails', { status: 500 }, 503],
    ['refuses our key', { status: 401 }, 503],
    ['has no route', { status: name === 'enso' ? 400 : 404 }, 'NO_ROUTE'],
    ['answers no JSON', { status: 200, body: '<html>' }, 503],
    ['answers half of its JSON', { status: 200, body: '{"gas":"1","amo' }, 503],
    ['answers nothing', { status: 200, body: '' }, 503],
    ['answers a list', { status: 200, body: '[]' }, 503],
    ['answers too much', { status: 200, body: ' '.repeat(1_200_000) }, 503],
  ]

  it.each(faults)('falls back to the exchange of the chain where it %s, and without one says so', async (...row) => {
    const [, fault, alone] = row
    apis.state.fault = () => fault
    await use(name, true)
    const beside = await swap()
    expect([beside.status, providerOf(beside)]).toEqual([200, 'uniswap'])
    await use(name, false)
    const answer = await swap()
    if (alone === 503) expect(answer.status, answer.text).toBe(503)
    else refused(answer, 'NO_ROUTE', true)
  })

  const call = (truth: Loose) => (name === 'enso' ? truth.tx : truth.transactionRequest)
  const double = (value: string) => String(BigInt(value) * 2n)
  const abi = (name === 'enso' ? ensoRouterAbi : lifiRouterAbi) as typeof lifiRouterAbi
  /** Its own call with other arguments. */
  const recall = (truth: Loose, change: (args: Loose[]) => void) => {
    const { functionName, args } = decodeFunctionData({ abi, data: call(truth).data as Hex }) as Loose
    const list = structuredClone([...args])
    change(list)
    call(truth).data = encodeFunctionData({ abi, functionName, args: list as never })
  }
  const lies: [string, (truth: Loose) => void, 503 | 'NO_ROUTE'][] = [
    [
      'the amount it gives',
      (truth) => {
        if (name === 'enso') truth.amountOut = double(truth.amountOut)
        else truth.estimate.toAmount = double(truth.estimate.toAmount)
      },
      'NO_ROUTE',
    ],
    [
      'an amount nobody has',
      (truth) => {
        if (name === 'enso') truth.amountOut = '9'.repeat(78)
        else truth.estimate.toAmount = '9'.repeat(78)
      },
      503,
    ],
    [
      'its target',
      (truth) => {
        call(truth).to = stranger
      },
      503,
    ],
    [
      'the wallet',
      (truth) => {
        call(truth).from = stranger
      },
      503,
    ],
    [
      'the native amount it takes',
      (truth) => {
        call(truth).value = name === 'enso' ? '1' : '0x1'
      },
      503,
    ],
    [
      'the amount it takes',
      (truth) =>
        recall(truth, (args) => {
          if (name === 'enso') args[0].data = args[0].data.replace(/.{8}$/, '7fffffff')
          else args[5].fromAmount *= 2n
        }),
      503,
    ],
    [
      'the token it takes',
      (truth) =>
        recall(truth, (args) => {
          if (name === 'enso') args[0].data = args[0].data.replace(given.slice(2).toLowerCase(), stranger.slice(2))
          else args[5].sendingAssetId = got
        }),
      503,
    ],
    [
      'the receiver',
      (truth) =>
        recall(truth, (args) => {
          // Who is paid by the route itself stands in its inner call.
          if (name === 'lifi') args[3] = stranger
          else args[1] = args[1].replaceAll(user.address.slice(2).toLowerCase(), stranger.slice(2).toLowerCase())
        }),
      name === 'enso' ? 'NO_ROUTE' : 503,
    ],
    [
      'the function it calls',
      (truth) => {
        call(truth).data = `0xa9059cbb${call(truth).data.slice(10)}`
      },
      503,
    ],
    [
      'its calldata',
      (truth) => {
        call(truth).data = '0x'
      },
      503,
    ],
    [
      'the gas it uses',
      (truth) => {
        if (name === 'enso') truth.gas = '9'.repeat(30)
        else truth.estimate.gasCosts[0].estimate = '9'.repeat(30)
      },
      503,
    ],
    ...(name === 'lifi'
      ? ([
          [
            'its spender',
            (truth) => {
              truth.estimate.approvalAddress = stranger
            },
            503,
          ],
          [
            'the chain',
            (truth) => {
              truth.action.toChainId = 1
            },
            503,
          ],
          [
            'the chain of its call',
            (truth) => {
              truth.transactionRequest.chainId = 1
            },
            503,
          ],
          [
            'the route within its call, which pays another',
            (truth) =>
              recall(truth, (args) => {
                const paid = apis.lifi.slice(2).toLowerCase()
                args[5].callData = args[5].callData.replaceAll(paid, stranger.slice(2).toLowerCase())
              }),
            'NO_ROUTE',
          ],
          [
            'what it does within its call: a transfer out of a wallet',
            (truth) =>
              recall(truth, (args) => {
                args[5].callData = `0x23b872dd${args[5].callData.slice(10)}`
              }),
            503,
          ],
        ] as [string, (truth: Loose) => void, 503 | 'NO_ROUTE'][])
      : []),
  ]

  it.each(lies)('is passed over where it lies about %s, and nothing is built without another', async (...row) => {
    const [, lie, alone] = row
    apis.state.fault = (_name, truth) => {
      const changed = structuredClone(truth)
      lie(changed)
      return { changed }
    }
    await use(name, true)
    const beside = await swap()
    expect([beside.status, beside.status === 200 ? providerOf(beside) : beside.text]).toEqual([200, 'uniswap'])
    await use(name, false)
    const answer = await swap()
    if (alone === 503) expect(answer.status, answer.text).toBe(503)
    else refused(answer, 'NO_ROUTE', true)
  })

  it.each(lies.filter(([, , alone]) => alone === 'NO_ROUTE'))(
    'is passed over in a deposit too where it lies about %s, though the wallet holds enough of what is deposited',
    async (...row) => {
      const [, lie] = row
      apis.state.fault = (_name, truth) => {
        const changed = structuredClone(truth)
        lie(changed)
        return { changed }
      }
      await use(name, true)
      const answer = await world.earn.call('CreateDepositInteraction', {
        params: { opportunityId: vault.opportunityId },
        body: {
          ...{ userAddress: user.address, tokenIn: given, amount: String(amount), mode: 'swap' },
          distributorId: world.distributorId,
        },
      })
      expect(answer.status, answer.text).toBe(200)
      expect(providerOf(answer)).toBe('uniswap')
    },
  )

  it('is not asked again before the time it named, nor for a while after five failures', async () => {
    await use(name, true)
    apis.state.fault = () => ({ status: 429, headers: { 'retry-after': '60' } })
    const { clock } = world.earn
    const providers: string[] = []
    providers.push(providerOf(await swap()))
    const asked = apis.state.asked.length
    apis.state.fault = undefined
    clock.advance(30_000)
    providers.push(providerOf(await swap()))
    expect(apis.state.asked).toHaveLength(asked)
    clock.advance(40_000)
    providers.push(providerOf(await swap()))
    expect(providers).toEqual(['uniswap', 'uniswap', name])
    apis.state.fault = () => ({ status: 500 })
    for (let failure = 0; failure < 5; failure++) await swap()
    apis.state.fault = undefined
    expect(providerOf(await swap())).toBe('uniswap')
    clock.advance(6_000)
    expect(providerOf(await swap())).toBe(name)
  })

  it('is not used where the node can simulate nothing, and not asked for a quote alone', async () => {
    const blind = () =>
      world.withNode(
        (request) => async (asked) => {
          const overrides = asked.method === 'eth_call' && (asked.params as unknown[]).length > 2
          if (overrides || asked.method === 'eth_simulateV1') throw new RpcError(-32601, 'not here', undefined)
          return request(asked)
        },
        () => swap(),
      )
    await use(name, true)
    const answer = await blind()
    expect(answer.status, answer.text).toBe(200)
    expect([providerOf(answer), answer.body.simulation.status]).toEqual(['uniswap', 'unavailable'])
    apis.state.asked = []
    expect(providerOf(await swap({ simulate: false }))).toBe('uniswap')
    expect(apis.state.asked).toEqual([])
    await use(name, false)
    refused(await blind(), 'NO_ROUTE', true)
  })

  it('is not asked by a wallet that does not have the amount', async () => {
    await use(name, false)
    refused(await swap({ amountIn: String(10n ** 30n) }), 'INSUFFICIENT_BALANCE')
    expect(apis.state.asked).toEqual([])
  })
})
