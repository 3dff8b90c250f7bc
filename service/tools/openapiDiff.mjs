/**
 * What in a new OpenAPI document would break a client written for an old one. Pure; knows the parts of JSON Schema that
 * our documents use, and takes what it does not know for breaking when it changed.
 */

/** Every breaking difference, one sentence each; none means the new document serves the old clients. */
export function findBreaking(before, after) {
  const found = []
  const documents = { before: asJson(before), after: asJson(after) }
  for (const [path, item] of Object.entries(asJson(before.paths)))
    for (const [method, operation] of Object.entries(asJson(item))) {
      const next = asJson(asJson(asJson(after.paths)[path])[method])
      const place = `${method.toUpperCase()} ${path}`
      if (Object.keys(next).length === 0) found.push(`${place} is gone`)
      else compareOperations(asJson(operation), next, place, documents, found)
    }
  return [...new Set(found)]
}

function compareOperations(before, after, place, documents, found) {
  if (before['operationId'] !== after['operationId']) found.push(`${place} is called ${after['operationId']}`)
  const ranks = ['public', 'publishable', 'secret']
  if (ranks.indexOf(String(after['x-access'])) > ranks.indexOf(String(before['x-access'])))
    found.push(`${place} needs a ${after['x-access']} key`)
  if (after['x-permission'] !== undefined && after['x-permission'] !== before['x-permission'])
    found.push(`${place} needs the permission ${after['x-permission']}`)
  compareParameters(before, after, place, documents, found)
  compareBodies(before, after, place, documents, found)
  for (const [status, answer] of Object.entries(asJson(before['responses']))) {
    if (!status.startsWith('2')) continue
    const next = asJson(after['responses'])[status]
    if (next === undefined) found.push(`${place} answers ${status} no more`)
    else compare('answer', schemaOf(answer), schemaOf(next), `${place} ${status}`, documents, found)
  }
}

function compareParameters(before, after, place, documents, found) {
  const list = (operation, document) =>
    new Map(
      asList(operation['parameters']).map((one) => {
        const parameter = resolve(one, document)
        return [`${parameter['in']} ${parameter['name']}`, parameter]
      }),
    )
  const next = list(after, documents.after)
  const known = list(before, documents.before)
  for (const [name, parameter] of known) {
    const other = next.get(name)
    if (!other) found.push(`${place}: ${name} is gone`)
    else compare('request', ...schemasOf(parameter, other), `${place} ${name}`, documents, found)
  }
  for (const [name, parameter] of next)
    if (parameter['required'] === true && known.get(name)?.['required'] !== true)
      found.push(`${place}: ${name} is now required`)
}

/**
 * The schemas of a parameter in both documents. The service takes a list as one text of commas and as repeated values, so
 * that a text that became an array of the same items, or the reverse, is no difference.
 */
function schemasOf(before, after) {
  const [old, next] = [asJson(before['schema']), asJson(after['schema'])]
  const items = (schema) => schema['x-list-of'] ?? schema['items']
  const wasWrittenAnew = (old['type'] === 'array') !== (next['type'] === 'array') && items(old) && items(next)
  return wasWrittenAnew ? [items(old), items(next)] : [old, next]
}

function compareBodies(before, after, place, documents, found) {
  const body = asJson(before['requestBody'])
  const next = asJson(after['requestBody'])
  if (next['required'] === true && body['required'] !== true) found.push(`${place} now requires a body`)
  if (Object.keys(body).length > 0 && Object.keys(next).length > 0)
    compare('request', schemaOf(body), schemaOf(next), `${place} body`, documents, found)
}

function schemaOf(holder) {
  return asJson(asJson(asJson(asJson(holder)['content'])['application/json'])['schema'])
}

