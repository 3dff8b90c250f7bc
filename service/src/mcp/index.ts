/**
 * Tools for language models over the API of a service, by the Model Context Protocol. They read, plan, check and explain, and
 * never sign. Texts of strangers stand in members of their own.
 */
export { type AnswerForms, readDocument } from './document.js'
export { serveMcp } from './http.js'
export { callTool, createMcpServer, listTools } from './server.js'
export { serveStdio } from './stdio.js'
export type { Tools } from './tools.js'
