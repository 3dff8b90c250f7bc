import type { Route } from 'playwright-core'
import { type PortalBrowser, settle, type View } from './portalInPage.js'
import { goes } from './widgetInPage.js'

/** Requests that cost nothing: one that is lost is asked for again. */
const signatures = ['personal_sign', 'eth_signTypedData_v4']

export type WalletPage = Awaited<ReturnType<typeof openWithWallet>>

/** A page whose test wallet of a name is connected. */
export async function openWithWallet(browser: PortalBrowser, path: string, name: string, view: View = {}) {
  const page = await browser.openPage(path, view)
  const { tab } = page
  const { dev } = browser
  await tab.getByRole('button', { name: 'Connect' }).click()
  await tab.getByRole('dialog', { name: 'Wallet' }).getByRole('button', { name }).click()
  const asked = tab.getByRole('dialog', { name: 'Test wallet' })
  const panel = (title: string) => tab.getByRole('region', { name: title, exact: true })
  /** Says yes or no to what the wallet asks. */
  const answer = async (word: 'Approve' | 'Reject') => {
    await asked.getByRole('button', { name: word }).click()
    await asked.waitFor({ state: 'hidden' })
  }
  const partsOf = (title: string, status: string) => {
    const region = panel(title)
    const end = region.getByRole('status').filter({ hasText: status })
    return { region, end, go: region.getByRole('button', { name: goes }) }
  }
  const reload = async () => {
    await tab.reload()
    await settle(tab)
  }
  /** Says yes to the request that is shown, and loads the page again before its flow can read or be told anything more. */
  const approveAndReload = async (title: string, method: string, isHeard: boolean) => {
    const { origin: node } = new URL(dev.rpcUrl)
    const reads = (url: URL) => url.origin === node || url.href.startsWith(`${dev.baseUrl}/v2/`)
    const [gone, sent] = [openGate(), openGate()]
    let isGone = false
    const hold = async (route: Route) => {
      if (isGone) return route.continue()
      const isSent = route.request().postData()?.includes(method) ?? false
      if (isSent) {
        const response = await route.fetch()
        if (isHeard) await route.fulfill({ response })
        sent.open()
        return
      }
      await gone.passed
      // Those of the page that is gone are nobody's any more.
      await route.continue().catch(() => undefined)
    }
    await tab.route(reads, hold)
    await answer('Approve')
    await sent.passed
    if (isHeard) await panel(title).getByRole('status').filter({ hasText: 'Sent' }).waitFor()
    await tab.reload({ waitUntil: 'commit' })
    isGone = true
    gone.open()
    // The route stays and lets all pass: a request that is on its way while a route goes may never come.
    await settle(tab)
  }
  /**
   * Carries a flow to its end. At each of its steps the user first says no, and the page is loaded again after that no and after the
   * yes that follows: the answer of the wallet is lost with the page at the first step, heard at the second, and so on. A signature
   * costs nothing, so that one which is lost would be asked for again: its flow goes on. Returns the methods of the steps.
   */
  const insist = async (title: string, status: string): Promise<string[]> => {
    const { region, end, go } = partsOf(title, status)
    const steps: string[] = []
    for (;;) {
      await end.or(go).first().waitFor()
      if (await end.isVisible()) return steps
      await go.click()
      await asked.waitFor()
      const [method = ''] = ((await asked.locator('pre').textContent()) ?? '').split('\n')
      await answer('Reject')
      await region.getByRole('alert').filter({ hasText: 'you said no' }).waitFor()
      await reload()
      await go.click()
      await asked.getByText(method).waitFor()
      if (!signatures.includes(method)) await approveAndReload(title, method, steps.length % 2 === 1)
      else {
        await answer('Approve')
        await end.waitFor()
      }
      steps.push(method)
    }
  }
  /**
   * Loads the page again while the wallet asks, which ends the request unanswered: the page cannot know that. It offers to ask again,
   * and a no to that leaves it where it is.
   */
  const loseRequest = async (title: string) => {
    const { region, go } = partsOf(title, '')
    const again = region.getByRole('button', { name: 'Ask the wallet again' })
    await go.click()
    await asked.waitFor()
    await reload()
    await again.click()
    await answer('Reject')
    await region.getByRole('alert').filter({ hasText: 'you said no' }).waitFor()
    await reload()
    await again.click()
    await answer('Approve')
  }
  const close = (title: string) => panel(title).getByRole('button', { name: 'Close' }).click()
  return { ...page, asked, panel, answer, insist, loseRequest, closePanel: close }
}

function openGate() {
  let open: () => void = () => undefined
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { passed, open: () => open() }
}
