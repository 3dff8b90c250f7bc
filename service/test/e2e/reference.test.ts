import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { source } from 'axe-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operations } from '../../src/server/operations.js'
import { loadRandomCatalogue } from '../catalogueWorld.js'
import { openChromium } from '../chromium.js'
import { type Earn, openEarn } from '../harness.js'

const run = promisify(execFile)
const phone = { width: 390, height: 844 }
const desk = { width: 1280, height: 900 }

type Finding = { id: string; target: string }

/** What axe finds on the page as it is shown now. */
async function findFaults(page: Page): Promise<Finding[]> {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(source)
  const found: { violations: { id: string; nodes: { target: unknown[] }[] }[] } = await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'] })`,
  )
  return found.violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => ({ id, target: target.join(' ') })))
}

/** By how many pixels the page, or what is not meant to scroll in it, is wider than the window. */
const overflow = (page: Page): Promise<number> =>
  page.evaluate('Math.max(document.documentElement.scrollWidth, document.body.scrollWidth) - innerWidth')

describe('the reference as a browser shows it', () => {
  let earn: Earn
  let browser: Browser
  let base: string
  beforeAll(async () => {
    earn = await openEarn()
    await loadRandomCatalogue(earn, 20, 3)
    base = await earn.service.opsApp.listen({ port: 0, host: '127.0.0.1' })
    browser = await openChromium()
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await earn?.close()
  })

  /** The page of an operation, or the start page; what it complains of in the console is a failure. */
  async function open(options: BrowserContextOptions, operationId = ''): Promise<Page> {
    const page = await browser.newPage(options)
    page.on('pageerror', (error) => {
      throw error
    })
    await page.goto(`${base}/reference#${operationId}`)
    await page.waitForSelector('main h2')
    return page
  }

  async function show(page: Page, operationId: string): Promise<void> {
    await page.evaluate(`location.hash = ${JSON.stringify(operationId)}`)
    await page.waitForFunction(`document.querySelector('main h2').textContent === ${JSON.stringify(operationId)}`)
  }

  it('has nothing axe finds wrong, and no sideways scroll on a phone, whatever is open', async () => {
    const page = await open({ colorScheme: 'light', viewport: phone })
    expect({ faults: await findFaults(page), wider: await overflow(page) }).toEqual({ faults: [], wider: 0 })
    for (const { operationId } of operations) {
      await show(page, operationId)
      const seen = { operationId, faults: await findFaults(page), wider: await overflow(page) }
      expect(seen).toEqual({ operationId, faults: [], wider: 0 })
    }
    await page.close()
  }, 120_000)

  it('has nothing axe finds wrong on a wide screen in dark colours', async () => {
    const page = await open({ colorScheme: 'dark', viewport: desk })
    expect({ faults: await findFaults(page), wider: await overflow(page) }).toEqual({ faults: [], wider: 0 })
    for (const operationId of ['ListOpportunities', 'CreateDepositInteraction']) {
      await show(page, operationId)
      expect({ faults: await findFaults(page), wider: await overflow(page) }).toEqual({ faults: [], wider: 0 })
    }
    await page.close()
  })

  it('answers a tried call on the page, as readable as the rest', async () => {
    const page = await open({ viewport: phone }, 'ListOpportunities')
    await page.fill('#key', earn.publishable)
    await page.click('button[type=submit]')
    await page.waitForSelector('[aria-live] pre')
    expect(await page.textContent('[aria-live] h3')).toMatch(/^200 in \d+ ms$/)
    expect({ faults: await findFaults(page), wider: await overflow(page) }).toEqual({ faults: [], wider: 0 })
    await page.close()
  })

  it('shows samples of every operation that a shell and TypeScript read, and a first call that works', async () => {
    const page = await open({ viewport: desk })
    const samples = () => page.locator('main pre').allTextContents()
    const [, first = ''] = await samples()
    const answer = await run('bash', ['-c', `${first} --fail`], {
      env: { PATH: process.env['PATH'], BASE: `${base}/reference/call`, KEY: earn.publishable },
    })
    expect(JSON.parse(answer.stdout).data.length).toBeGreaterThan(10)
    const shell: string[] = []
    for (const { operationId, method } of operations) {
      await show(page, operationId)
      // By way of the operator listener nothing is changed.
      expect([operationId, await page.locator('button[type=submit]').count()]).toEqual([
        operationId,
        method === 'GET' ? 1 : 0,
      ])
      const [curl = '', typescript = ''] = await samples()
      expect(curl).toMatch(/^curl -s "\$BASE\/v2\//)
      shell.push(curl)
      const { diagnostics } = ts.transpileModule(typescript, {
        reportDiagnostics: true,
        compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
      })
      expect({ operationId, wrong: diagnostics?.map(({ messageText }) => messageText) }).toEqual({
        operationId,
        wrong: [],
      })
    }
    await run('bash', ['-nc', shell.join('\n')])
    await page.close()
  }, 60_000)
})
