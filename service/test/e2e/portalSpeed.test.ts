import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../documents.js'
import { openPortal, type PortalBrowser, settle } from './portalInPage.js'
import { startTrustedDevnet, type TrustedDevnet } from './trustedDevnet.js'

let trusted: TrustedDevnet
let browser: PortalBrowser
beforeAll(async () => {
  trusted = await startTrustedDevnet('openearn-portal-speed-')
  browser = await openPortal(trusted.devnet.dev)
}, 180_000)
afterAll(async () => {
  await browser?.close()
  await trusted?.close()
}, 60_000)

/** A program with what it imports, built as the portal is. */
async function build(code: string): Promise<string> {
  const folder = await mkdtemp(join(root, 'portal/.build-'))
  try {
    const input = join(folder, 'entry.ts')
    await writeFile(input, code)
    const define = { 'process.env.NODE_ENV': '"production"' }
    const bundle = await rolldown({ input, platform: 'browser', transform: { define }, logLevel: 'silent' })
    const { output } = await bundle.generate({ format: 'esm', minify: true })
    await bundle.close()
    return output[0].code
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Milliseconds of processor time that the page's main thread has taken. */
async function readTaskMs(tab: Page): Promise<number> {
  const session = await tab.context().newCDPSession(tab)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const { metrics } = await session.send('Performance.getMetrics')
  await session.detach()
  return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1_000
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!

/** An empty page of the service's origin that runs a program. */
async function openEmpty(program: string) {
  const page = await browser.openPage('methodology')
  const url = `${trusted.devnet.dev.baseUrl}/empty/`
  const html = `<!doctype html><meta charset="utf-8"><title>empty</title><div id="root"></div><script type="module" src="entry.js"></script>`
  await page.tab.route(`${url}**`, (route) =>
    route.request().url().endsWith('.js')
      ? route.fulfill({ contentType: 'text/javascript', body: program })
      : route.fulfill({ contentType: 'text/html', body: html }),
  )
  return { ...page, url }
}

describe('the main thread of a page', () => {
  it('takes at most three times as long to draw the list as an empty React page of the same build', async () => {
    const empty = await build(`import { createElement } from 'react'
      import { createRoot } from 'react-dom/client'
      createRoot(document.getElementById('root')).render(createElement('h1', null, 'empty'))`)
    const page = await openEmpty(empty)
    const list = await browser.openPage()
    const times: { empty: number[]; list: number[] } = { empty: [], list: [] }
    for (let turn = 0; turn < 7; turn++) {
      await page.tab.goto(page.url)
      await page.tab.locator('h1').waitFor()
      times.empty.push(await readTaskMs(page.tab))
      await list.tab.goto(list.home)
      await settle(list.tab)
      await list.tab.locator('li[data-id]').first().waitFor()
      times.list.push(await readTaskMs(list.tab))
    }
    const [bare, full] = [median(times.empty), median(times.list)]
    console.log(`the list takes ${full.toFixed(0)} ms of the main thread, an empty React page ${bare.toFixed(0)}`)
    expect(bare).toBeGreaterThan(0)
    expect(full).toBeLessThanOrEqual(3 * bare)
    await page.close()
    await list.close()
  }, 240_000)

  it('draws 10,000 points in at most three times what a bare line of as many takes', async () => {
    const program = await build(`import { draw, toFrame } from '../src/chart/draw.js'
      const points = Array.from({ length: 10_000 }, (_, index) => ({ at: index * 900_000, value: 100 + Math.sin(index / 50) * 9 + (index % 7) }))
      const colours = { line: '#1f5eff', fill: 'rgb(31 94 255 / 10%)', grid: '#ddd', text: '#555', font: '12px sans-serif' }
      const written = { value: String, time: String }
      const open = () => {
        const canvas = document.createElement('canvas')
        canvas.width = 700; canvas.height = 300
        document.body.append(canvas)
        return canvas.getContext('2d')
      }
      const least = 90, most = 120
      globalThis.bare = () => {
        const context = open()
        context.beginPath()
        points.forEach(({ at, value }, index) => context[index ? 'lineTo' : 'moveTo']((at / points.at(-1).at) * 700, 300 - ((value - least) / (most - least)) * 300))
        context.lineWidth = 2
        context.stroke()
        context.getImageData(0, 0, 1, 1)
      }
      globalThis.own = () => {
        const context = open()
        draw(context, points, toFrame(points, 700, 300, 60), colours, written)
        context.getImageData(0, 0, 1, 1)
      }
      document.title = 'ready'`)
    const page = await openEmpty(program)
    await page.tab.goto(page.url)
    await page.tab.waitForFunction('document.title === "ready"')
    const take = async (name: 'bare' | 'own') => {
      const before = await readTaskMs(page.tab)
      await page.tab.evaluate(`${name}()`)
      return (await readTaskMs(page.tab)) - before
    }
    const times: { bare: number[]; own: number[] } = { bare: [], own: [] }
    for (let turn = 0; turn < 9; turn++) {
      times.bare.push(await take('bare'))
      times.own.push(await take('own'))
    }
    const [bare, own] = [median(times.bare), median(times.own)]
    console.log(
      `a chart of 10,000 points takes ${own.toFixed(1)} ms of the main thread, a bare line ${bare.toFixed(1)}`,
    )
    expect(own).toBeLessThanOrEqual(3 * bare)
    expect(own).toBeLessThanOrEqual(50)
    await page.close()
  }, 120_000)
})
