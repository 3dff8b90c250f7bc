#!/usr/bin/env node
// Writes service/openapi.json anew, of the built service. Refuses what would break clients of the same version.
import { readFile, writeFile } from 'node:fs/promises'
import { buildOpenApi } from '../dist/server/openapi/openapi.js'
import { operations } from '../dist/server/operations.js'
import { findBreaking } from './openapiDiff.mjs'

/** JSON in lines down to a depth: a change shows in the member of an operation it concerns, and half the bytes are saved. */
function format(value, depth, indent = '') {
  if (depth === 0 || typeof value !== 'object' || value === null) return JSON.stringify(value)
  const inner = `${indent} `
  const members = Object.entries(value).map(([name, member]) => {
    const text = format(member, depth - 1, inner)
    return Array.isArray(value) ? `${inner}${text}` : `${inner}${JSON.stringify(name)}: ${text}`
  })
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return members.length === 0 ? `${open}${close}` : `${open}\n${members.join(',\n')}\n${indent}${close}`
}

/** Changes that clients cannot meet: they happen only where a request has a parameter that is as new as they are. */
const accepted = new Set([
  // With `after` the list has no pages.
  'GET /v2/interactions/ 200.pagination may be missing',
])

const path = new URL('../openapi.json', import.meta.url)
const known = JSON.parse(await readFile(path, 'utf8'))
const document = buildOpenApi(operations)
const breaking =
  known.info.version === document.info.version
    ? findBreaking(known, document).filter((each) => !accepted.has(each))
    : []
if (breaking.length === 0) await writeFile(path, `${format(document, 4)}\n`)
else {
  const { version } = document.info
  const list = breaking.map((each) => `\n- ${each}`).join('')
  console.error(`this would break clients of ${version}; undo it or give the interface a new version:${list}`)
  process.exitCode = 1
}
