/**
 * The names and the form of the client that users of the Turtle Earn interface know, for a program that moves here: only
 * the import and `baseUrl` change. docs/moving.md tells each difference. New programs use `@openearn/sdk`.
 */
export { client, createClient } from './client.js'
export * from './generated/operations.js'
export * as types from './generated/types.js'
export type { Client, Config, RequestOptions, RequestResult } from './options.js'
