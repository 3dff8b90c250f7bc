import { getOwnMember, isRecord, listOthers } from '../verify/shape.js'

/** Something of a proof that keeps it from proving anything. */
export class Refused extends Error {
  override readonly name = 'Refused'
}

export const refuse = (problem: string): never => {
  throw new Refused(problem)
}

/** The members of an object, which has these and no others. */
export function readMembers<Name extends string>(
  value: unknown,
  names: readonly Name[],
  what: string,
): Record<Name, unknown> {
  if (!isRecord(value)) return refuse(`${what} is no object`)
  const others = listOthers(value, names)
  if (others !== undefined) refuse(`${what} has unknown members: ${others}`)
  return Object.fromEntries(names.map((name) => [name, getOwnMember(value, name)])) as Record<Name, unknown>
}
