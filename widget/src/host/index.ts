/**
 * The half of a page around the iframe of an OpenEarn service: the wallet stays here. The frame is let in after a nonce came back
 * from its own window and origin; what it wants of the wallet is compared by the verifier and the file of trust of this page.
 */
export { type OpenFrame, openFrame } from './openFrame.js'
export type { FrameEvent, HostOptions, HostSettings } from './options.js'
