import { buildOpenApi } from '../server/openapi/openapi.js'
import { operations } from '../server/operations.js'
import { answer, type Command, parseFlags, readConfig } from './command.js'

export const openapi: Command = {
  summary: 'print the OpenAPI 3.1 document',
  usage: 'openearn openapi',
  run: async (words) => {
    parseFlags(words, {})
    const { publicUrl } = readConfig()
    const document = buildOpenApi(operations, publicUrl === undefined ? {} : { url: publicUrl })
    answer(document, [JSON.stringify(document, null, 2)])
  },
}
