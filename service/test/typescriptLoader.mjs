import { readFile } from 'node:fs/promises'

// Read at the first file that needs it: the compiler takes a second to load, and most threads of tests are JavaScript.
let compile

async function openCompiler() {
  const { default: ts } = await import('typescript')
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 }
  return (source) => ts.transpileModule(source, { compilerOptions }).outputText
}

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
  compile ??= openCompiler()
  const [toJavaScript, source] = await Promise.all([compile, readFile(new URL(url), 'utf8')])
  return { format: 'module', source: toJavaScript(source), shortCircuit: true }
}
