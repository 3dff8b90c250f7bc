/**
 * The door for the operator's commands: the log of what they change. It loads neither exports nor reports, so that a command
 * starts at once.
 */
export { type Change, type Recorder, recordChanges } from './changes.js'
