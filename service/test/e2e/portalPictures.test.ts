import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import fastify, { type FastifyInstance } from 'fastify'
import pixelmatch from 'pixelmatch'
import type { Browser, Page } from 'playwright-core'
import { PNG } from 'pngjs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { present } from '../../../contracts/test/present.js'
import { until } from '../../../contracts/test/until.js'
import { addProgram } from '../../src/server/http/pages.js'
import { openChromium } from '../chromium.js'
import { settle } from './portalInPage.js'
import { listPages } from './portalPages.js'
import { startTrustedDevnet } from './trustedDevnet.js'

/**
 * The portal as a browser draws it from the answers that a devnet gave once: the same text in the same place, by the fonts that it
 * ships. `OPENEARN_RECORD=1 npx vitest run service/test/e2e/portalPictures.test.ts` asks a devnet anew and keeps new pictures:
 * look at them before they are committed. Pictures of another Chromium than npm's are kept where OPENEARN_PICTURES says, not compared.
 */
type Answer = { status: number; body: unknown }
/** `at`: what the clock of the pages says. */
type Recorded = { at: number; pages: Record<string, string>; answers: Record<string, Answer> }

const folder = fileURLToPath(new URL('../pictures/', import.meta.url))
const isRecording = process.env['OPENEARN_RECORD'] === '1'
const kept = process.env['OPENEARN_PICTURES']
const looks = [
  ['light', 1280],
  ['dark', 360],
] as const

/** Pixels that may differ in a picture: the processor's own rounding of an edge. A letter is more. */
const most = 12

/** Of a longer page its beginning is compared. */
const tallest = 1_800

let app: FastifyInstance
let browser: Browser
let recorded: Recorded
let origin: string

const nameOf = (url: string) => {
  const { pathname, search } = new URL(url)
  return pathname + search
}

async function openAt(time: number, theme: 'light' | 'dark', width: number): Promise<Page> {
  const view = { viewport: { width, height: 900 }, colorScheme: theme, locale: 'en-US', timezoneId: 'UTC' }
  const tab = await (await browser.newContext(view)).newPage()
  await tab.clock.setFixedTime(time)
  return tab
}

/** Opens each page on a devnet, and notes what the service told it. */
async function record(): Promise<Recorded> {
  const { devnet, close } = await startTrustedDevnet('openearn-portal-pictures-')
  const { dev } = devnet
  const at = present().getTime()
  const answers: Recorded['answers'] = {}
  for (const path of Object.values(listPages(dev))) {
    const tab = await openAt(at, 'light', 1280)
    const reads: Promise<void>[] = []
    tab.on('response', (response) => {
      const name = nameOf(response.url())
      if (!/\/v2\/|config\.json/.test(name)) return
      const keep = async () => {
        const body = await response.json()
        answers[name] = {
          status: response.status(),
          body: 'apiKey' in body ? { ...body, apiKey: 'pk_live_recorded' } : body,
        }
      }
      reads.push(keep())
    })
    await tab.goto(`${dev.baseUrl}/portal/${path}`)
    await settle(tab)
    await tab.waitForLoadState('networkidle')
    await Promise.all(reads)
    await tab.context().close()
  }
  const pages = listPages(dev)
  await close()
  return { at, pages, answers }
}

beforeAll(async () => {
  browser = await openChromium()
  const file = `${folder}answers.json`
  if (isRecording) {
    await mkdir(folder, { recursive: true })
    await writeFile(file, `${JSON.stringify(await record(), null, 1)}\n`)
  }
  recorded = JSON.parse(await readFile(file, 'utf8'))
  app = fastify()
  addProgram(app, 'portal', { serviceUrl: () => origin })
  const answer = { exposeHeadRoute: false }
  app.get('/*', answer, async (request, reply) => {
    const told = recorded.answers[request.raw.url ?? '']
    return reply.code(told?.status ?? 599).send(told?.body ?? { unknown: request.raw.url })
  })
  app.get('/portal/config.json', answer, async () => recorded.answers['/portal/config.json']?.body)
  origin = await app.listen({ host: '127.0.0.1', port: 0 })
}, 240_000)
afterAll(async () => {
  await browser?.close()
  await app?.close()
}, 60_000)

async function draw(path: string, theme: 'light' | 'dark', width: number) {
  const tab = await openAt(recorded.at, theme, width)
  const unknown: string[] = []
  tab.on('response', (response) => {
    if (response.status() === 599) unknown.push(nameOf(response.url()))
  })
  await tab.goto(`${origin}/portal/${path}`)
  await settle(tab)
  await tab.waitForLoadState('networkidle')
  await tab.evaluate('document.fonts.ready.then(() => undefined)')
  // A control that was drawn before its font was there keeps the baseline of the other one: all is laid out anew.
  await tab.evaluate(
    `(() => { const { style } = document.body; style.display = 'none'; document.body.offsetHeight; style.display = '' })()`,
  )
  const whole = await tab.evaluate<number>('document.documentElement.scrollHeight')
  const clip = { x: 0, y: 0, width, height: Math.min(whole, tallest) }
  const shoot = () => tab.screenshot({ clip, fullPage: true, animations: 'disabled', caret: 'hide' })
  // A busy browser may still be painting: a page is as it stays once two pictures are the same.
  let picture = await shoot()
  await until('the page to stay as it is', async () => {
    const before = picture
    picture = await shoot()
    return picture.equals(before)
  })
  await tab.context().close()
  return { picture, unknown }
}

/** How many pixels of two pictures differ, and which. */
function compare(one: Buffer, other: Buffer) {
  const [a, b] = [PNG.sync.read(one), PNG.sync.read(other)]
  if (a.width !== b.width || a.height !== b.height) return { count: a.width * a.height, sizes: [a, b] }
  const shown = new PNG({ width: a.width, height: a.height })
  return { count: pixelmatch(a.data, b.data, shown.data, a.width, a.height, { threshold: 0.1 }), shown }
}

describe('the portal looks as it did:', () => {
  it('every page, light at 1280 and dark at 360 pixels, by the fonts that it ships', async () => {
    for (const [name, path] of Object.entries(recorded.pages))
      for (const [theme, width] of looks) {
        const { picture, unknown } = await draw(path, theme, width)
        const file = `${name.replaceAll(' ', '-')}-${theme}-${width}.png`
        expect([file, unknown]).toEqual([file, []])
        if (kept) await writeFile(`${kept}/${file}`, picture)
        if (isRecording) await writeFile(`${folder}${file}`, picture)
        const { count, shown } = compare(await readFile(`${folder}${file}`), picture)
        if (count > most && kept && shown) await writeFile(`${kept}/differs-${file}`, PNG.sync.write(shown))
        expect([file, count <= most, count]).toEqual([file, true, count])
      }
  }, 240_000)
})
