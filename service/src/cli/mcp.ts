import { readFile } from 'node:fs/promises'
import { createEarnClient, type Trust } from '@openearn/sdk'
import { readEnv } from '../kernel/config.js'
import { readDocument, serveMcp, serveStdio, type Tools } from '../mcp/index.js'
import { answer, type Command, complain, parseFlags, parseOrigin, parseWhole, UsageError } from './terminal.js'
import { readVersion } from './version.js'

const usage = `openearn mcp [--url URL] [--trust FILE] [--secret] [--http [--port PORT] [--origin ORIGIN ...]]

Gives language models tools over the API of a service, by the Model Context Protocol: they read, plan, check plans and explain
attributions. Nothing is ever signed or sent, and no tool takes a private key. It speaks on standard input and output; with --http
on a port of 127.0.0.1, where each request has to carry the token that is printed at start.

  --url URL         the service; OPENEARN_URL unless given, http://127.0.0.1:4020 without both
  --trust FILE      the facts that plans are compared with (openearn trust export); those of the service unless given
  --secret          take a secret key too; a publishable one is enough for every tool
  --origin ORIGIN   a page that may call, such as http://localhost:6274

The key is read from OPENEARN_API_KEY.`

export const mcp: Command = {
  usage,
  run: async (words) => {
    const { values } = parseFlags(words, {
      url: { type: 'string' },
      trust: { type: 'string' },
      secret: { type: 'boolean' },
      http: { type: 'boolean' },
      port: { type: 'string' },
      origin: { type: 'string', multiple: true },
    })
    const port = parseWhole(values.port ?? '0', 0)
    if (port === undefined || port > 65_535) throw new UsageError('--port must be a port')
    if (!values.http && (values.port || values.origin)) throw new UsageError('--port and --origin belong to --http')
    const origins = (values.origin ?? []).map(parseOrigin)
    const version = await readVersion()
    const context = await openTools({ ...values, secret: values.secret === true })
    if (!values.http) return serveStdio(context, version)
    const onError = (error: unknown) => complain(`a request failed: ${error instanceof Error ? error.message : error}`)
    const { url, token, close } = await serveMcp(context, { port, origins, version, onError })
    answer({ url, token }, [`tools at ${url}`, `authorization: Bearer ${token}`])
    await new Promise<void>((resolve) => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve)
    })
    await close()
  },
}

async function openTools(options: { url?: string; trust?: string; secret: boolean }): Promise<Tools> {
  const { url = readEnv()['OPENEARN_URL'] ?? 'http://127.0.0.1:4020', trust: file, secret } = options
  const apiKey = readEnv()['OPENEARN_API_KEY']
  if (apiKey?.startsWith('sk_') && !secret)
    throw new UsageError('OPENEARN_API_KEY is a secret key: use a publishable one, or say --secret')
  if (!URL.canParse(url) || !/^https?:/.test(url)) throw new UsageError('--url must be the url of a service')
  const trust = file === undefined ? undefined : await readTrust(file)
  return { client: createEarnClient({ baseUrl: url, apiKey, ...(trust ? { trust } : {}) }), forms: readDocument() }
}

async function readTrust(file: string): Promise<Trust> {
  const text = await readFile(file, 'utf8').catch(() => {
    throw new UsageError(`--trust: ${file} cannot be read`)
  })
  const trust = parse(text) as Partial<Trust> | undefined
  if (trust?.version !== 1 || !Array.isArray(trust.chains))
    throw new UsageError(`--trust: ${file} is no file of openearn trust export`)
  return trust as Trust
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Told by the caller.
    return undefined
  }
}
