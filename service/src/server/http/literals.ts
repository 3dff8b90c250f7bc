import type { Operation } from '../../kernel/operation.js'

/** By parameter of a path, the words that other operations have in its place. */
export type Literals = ReadonlyMap<string, ReadonlySet<string>>

const isParameter = (segment: string) => segment.startsWith('{')
const nameOf = (segment: string) => segment.slice(1, -1)
const splitPath = (path: string) => path.split('/').filter((segment) => segment !== '')

/** The words that other operations have where a path has a parameter, after the same beginning: they are no ids. Pure. */
export function listLiterals(
  { path }: Pick<Operation, 'path'>,
  operations: readonly Pick<Operation, 'path'>[],
): Literals {
  const own = splitPath(path)
  const others = operations.map((operation) => splitPath(operation.path))
  const literals = new Map<string, ReadonlySet<string>>()
  own.forEach((segment, at) => {
    if (!isParameter(segment)) return
    const begin = own.slice(0, at)
    const words = others
      .filter((other) => begin.every((each, i) => isSame(each, other[i])))
      .flatMap((other) => other[at] ?? [])
      .filter((word) => !isParameter(word))
    if (words.length > 0) literals.set(nameOf(segment), new Set(words))
  })
  return literals
}

function isSame(segment: string, other: string | undefined): boolean {
  return other !== undefined && (segment === other || (isParameter(segment) && isParameter(other)))
}

/** Whether one of the parameters is such a word. */
export function isLiteral(literals: Literals | undefined, params: Readonly<Record<string, string>>): boolean {
  if (!literals || literals.size === 0) return false
  return [...literals].some(([name, words]) => words.has(params[name] ?? ''))
}