/** `direction` is request or answer: a request must go on accepting what it accepted, an answer must stay within what it was. */
function compare(direction, oldSchema, newSchema, place, documents, found) {
  const before = withoutText(resolve(oldSchema, documents.before))
  const after = withoutText(resolve(newSchema, documents.after))
  const [narrow, wide] = direction === 'request' ? [before, after] : [after, before]
  if (before['anyOf'] || after['anyOf']) {
    compareUnions(direction, before, after, place, documents, found)
    return
  }
  if (!fitsType(narrow['type'], wide['type'])) found.push(`${place}: type ${before['type']} became ${after['type']}`)
  const allowed = wide['enum']
  if (Array.isArray(allowed)) {
    const values = Array.isArray(narrow['enum']) ? narrow['enum'] : undefined
    if (!values) found.push(`${place}: the set of values changed`)
    for (const value of values ?? []) if (!allowed.includes(value)) found.push(`${place}: value ${value} changed`)
  }
  compareBounds(narrow, wide, place, found)
  compareObjects(direction, before, after, place, documents, found)
  if (before['items'] || after['items'])
    compare(direction, asJson(before['items']), asJson(after['items']), `${place}[]`, documents, found)
}

function fitsType(narrow, wide) {
  if (wide === undefined) return true
  const allowed = new Set([wide].flat())
  return [narrow].flat().every((type) => allowed.has(type) || (type === 'integer' && allowed.has('number')))
}

const lower = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems']
const upper = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems']

function compareBounds(narrow, wide, place, found) {
  for (const name of lower)
    if (wide[name] !== undefined && !(Number(narrow[name]) >= Number(wide[name])))
      found.push(`${place}: ${name} changed`)
  for (const name of upper)
    if (wide[name] !== undefined && !(Number(narrow[name]) <= Number(wide[name])))
      found.push(`${place}: ${name} changed`)
  for (const name of ['pattern', 'format', 'multipleOf', 'const'])
    if (wide[name] !== undefined && narrow[name] !== wide[name]) found.push(`${place}: ${name} changed`)
}

function compareObjects(direction, before, after, place, documents, found) {
  const required = (schema) => new Set(asList(schema['required']).map(String))
  const [needed, given] =
    direction === 'request' ? [required(after), required(before)] : [required(before), required(after)]
  for (const name of needed)
    if (!given.has(name))
      found.push(direction === 'request' ? `${place}.${name} is now required` : `${place}.${name} may be missing`)
  const next = asJson(after['properties'])
  for (const [name, member] of Object.entries(asJson(before['properties']))) {
    if (next[name] === undefined) found.push(`${place}.${name} is gone`)
    else compare(direction, asJson(member), asJson(next[name]), `${place}.${name}`, documents, found)
  }
}

/** Every alternative of the narrower side must fit one of the wider side. */
function compareUnions(direction, before, after, place, documents, found) {
  const alternatives = (schema) => (Array.isArray(schema['anyOf']) ? schema['anyOf'].map(asJson) : [schema])
  const fits = (old, next) => {
    const problems = []
    compare(direction, old, next, place, documents, problems)
    return problems.length === 0
  }
  const [olds, nexts] = [alternatives(before), alternatives(after)]
  const ok =
    direction === 'request'
      ? olds.every((old) => nexts.some((next) => fits(old, next)))
      : nexts.every((next) => olds.some((old) => fits(old, next)))
  if (!ok) found.push(`${place}: the alternatives changed`)
}

function resolve(value, document) {
  const schema = asJson(value)
  const ref = schema['$ref']
  if (typeof ref !== 'string') return schema
  const target = ref
    .replace(/^#\//, '')
    .split('/')
    .reduce((part, name) => asJson(part)[name], document)
  return resolve(target, document)
}

function withoutText({ description: _d, title: _t, examples: _e, default: _f, ...schema }) {
  const { type, enum: values } = schema
  return type === undefined && Array.isArray(values) ? { ...schema, type: [...new Set(values.map(typeOf))] } : schema
}

function typeOf(value) {
  if (value === null) return 'null'
  return Number.isInteger(value) ? 'integer' : typeof value
}

function asJson(value) {
  return typeof value === 'object' && value !== null ? value : {}
}

function asList(value) {
  return Array.isArray(value) ? value : []
}
