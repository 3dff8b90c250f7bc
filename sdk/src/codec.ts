/**
 * The codec of this repository, which the service reads and writes suffixes by as well. Its package is not installed with
 * the sdk: the build copies what is used of it beside this file (`scripts/copyCodec.js`).
 */
export * from '@openearn/attribution/codec'
