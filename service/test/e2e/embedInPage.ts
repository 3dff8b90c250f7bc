import { readFile } from 'node:fs/promises'
import { patience } from '../../../contracts/test/patience.js'
import { bundle } from '../../../react/test/bundles.js'
import { organizations } from '../../src/cli/dev/names.js'
import { root } from '../documents.js'
import { ethereum, openHooks } from './hooksInPage.js'
import { runOpenEarn } from './process.js'
import type { TrustedDevnet } from './trustedDevnet.js'
import type { WalletOptions } from './wallet.js'
import { tellWidget } from './widgetInPage.js'

/** The page of `examples/iframe`, with the page of a key of a devnet in its frame. */
export async function openEmbed({ devnet, dataDir, trust }: TrustedDevnet) {
  const { dev } = devnet
  const files = new Map<string, string>()
  for (const [file, code] of await bundle('../../examples/iframe/host.js', 19, 'browser'))
    files.set(file === 'entry.js' ? 'host.js' : file, code)
  files.set('trust.json', JSON.stringify(trust))
  const app = await openHooks({ dev, trust }, { files })
  const html = await readFile(`${root}examples/iframe/index.html`, 'utf8')

  const createKey = async (...origins: string[]): Promise<string> => {
    const listed = origins.flatMap((origin) => ['--origin', origin])
    const words = ['keys', 'create', '--org', organizations[0].id, '--kind', 'publishable', ...listed]
    const said = await runOpenEarn(words, { OPENEARN_DATA_DIR: dataDir })
    return /pk_live_[0-9A-Za-z]{38}/.exec(said)![0]
  }
  const frameKey = (apiKey: string) => {
    const framed = html.replace('https://earn.example/embed/pk_live_…', `${dev.baseUrl}/embed/${apiKey}`)
    files.set('index.html', framed.replace('data-distributor="code"', `data-distributor="${dev.distributorIds[0]}"`))
  }
  /** A key whose list has the origin of the page. */
  const key = await createKey(app.pages.origin)
  frameKey(key)

  const show = async (at: number, options?: WalletOptions) => {
    const page = await app.openPage(at, {}, [ethereum], options)
    page.context.setDefaultTimeout(20_000 * patience)
    const tab = page.page
    const go = async () => void (await tab.goto(app.pages.origin))
    await go()
    const frame = tab.frameLocator('iframe')
    const counted = (method: RegExp) => page.asked.filter((each) => method.test(each)).length
    return { ...page, tab, frame, go, counted, ...tellWidget(frame) }
  }
  return { app, key, createKey, frameKey, show, close: app.close }
}
