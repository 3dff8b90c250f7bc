import { buildOpenApi } from '../server/openapi/openapi.js'
import { operations } from '../server/operations.js'
import { answer, type Command, parseFlags } from './command.js'

export const openapi: Command = {
  summary: 'print the OpenAPI 3.1 document',
  usage: 'openearn openapi',
  run: async (words) => {
    parseFlags(words, {})
    const document = buildOpenApi(operations)
    answer(document, [JSON.stringify(document, null, 2)])
  },
}
