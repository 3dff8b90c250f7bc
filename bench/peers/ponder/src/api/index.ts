import { Hono } from 'hono'

// Ponder refuses to start without an API; nothing is asked of it here.
// biome-ignore lint/style/noDefaultExport: Ponder reads the API from it
export default new Hono()
