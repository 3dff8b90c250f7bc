/**
 * Copies of the feed in other engines: each event once and in order, with the position kept where the copy is. Loaded by the
 * command that makes them, and by nothing else.
 */
export { forwardEvents } from './forwardEvents.js'
export { openJetStream } from './jetStream.js'
