type Response = {
  description: string
  headers: Record<string, unknown>
  content?: Record<string, { example?: unknown }>
}
type Described = { responses: Record<string, Response | { $ref: string }> }

/**
 * Takes the refusals that several operations share out of the paths of a document and puts references in their place.
 * Returns the shared ones by name, in the order of their names. A refusal with an example of its own stays where it is.
 */
export function shareResponses(paths: Record<string, Record<string, unknown>>): Record<string, Response> {
  const operations = Object.values(paths).flatMap((item) => Object.values(item) as Described[])
  const uses = new Map<string, { status: string; response: Response; count: number }>()
  for (const { responses } of operations)
    for (const [status, response] of refusalsOf(responses)) {
      const key = keyOf(status, response)
      uses.set(key, { status, response, count: (uses.get(key)?.count ?? 0) + 1 })
    }
  const names = new Map<string, string>()
  const shared: Record<string, Response> = {}
  for (const [key, { status, response, count }] of uses) {
    if (count === 1) continue
    const name = nameOf(status, response, shared)
    names.set(key, name)
    shared[name] = response
  }
  for (const { responses } of operations)
    for (const [status, response] of refusalsOf(responses)) {
      const name = names.get(keyOf(status, response))
      if (name !== undefined) responses[status] = { $ref: `#/components/responses/${name}` }
    }
  return Object.fromEntries(Object.entries(shared).sort(([a], [b]) => (a < b ? -1 : 1)))
}

const refusalsOf = (responses: Described['responses']): [string, Response][] =>
  Object.entries(responses).flatMap(([status, response]) =>
    status.startsWith('2') || '$ref' in response || hasExample(response)
      ? []
      : [[status, response] as [string, Response]],
  )

const hasExample = ({ content = {} }: Response) => Object.values(content).some(({ example }) => example !== undefined)

const keyOf = (status: string, response: Response) => `${status} ${JSON.stringify(response)}`

/** The status and the first words of the description: `404NoSuchOpportunity`. */
function nameOf(status: string, { description }: Response, taken: Record<string, Response>): string {
  const words = description
    .replace(/[^A-Za-z0-9 ]/g, '')
    .split(' ')
    .filter(Boolean)
    .slice(0, 5)
  const name = `E${status}${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')}`
  let free = name
  for (let next = 2; Object.hasOwn(taken, free); next++) free = `${name}${next}`
  return free
}
