/** A typed client of an OpenEarn service. What checks a plan before it is signed stands in `@openearn/sdk/verify`. */
export * from './client/index.js'
