import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Json, openClient } from '../e2e/client.js'
import { type Dev, makeFolder, runOpenEarn, type Started, startDevnet, waitFor } from '../e2e/process.js'
import { rm } from 'node:fs/promises'

let folder: string
let devnet: Started & { dev: Dev }
let dev: Dev

beforeAll(async () => {
  folder = await makeFolder('openearn-attack-')
  devnet = await startDevnet(folder)
  dev = devnet.dev
}, 120_000)
afterAll(async () => {
  await devnet?.stop()
  await rm(folder, { recursive: true, force: true })
})
