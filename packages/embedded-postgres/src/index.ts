/** A real PostgreSQL from npm: its folder, its start, its supervision, and the adoption of servers left behind. */
export { findEmbeddedPostgres, startEmbeddedPostgres } from './embedded.js'
export { findHome } from './embeddedFolder.js'
