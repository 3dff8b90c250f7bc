import { buildOpenApi } from '../server/openapi.js'
import { operations } from '../server/operations.js'
import { type Command, print } from './command.js'

export const openapi: Command = {
  summary: 'print the OpenAPI 3.1 document',
  usage: 'openearn openapi',
  run: async () => print(JSON.stringify(buildOpenApi(operations), null, 2)),
}
