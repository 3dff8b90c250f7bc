import { readFileSync } from 'node:fs'

// biome-ignore lint/suspicious/noExplicitAny: vector files have shapes of their own
export function readVectors(name: string): any {
  return JSON.parse(readFileSync(new URL(`./vectors/${name}`, import.meta.url), 'utf8'))
}
