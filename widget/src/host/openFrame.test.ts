import { afterEach, describe, expect, it, vi } from 'vitest'
import { planOf, trust } from '../../../sdk/test/claimPlans.js'
import { chainId, openModel, opportunityId, wallet } from '../../../sdk/test/flowModel.js'
import { createRandom } from '../../../sdk/test/random.js'
import { openFrame } from './index.js'

type Said = { openearn: string; nonce: string }

/** A page with a frame, as far as `openFrame` uses them, whose inner page got the channel. */
function openPage() {
  const page = new EventTarget()
  vi.stubGlobal('location', { origin: 'https://app.example', pathname: '/' })
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page))
  vi.stubGlobal('removeEventListener', page.removeEventListener.bind(page))
  const heard: Said[] = []
  let port: MessagePort | undefined
  const inner = {
    postMessage: (said: Said, _origin: string, ports?: [MessagePort]) => {
      heard.push(said)
      port ??= ports?.[0]
    },
  }
  const frame = Object.assign(new EventTarget(), {
    ...{ src: 'https://earn.example/embed/pk', isConnected: true, contentWindow: inner },
  })
  const say = (data: object, from: { source?: object; origin?: string } = {}) => {
    const event = { source: inner, origin: 'https://earn.example', ...from, data }
    page.dispatchEvent(Object.assign(new Event('message'), event))
  }
  const model = openModel({ random: createRandom(1) })
  const opened = openFrame(frame as unknown as HTMLIFrameElement, {
    ...{ distributorId: 'ours', trust, provider: { request: model.request as never } },
  })
  const last = (openearn: string) => heard.findLast((each) => each.openearn === openearn)
  say({ openearn: 'nonce', nonce: last('nonce')?.nonce })
  if (!port) throw new Error('the page in the frame was not let in')
  const channel = port
  let id = 0
  const ask = (message: object): Promise<{ result?: unknown; error?: { code: number } }> => {
    const own = ++id
    channel.postMessage({ id: own, ...message })
    return new Promise((resolve) => {
      channel.addEventListener('message', ({ data }) => data.id === own && resolve(data))
      channel.start()
    })
  }
  const sent = () => model.asked.filter(({ method }) => /send|sign/i.test(method)).length
  const close = () => {
    opened.close()
    channel.close()
  }
  return { say, ask, sent, close, nonce: () => last('here')?.nonce }
}

const request = { type: 'claimDeposit', userAddress: wallet, chainId, opportunityId, distributorId: 'ours' }
const given = { asked: request, plan: planOf('claimDeposit', 'ours'), position: 0 }
const handed = { handed: { kind: 'transaction', given } }

describe('the page around a frame', () => {
  afterEach(() => vi.unstubAllGlobals())

  it('asks its wallet once the page in the frame says that it is there', async () => {
    const page = openPage()
    const answer = page.ask(handed)
    await expect.poll(page.nonce).toBeDefined()
    page.say({ openearn: 'here', nonce: page.nonce() })
    expect((await answer).result).toMatch(/^0x[0-9a-f]{64}$/)
    expect(page.sent()).toBe(1)
    page.close()
  })

  it('asks for nothing where who was let in left the frame and kept the channel', async () => {
    const page = openPage()
    page.ask(handed)
    await expect.poll(page.nonce).toBeDefined()
    const nonce = page.nonce()
    page.say({ openearn: 'here', nonce: `${nonce}0` })
    page.say({ openearn: 'here', nonce }, { source: {} })
    // A read goes the same way through the channel: whatever waited before it has been done.
    expect((await page.ask({ method: 'eth_chainId' })).result).toBe(`0x${chainId.toString(16)}`)
    expect(page.sent()).toBe(0)
    page.say({ openearn: 'here', nonce }, { origin: 'https://thief.example' })
    page.say({ openearn: 'here', nonce })
    expect(page.sent()).toBe(0)
    page.close()
  })
})
