import { afterEach, describe, expect, it } from 'vitest'
import * as turtle from './index.js'
import {
  createDepositInteraction,
  createMembershipV2,
  getChains,
  getDistributorMetrics,
  getOpportunity,
} from './index.js'

const { client, createClient } = turtle
const baseUrl = 'https://earn.example'
const seen: Request[] = []

/** A service that answers the given one. */
const answering =
  (status: number, body: unknown) =>
  async (request: Request): Promise<Response> => {
    seen.push(request)
    return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status })
  }
const open = (config: turtle.Config = {}) => createClient({ baseUrl, fetch: answering(200, { ok: 1 }), ...config })
const refusal = { code: 404, status: 'NOT_FOUND', error: 'no such thing', context: {} }

afterEach(() => {
  seen.length = 0
  client.setConfig({ baseUrl: undefined, auth: undefined, fetch: undefined })
})

describe('a call of the form that users of the origin know', () => {
  it('takes path, query and body, and answers data, request and response', async () => {
    const id = '117fbf7f-1755-5202-9bea-f02ff57091cb'
    const answer = await getOpportunity({ client: open(), path: { id }, query: { includeDeltas: true } })
    expect(answer.data).toEqual({ ok: 1 })
    expect([answer.error, answer.response.status, answer.request]).toEqual([undefined, 200, seen[0]])
    const startDate = new Date('2026-01-31T12:00:00Z')
    await getDistributorMetrics({
      client: open(),
      path: { distributorId: 'a/b' },
      query: { startDate, endDate: '2026-02-01T00:00:00Z', opportunityIds: ['x', 'y'], step: undefined },
    })
    await createDepositInteraction({
      client: open(),
      path: { opportunityId: id },
      body: { userAddress: '0x1', tokenIn: 'native', amount: 10n ** 30n, distributorId: 'acme' },
    })
    expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      `GET ${baseUrl}/v2/opportunities/${id}?includeDeltas=true`,
      `GET ${baseUrl}/v2/metrics/distributor/a%2Fb?startDate=2026-01-31T12%3A00%3A00.000Z&endDate=2026-02-01T00%3A00%3A00Z&opportunityIds=x&opportunityIds=y`,
      `POST ${baseUrl}/v2/actions/deposit/${id}`,
    ])
    expect(await seen[2]!.json()).toMatchObject({ amount: `1${'0'.repeat(30)}`, distributorId: 'acme' })
    expect([seen[0], seen[2]].map((request) => request?.headers.get('content-type'))).toEqual([
      null,
      'application/json',
    ])
  })

  it('answers an error, and throws it only where that is asked for', async () => {
    const refusing = open({ fetch: answering(404, refusal) })
    const answer = await getChains({ client: refusing })
    expect([answer.data, answer.error, answer.response.status]).toEqual([undefined, refusal, 404])
    await expect(getChains({ client: refusing, throwOnError: true })).rejects.toEqual(refusal)
    await expect(getChains({ client: open({ fetch: answering(404, refusal), throwOnError: true }) })).rejects.toEqual(
      refusal,
    )
  })

  it.each([
    ['a gateway in HTML', 502, '<html>', '<html>'],
    ['nothing', 500, '', {}],
  ])('answers the error that %s is', async (_, status, body, error) => {
    expect(await getChains({ client: open({ fetch: answering(status, body) }) })).toMatchObject({ error })
  })

  it('answers an error where 200 is no JSON, and where nobody answers', async () => {
    const html = await getChains({ client: open({ fetch: answering(200, '<html>') }) })
    expect([html.data, html.error]).toEqual([undefined, expect.any(SyntaxError)])
    const gone = new TypeError('fetch failed')
    const nobody = await getChains({
      client: open({
        fetch: () => {
          throw gone
        },
      }),
    })
    expect([nobody.error, nobody.response]).toEqual([gone, undefined])
  })

  it('ends with its signal', async () => {
    const ended = AbortSignal.abort(new Error('enough'))
    const answer = await getChains({ baseUrl: 'http://127.0.0.1:1', signal: ended })
    expect(answer.error).toMatchObject({ message: 'enough' })
  })

  it.each(['', '.', '..'])('refuses %j as a part of a path: it would name another operation', async (id) => {
    await expect(getOpportunity({ client: open(), path: { id } })).rejects.toThrow(/path.id/)
  })

  it('refuses to go nowhere', async () => {
    await expect(getChains()).rejects.toThrow(/client.setConfig/)
    await expect(getChains({ client: createClient() })).rejects.toThrow(/client.setConfig/)
  })
})

