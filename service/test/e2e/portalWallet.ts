import type { PortalBrowser, View } from './portalInPage.js'

/** A page whose test wallet of a name is connected. */
export async function openWithWallet(browser: PortalBrowser, path: string, name: string, view: View = {}) {
  const page = await browser.openPage(path, view)
  await page.tab.getByRole('button', { name: 'Connect' }).click()
  await page.tab.getByRole('dialog', { name: 'Wallet' }).getByRole('button', { name }).click()
  return page
}
