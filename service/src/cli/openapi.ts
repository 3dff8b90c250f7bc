import { buildOpenApi } from '../server/openapi/openapi.js'
import { operations } from '../server/operations.js'
import { readConfig } from './command.js'
import { answer, type Command, parseFlags } from './terminal.js'

export const openapi: Command = {
  usage: 'openearn openapi',
  run: async (words) => {
    parseFlags(words, {})
    const { publicUrl } = readConfig()
    const document = buildOpenApi(operations, publicUrl === undefined ? {} : { url: publicUrl })
    answer(document, [JSON.stringify(document, null, 2)])
  },
}
