/** Copies of the feed in other engines. Loaded by the command that makes them, and by nothing else. */
export { forwardEvents } from './forwardEvents.js'
export { openJetStream } from './jetStream.js'
