import { readFile } from 'node:fs/promises'
import { importCatalogue } from '../features/catalogue/index.js'
import { type Command, print, UsageError, withContext } from './command.js'

const usage = 'openearn catalogue import FILE'

export const catalogue: Command = {
  summary: 'import a catalogue file',
  usage,
  run: async ([verb, fileName, ...more]) => {
    if (verb !== 'import' || fileName === undefined || more.length > 0)
      throw new UsageError(`catalogue: say import and a file\n${usage}`)
    const text = await readFile(fileName, 'utf8').catch((error: Error) => {
      throw new UsageError(`${fileName} cannot be read: ${error.message}`)
    })
    await withContext(async (ctx) => {
      await importCatalogue(ctx, text, { fileName })
      print(`imported ${fileName}`)
    })
  },
}
