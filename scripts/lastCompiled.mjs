import { statSync } from 'node:fs'

const root = new URL('../', import.meta.url)

/** When one of these packages was last compiled, in milliseconds since 1970; 0 where none was. */
export const lastCompiled = (folders) => Math.max(0, ...folders.map((folder) => timeOf(`${folder}/dist/.tsbuildinfo`)))

const timeOf = (file) => statSync(new URL(file, root), { throwIfNoEntry: false })?.mtimeMs ?? 0
