// What the portal costs a reader's processor, in a real Chromium, all in one run: its list until it is drawn against an empty React
// page of the same build; a filter over 5,000 opportunities from the API's answer until it is painted; 10,000 points by a
// press, and what they take more than two points against the same on a bare canvas; long tasks while the list is scrolled. Times of the main thread are processor time, which other programs disturb least.
// Exit code 1 where a bound is not met. Usage: node bench/load/portal.mjs [rounds, default 7]
// (needs `npm run build`, and a Chromium: CHROMIUM names one, else that of the system, else the one that the tests unpack).
import { existsSync, readFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { startPortal } from './portalServer.mjs'
import { startService } from './service.mjs'

const rounds = Number(process.argv[2] ?? 7)
const points = 10_000
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]
const say = (line) => process.stdout.write(`${line}\n`)
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

function findChromium() {
  const { devDependencies } = JSON.parse(readFileSync(new URL('../../service/package.json', import.meta.url), 'utf8'))
  const unpacked = join(tmpdir(), `openearn-chromium-${devDependencies['@sparticuz/chromium']}`)
  const system = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
  const path = [process.env.CHROMIUM, ...system, join(unpacked, 'chromium')].find((each) => each && existsSync(each))
  if (!path)
    throw new Error('there is no Chromium: name one in CHROMIUM, or let a test of service/test/e2e unpack its own')
  const env = path.startsWith(unpacked) ? { LD_LIBRARY_PATH: join(unpacked, 'al2023/lib') } : {}
  return { executablePath: path, env: { ...process.env, ...env } }
}

/** A new page, and the processor time that its main thread has used so far, in milliseconds. */
async function openPage(browser) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
  const tab = await context.newPage()
  const session = await context.newCDPSession(tab)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const busy = async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'TaskDuration').value * 1_000
  }
  return { tab, busy, close: () => context.close() }
}

/** Until a page has been drawn and is idle: it is not touched meanwhile. */
async function measureLoad(browser, url, drawn) {
  const { tab, busy, close } = await openPage(browser)
  await tab.goto(url)
  await pause(1_500)
  const used = await busy()
  if ((await tab.locator(drawn).count()) === 0) throw new Error(`${url} was not drawn`)
  await close()
  return used
}

/** Milliseconds from the end of the API's answer until the frame after the list changed; and of main thread for each choice. */
async function measureFilters(browser, origin) {
  const { tab, busy, close } = await openPage(browser)
  await tab.goto(`${origin}/portal/`)
  await tab.locator('li[data-id]').first().waitFor()
  await tab.evaluate(`{
    globalThis.painted = []
    const list = document.querySelector('main')
    let asked = 0
    new MutationObserver(() => {
      const answers = performance.getEntriesByType('resource').filter(({ name }) => name.includes('/v2/opportunities/?'))
      if (answers.length === asked || list.querySelector('[aria-busy=true]')) return
      asked = answers.length
      const { responseEnd } = answers.at(-1)
      requestAnimationFrame(() => {
        const channel = new MessageChannel()
        channel.port1.onmessage = () => globalThis.painted.push(performance.now() - responseEnd)
        channel.port2.postMessage(0)
      })
    }).observe(list, { subtree: true, childList: true, attributes: true, characterData: true })
  }`)
  const used = []
  const choose = async (name, values) => {
    for (const value of values) {
      const before = await busy()
      await tab.getByRole('combobox', { name, exact: true }).selectOption(value)
      await pause(500)
      used.push((await busy()) - before)
    }
  }
  await choose('Token', ['USDC', 'DAI', 'WETH', 'WBTC', 'USDT', 'wstETH', 'cbBTC'])
  await choose('Sort by', ['name', 'apr', 'curator', 'type'])
  const painted = await tab.evaluate('globalThis.painted')
  await close()
  if (painted.length < 8) throw new Error(`only ${painted.length} filters were seen to be painted`)
  return { painted, used: median(used) }
}

/** The main thread's time for a press and what it leads to: the mean of six, of each target in turn. */
async function measurePress(page, targets) {
  const presses = 6
  const boxes = []
  for (const each of targets) boxes.push(await each.boundingBox())
  const before = await page.busy()
  for (let press = 0; press < presses; press++) {
    const { x, y, width, height } = boxes[press % boxes.length]
    await page.tab.mouse.click(x + width / 2, y + height / 2)
    await pause(150)
  }
  return ((await page.busy()) - before) / presses
}

