import { readFile, writeFile } from 'node:fs/promises'
import { buildOpenApi, interfaceVersion } from '../server/openapi/openapi.js'
import { type Document, findBreaking } from '../server/openapi/openapiDiff.js'
import { operations } from '../server/operations.js'
import { type Command, parseFlags, print, UsageError } from './command.js'

export const openapi: Command = {
  summary: 'print the OpenAPI 3.1 document, or write it to a file',
  usage: 'openearn openapi [--write FILE]    (refuses to write what would break clients of the same version)',
  run: async (words) => {
    const { values } = parseFlags(words, { write: { type: 'string' } })
    const document = buildOpenApi(operations)
    const text = `${JSON.stringify(document, null, 2)}\n`
    if (values.write === undefined) return print(text.trimEnd())
    const known = await readKnown(values.write)
    const breaking = known && known.info.version === interfaceVersion ? findBreaking(known, document) : []
    if (breaking.length > 0)
      throw new UsageError(
        `this would break clients of ${interfaceVersion}; undo it or give the interface a new version:\n- ${breaking.join('\n- ')}`,
      )
    await writeFile(values.write, text)
  },
}

type CommittedDocument = Document & { info: { version: string } }

async function readKnown(path: string): Promise<CommittedDocument | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
