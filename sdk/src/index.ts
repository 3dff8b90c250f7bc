/** A typed client of an OpenEarn service. `@openearn/sdk/verify` checks a plan before it is signed. */
export * from './client/index.js'
