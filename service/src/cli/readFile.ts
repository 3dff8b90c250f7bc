import { createReadStream } from 'node:fs'
import { UsageError } from './terminal.js'

const mebibyte = 1024 * 1024

/** Reads a file of text that somebody names. No more than the most it may have is ever read, whatever the file is. */
export async function readTextFile(name: string, { mebibytesMax }: { mebibytesMax: number }): Promise<string> {
  const parts: Buffer[] = []
  let size = 0
  try {
    for await (const part of createReadStream(name, { end: mebibytesMax * mebibyte })) {
      parts.push(part)
      size += part.length
    }
  } catch (error) {
    throw new UsageError(`${name} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
  if (size > mebibytesMax * mebibyte)
    throw new UsageError(`${name} has more than the ${mebibytesMax} MiB that such a file may have; split it`)
  return Buffer.concat(parts).toString('utf8')
}