/** The same for presses that draw a line anew: of the chart, which is a part of a page, and of a bare canvas. */
async function measureLines(browser, portal, count) {
  portal.show(count)
  const chart = await openPage(browser)
  await chart.tab.goto(`${portal.origin}/portal/`)
  const id = await chart.tab.locator('li[data-id]').first().getAttribute('data-id')
  await chart.tab.goto(`${portal.origin}/portal/opportunities/${id}?range=all`)
  const slider = chart.tab.locator('[role=slider]')
  await slider.waitFor()
  const series = ['Share price', 'TVL'].map((name) => chart.tab.getByRole('button', { name, exact: true }))
  // The driver looks the button up in the page's own thread: that is done before.
  const { x, y, width, height } = await series[0].boundingBox()
  await pause(500)
  const before = await chart.busy()
  await chart.tab.mouse.click(x + width / 2, y + height / 2)
  await pause(500)
  const first = (await chart.busy()) - before
  const most = Number(await slider.getAttribute('aria-valuemax'))
  if (most !== count - 1) throw new Error(`the line has ${most + 1} points`)
  await series[1].click()
  const bare = await openPage(browser)
  await bare.tab.goto(`${portal.origin}/canvas/?${count}`)
  const used = { chart: [], bare: [] }
  for (let round = 0; round < rounds; round++) {
    used.chart.push(await measurePress(chart, series))
    used.bare.push(await measurePress(bare, [bare.tab.locator('canvas')]))
  }
  await chart.close()
  await bare.close()
  return { first, chart: median(used.chart), bare: median(used.bare) }
}

/** The longest task while the list is scrolled down and up, in milliseconds; 0 where none took 50. */
async function measureScroll(browser, origin) {
  const { tab, close } = await openPage(browser)
  await tab.setViewportSize({ width: 360, height: 740 })
  await tab.goto(`${origin}/portal/`)
  await tab.locator('li[data-id]').last().waitFor()
  await pause(1_000)
  await tab.evaluate(`{
    globalThis.long = []
    new PerformanceObserver((list) => globalThis.long.push(...list.getEntries().map(({ duration }) => duration)))
      .observe({ type: 'longtask' })
  }`)
  await tab.mouse.move(180, 400)
  for (let step = 0; step < 60; step++) {
    await tab.mouse.wheel(0, step < 30 ? 200 : -200)
    await pause(30)
  }
  const long = await tab.evaluate('globalThis.long')
  await close()
  return Math.max(0, ...long)
}

const service = await startService(5_000)
const portal = await startPortal({ baseUrl: service.baseUrl, key: service.key })
const { executablePath, env } = findChromium()
const args = ['--disable-dev-shm-usage', '--no-zygote', '--disable-gpu']
const browser = await chromium.launch({ executablePath, env, chromiumSandbox: process.getuid?.() !== 0, args })
try {
  say(
    `machine: ${cpus().length} × ${cpus()[0].model}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`,
  )
  say(
    `Chromium ${browser.version()}, load before: ${loadavg()
      .map((each) => each.toFixed(1))
      .join(' ')}; ${rounds} rounds, medians`,
  )
  const loads = { empty: [], portal: [] }
  for (let round = 0; round < rounds; round++) {
    loads.empty.push(await measureLoad(browser, `${portal.origin}/empty/`, 'h1'))
    loads.portal.push(await measureLoad(browser, `${portal.origin}/portal/`, 'li[data-id]'))
  }
  const { painted, used } = await measureFilters(browser, portal.origin)
  const many = await measureLines(browser, portal, points)
  const few = await measureLines(browser, portal, 2)
  const longest = await measureScroll(browser, portal.origin)
  const bounds = [
    [
      'list until drawn, of an empty React page',
      median(loads.portal) / median(loads.empty),
      3,
      `${median(loads.portal).toFixed(1)} and ${median(loads.empty).toFixed(1)} ms of main thread`,
    ],
    [
      'filter painted after the answer, ms',
      median(painted),
      50,
      `${painted.length} filters and sorts, most ${Math.max(...painted).toFixed(1)}; ${used.toFixed(1)} ms of main thread with the choice`,
    ],
    ['10,000 points shown by a press, ms of main thread', many.chart, 50, `${few.chart.toFixed(1)} with two points`],
    [
      '10,000 points shown the first time, with reading the answer, ms of main thread',
      many.first,
      50,
      `${few.first.toFixed(1)} with two points`,
    ],
    [
      '10,000 points more than two, of a bare canvas line',
      (many.chart - few.chart) / (many.bare - few.bare),
      3,
      `${(many.chart - few.chart).toFixed(1)} and ${(many.bare - few.bare).toFixed(1)} ms`,
    ],
    ['longest task over 50 ms while scrolling, ms', longest, 50, ''],
  ]
  say('| what | value | bound | |\n|---|---|---|---|')
  for (const [name, value, bound, more] of bounds)
    say(`| ${name} | ${value.toFixed(2)} | ≤ ${bound}${value > bound ? ', not met' : ''} | ${more} |`)
  process.exitCode = bounds.some(([, value, bound]) => value > bound) ? 1 : 0
} finally {
  await browser.close()
  await portal.close()
  await service.stop()
}
