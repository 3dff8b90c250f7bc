import type { Page } from 'playwright-core'
import { onTestFailed, TestRunner } from 'vitest'

/** The text of a page as it is shown, that of its shadow roots too. */
const textOf = `(() => {
  const roots = [document.body, ...[...document.querySelectorAll('*')].flatMap(({ shadowRoot }) => shadowRoot ?? [])]
  return roots.map((root) => [...root.children].map((each) => each.innerText ?? '').join('\\n')).join('\\n---\\n')
})()`

/** Prints what a page shows when the test that opened it fails; a page that hangs is said to hang. */
export function tellPage(page: Page): void {
  // A page that the set-up of a file opens belongs to no test.
  if (TestRunner.getCurrentTest() === undefined) return
  onTestFailed(async () => {
    if (page.isClosed()) return
    const shown = page.waitForFunction<string>(textOf, undefined, { timeout: 5_000 })
    const text = await shown.then((found) => found.jsonValue()).catch((error: unknown) => `it hangs: ${error}`)
    console.error(`the page ${page.url()} shows:\n${text.slice(0, 4_000)}`)
  })
}
