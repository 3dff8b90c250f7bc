import { type HostOptions, type OpenFrame, openFrame } from '@openearn/widget/host'

/** The page around a frame that a test drives by itself; `open` returns once the host listens. */
const told = { events: [] as unknown[], heights: [] as number[], reviews: [] as unknown[] }
let opened: OpenFrame | undefined
Object.assign(globalThis, {
  told,
  open: (options: Omit<HostOptions, 'provider'>) => {
    const frame = document.querySelector('iframe')
    if (!frame) throw new Error('the page has no frame')
    opened = openFrame(frame, {
      provider: (globalThis as unknown as { ethereum: HostOptions['provider'] }).ethereum,
      onEvent: (event) => told.events.push(event),
      onHeight: (height) => told.heights.push(height),
      ...options,
    })
  },
  shut: () => opened?.close(),
})
