#!/usr/bin/env node
// Writes service/openapi.json anew, of the built service. Refuses what would break clients of the same version.
import { readFile, writeFile } from 'node:fs/promises'
import { buildOpenApi } from '../dist/server/openapi/openapi.js'
import { operations } from '../dist/server/operations.js'
import { findBreaking } from './openapiDiff.mjs'

const path = new URL('../openapi.json', import.meta.url)
const known = JSON.parse(await readFile(path, 'utf8'))
const document = buildOpenApi(operations)
const breaking = known.info.version === document.info.version ? findBreaking(known, document) : []
if (breaking.length === 0) await writeFile(path, `${JSON.stringify(document, null, 2)}\n`)
else {
  const { version } = document.info
  const list = breaking.map((each) => `\n- ${each}`).join('')
  console.error(`this would break clients of ${version}; undo it or give the interface a new version:${list}`)
  process.exitCode = 1
}