describe('a configuration', () => {
  it('is that of the common client, of another one, or of the call, the nearest first', async () => {
    client.setConfig({ baseUrl: `${baseUrl}/`, fetch: answering(200, {}), headers: { 'x-a': '1', 'x-b': '1' } })
    expect(client.setConfig({ headers: { 'x-c': 3 } }).baseUrl).toBe(baseUrl)
    await getChains({ headers: { 'x-a': '2', 'x-b': null } })
    await getChains({ baseUrl: 'https://other.example', headers: new Headers({ 'x-a': '4' }) })
    await getChains({ client: open() })
    const shown = ['x-a', 'x-b', 'x-c']
    expect(seen.map(({ url, headers }) => [new URL(url).host, ...shown.map((name) => headers.get(name))])).toEqual([
      ['earn.example', '2', null, '3'],
      ['other.example', '4', '1', '3'],
      ['earn.example', null, null, null],
    ])
    expect(new Headers(client.getConfig().headers as Headers).get('x-c')).toBe('3')
    client.setConfig({ headers: { 'x-a': null, 'x-b': null, 'x-c': null } })
  })

  it('brings the key, by text or function, unless the headers have one', async () => {
    await getChains({ client: open({ auth: 'pk_1' }) })
    await getChains({ client: open({ auth: async () => 'pk_2' }) })
    await getChains({ client: open({ auth: 'pk_3', headers: { Authorization: 'Bearer pk_4' } }) })
    expect(seen.map(({ headers }) => [headers.get('x-api-key'), headers.get('authorization')])).toEqual([
      ['pk_1', null],
      ['pk_2', null],
      [null, 'Bearer pk_4'],
    ])
  })

  it('sends no secret key from a page, by whichever way it came', async () => {
    Object.assign(globalThis, { document: {} })
    try {
      const late = open()
      late.interceptors.request.use((request) => {
        request.headers.set('x-api-key', 'sk_live_x')
        return request
      })
      for (const one of [open({ auth: 'sk_live_x' }), open({ headers: { authorization: 'Bearer sk_live_x' } }), late])
        await expect(getChains({ client: one })).rejects.toThrow(/no secret key in a page/)
      expect(seen).toEqual([])
      await getChains({ client: open({ auth: 'pk_live_x' }) })
      expect(seen).toHaveLength(1)
    } finally {
      Reflect.deleteProperty(globalThis, 'document')
    }
  })
})

describe('interceptors', () => {
  it('see and replace request, response and error, in their order, until they are ejected', async () => {
    const one = open({ fetch: answering(404, refusal) })
    const told: string[] = []
    const { request, response, error } = one.interceptors
    const first = request.use((each, options) => {
      told.push(`${each.method} ${options.baseUrl}`)
      return new Request(each, { headers: { 'x-a': '1' } })
    })
    response.use((each, asked) => {
      told.push(`${each.status} ${asked.headers.get('x-a')}`)
      return each
    })
    error.use((each, answered) => {
      told.push(`error ${answered?.status}`)
      return { wrapped: each }
    })
    expect((await getChains({ client: one })).error).toEqual({ wrapped: refusal })
    expect(told).toEqual([`GET ${baseUrl}`, '404 1', 'error 404'])
    expect([request.exists(first), request.exists(7)]).toEqual([true, false])
    expect(request.update(first, (each) => new Request(each, { headers: { 'x-a': '2' } }))).toBe(first)
    request.eject(first)
    expect([request.exists(first), request.update(first, (each) => each), request.fns]).toEqual([false, false, [null]])
    error.clear()
    response.clear()
    expect((await getChains({ client: one })).error).toEqual(refusal)
    expect(seen.map(({ headers }) => headers.get('x-a'))).toEqual(['1', null])
  })
})

describe('the names', () => {
  it('are the forty of the origin, its client, createClient and types', () => {
    expect(Object.keys(turtle).sort()).toEqual(
      [
        ...['client', 'createClient', 'types'],
        ...['createCancelDepositInteraction', 'createClaimDepositInteraction', 'createDepositInteraction'],
        ...['createMembershipAgreementV2', 'createMembershipV2', 'createStream', 'createStreamPoint'],
        ...['createWithdrawInteraction', 'getChains', 'getDistributorDepositsV2', 'getDistributorLps'],
        ...['getDistributorMetrics', 'getEarnSwapV2', 'getMembership', 'getOpportunity', 'getOpportunityFilterOptions'],
        ...['getOpportunityHistorical', 'getOpportunityHistoricalApr', 'getOpportunityHistoricalApy'],
        ...['getOpportunityHistoricalSharePrice', 'getOpportunityHistoricalTvl', 'getProtocols', 'getStreamPoints'],
        ...['getStreamTokens', 'getStreamWallet', 'getStreamWallets', 'getStreams', 'getStreamsForWallet'],
        ...['getSwapDetails', 'getSwapTokens', 'getTokenByAddress', 'getTokens', 'getWalletActivity'],
        ...['listInteractions', 'listOpportunities', 'listOpportunitiesByDistributor', 'postStreamsBulk'],
        ...['protocolsWalletGetWalletPortfolio', 'turtleStreamsGetMerkleProofs', 'verifyTracking'],
      ].sort(),
    )
    expect(Object.values(turtle).filter((each) => each !== client && each !== createClient)).toHaveLength(41)
    expect(createMembershipV2).toBeTypeOf('function')
  })
})
