import { access, constants } from 'node:fs/promises'
import { type Browser, chromium } from 'playwright-core'

/** Where systems and their packages put a Chromium. */
const places = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/opt/google/chrome/chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** The Chromium of this machine; undefined where there is none at the usual places. */
export async function findChromium(): Promise<string | undefined> {
  for (const path of places) {
    const found = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (found) return path
  }
  return undefined
}

/** A Chromium without a window. It loads pages of this machine only: tests name no other. */
export function openChromium(executablePath: string): Promise<Browser> {
  // The pages are our own, and its sandbox does not start for root.
  return chromium.launch({
    executablePath,
    chromiumSandbox: process.getuid?.() !== 0,
    args: ['--disable-dev-shm-usage'],
  })
}
