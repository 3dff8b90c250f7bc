/**
 * The codec of this repository, by which the service also reads and writes suffixes. Its package is not installed with the
 * sdk: the build copies the used part into the folder of this file (`scripts/copyCodec.js`).
 */
export * from '@openearn/attribution/codec'
