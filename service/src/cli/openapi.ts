import { buildOpenApi } from '../server/openapi/openapi.js'
import { operations } from '../server/operations.js'
import { type Command, parseFlags, print, readConfig } from './command.js'

export const openapi: Command = {
  summary: 'print the OpenAPI 3.1 document',
  usage: 'openearn openapi',
  run: async (words) => {
    parseFlags(words, {})
    const { publicUrl } = readConfig()
    print(JSON.stringify(buildOpenApi(operations, publicUrl === undefined ? {} : { url: publicUrl }), null, 2))
  },
}
