import { readFileSync } from 'node:fs'
import { type Schema, separate } from './separate.js'

type Operation = { operationId: string; responses: Record<string, { content?: Record<string, { schema: Schema }> }> }
type Document = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

/** The forms of the answers, as the OpenAPI document of this version has them. */
export function readDocument() {
  const text = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')
  const { paths, components } = JSON.parse(text) as Document
  const answers = new Map(
    Object.values(paths)
      .flatMap((item) => Object.values(item))
      .map(({ operationId, responses }) => [operationId, Object.values(responses['200']?.content ?? {})[0]?.schema]),
  )
  const resolve = (ref: string) => components.schemas[ref.split('/').at(-1) ?? '']
  return {
    /**
     * The answer of an operation with the texts of strangers in members of their own.
     * @throws TypeError if there is no such operation.
     */
    separate: (operationId: string, answer: unknown): unknown => {
      const schema = answers.get(operationId)
      if (!schema) throw new TypeError(`there is no operation ${operationId}`)
      return separate(answer, schema, resolve)
    },
  }
}

export type AnswerForms = ReturnType<typeof readDocument>
