/**
 * API keys: creating, listing, revoking them, and finding the caller behind a request. Owns the table `api_keys`.
 * Has no operations; the server asks it before every keyed one.
 */
export { createKeyText, formatHint, hashKey, parseKeyText } from './apiKey.js'
export {
  type Authenticate,
  type AuthenticatedKey,
  assertAccess,
  assertOrigin,
  type Credentials,
  createAuthenticate,
} from './authenticate.js'
export { type CreateKeyInput, createKey } from './createKey.js'
export { permissions } from './permissions.js'
export {
  findKeys,
  type KeyRow,
  listKeys,
  updateAddressShare as setAddressShare,
  updateRevoked as revokeKey,
} from './store.js'
