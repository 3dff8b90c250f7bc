import { readFile } from 'node:fs/promises'
import ts from 'typescript'

const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 }

/** A source file names its neighbour as the build will: with `.js`. */
export async function resolve(specifier, context, nextResolve) {
  const fromSource = context.parentURL?.endsWith('.ts') && specifier.startsWith('.') && specifier.endsWith('.js')
  return nextResolve(fromSource ? specifier.replace(/\.js$/, '.ts') : specifier, {
    ...context,
    conditions: ['source', ...context.conditions],
  })
}

export async function load(url, context, nextLoad) {
  if (!url.endsWith('.ts')) return nextLoad(url, context)
  const source = await readFile(new URL(url), 'utf8')
  const { outputText } = ts.transpileModule(source, { compilerOptions })
  return { format: 'module', source: outputText, shortCircuit: true }
}
