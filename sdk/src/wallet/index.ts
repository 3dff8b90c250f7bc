/**
 * The half of a page that has a wallet, for another page that has none: `askFor` compares what that page wants, by the file of
 * trust and the wallet's own view of the chain, and asks the wallet in the same call. `@openearn/widget/host` is made of it.
 */
export { askFor, type Limits } from './askFor.js'
export { type Handed, type HandedKind, handedKinds, type Provider } from './provider.js'
